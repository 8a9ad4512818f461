// SPDX-License-Identifier: MIT
// The unit and the up axis of each format.
#pragma once

#include <string>
#include <string_view>

namespace plush::tools {

struct SourceConventions {
  double unit_m = 1.0;          ///< length of one unit [m]
  double applied_unit_m = 1.0;  ///< factor that the importer already applied
  char up = 'Y';                ///< X, Y or Z, after any turn by the importer
};

/// Settings of an FBX file; 0 and -1 if absent.
struct FbxSettings {
  double unit_scale_cm = 0.0;  ///< UnitScaleFactor [cm]
  int up_axis = -1;            ///< 0, 1, 2 for X, Y, Z
};

/// Conventions by `format` (the importer's first file extension, or "glTF2"):
/// - glTF: metres, Y up, by its specification;
/// - FBX: its settings, or centimetres;
/// - COLLADA: its <unit>, or metres, and its <up_axis>; the importer applies both;
/// - AMF: its unit attribute, or millimetres; Z up;
/// - 3MF: millimetres, Z up;
/// - Blender: metres, Z up;
/// - all others (OBJ, STL, PLY, OFF and so on carry neither): metres, Y up.
///
/// `head` is the beginning of the file. A unit that is not finite and positive counts as absent.
SourceConventions ConventionsOf(const std::string& format, std::string_view head,
                                const FbxSettings& fbx);

}  // namespace plush::tools
