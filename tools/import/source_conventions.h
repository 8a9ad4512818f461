// SPDX-License-Identifier: MIT
// Which unit and which up axis a format means.
#pragma once

#include <string>
#include <string_view>

namespace plush::tools {

/// What a source says, by its format or in itself, about its coordinates.
struct SourceConventions {
  double unit_m = 1.0;          ///< length of one unit [m]
  double applied_unit_m = 1.0;  ///< how far the importer has already converted
  char up = 'Y';                ///< X, Y or Z, after what the importer has already turned
};

/// Numbers that FBX files carry; 0 and -1 where there are none.
struct FbxSettings {
  double unit_scale_cm = 0.0;  ///< UnitScaleFactor [cm]
  int up_axis = -1;            ///< 0, 1, 2 for X, Y, Z
};

/// Conventions by `format` (the importer's first file extension, or "glTF2"):
/// - glTF: metres, Y up, by its specification;
/// - FBX: as its settings say, centimetres where they do not;
/// - COLLADA: as its <unit> says, applied by the importer, as is its <up_axis>;
/// - AMF: as its unit attribute says, millimetres without one; Z up;
/// - 3MF: millimetres, Z up;
/// - Blender: metres, Z up;
/// - all others (OBJ, STL, PLY, OFF and so on say nothing): metres, Y up.
/// `head` is the beginning of the file. Values that are not finite and positive count as absent.
SourceConventions ConventionsOf(const std::string& format, std::string_view head,
                                const FbxSettings& fbx);

}  // namespace plush::tools
