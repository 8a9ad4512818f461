// SPDX-License-Identifier: MIT
// Imports a source file as a SurfaceMesh and, if it holds tets, a TetMesh.
#pragma once

#include "base/finding.h"
#include "base/result.h"
#include "mesh/surface_mesh.h"
#include "mesh/tet_mesh.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plush::tools {

enum class UpAxis { kAuto, kY, kZ };

struct ImportSettings {
  double unit_m = 0.0;         ///< length of one source unit [m]; 0: as the format or file says
  UpAxis up = UpAxis::kAuto;   ///< up axis of the source; kAuto: as the format says
  double scale = 1.0;          ///< extra factor, > 0
  double time_limit_s = 20.0;  ///< processor time of the importing child process; its wall-clock
                               ///< time may be ten times that [s]
  uint64_t memory_limit_bytes = 4ull << 30;  ///< of the importing child process
  std::string helper;  ///< path of `plush-import`; empty: beside the running executable
  /// Path of a render mesh to show instead of the boundary of a tet source, or empty. Unit, up and
  /// scale apply to both files; automatic ones are resolved for each.
  std::string embed;
};

/// A material of the source by name.
struct SourceMaterial {
  std::string name;
  Vec3 linear_rgb;  ///< base colour without textures, from 0 to 1
};

struct ImportedModel {
  SurfaceMesh surface;
  TetMesh tets;                           ///< empty unless the source is a tet mesh
  std::vector<int32_t> tet_tags;          ///< .msh only: each tet's physical group, 0 for none
  std::vector<SourceMaterial> materials;  ///< in the source's order
  uint64_t source_hash = 0;               ///< XXH3-64 of the source file's bytes
  uint64_t embed_hash = 0;                ///< hash of settings.embed; 0 if that is empty
  std::string format;                     ///< e.g. "glTF2", "obj"
  double unit_m = 1.0;                    ///< unit that was applied [m]
  char up = 'Y';                          ///< up axis that was applied
  uint64_t dropped_non_finite = 0;        ///< triangles dropped because a corner is not finite
  std::vector<std::string>
      dependencies;  ///< files read beside the source (.bin, .mtl, .ele), and settings.embed
  std::vector<std::string> missing;  ///< files that the importer looked for in vain
};

/// Reads `path`. Adds findings: IMPORT_... (errors, which also fail the call), MESH_NON_FINITE,
/// MESH_INDEX_INVALID, MESH_UNREFERENCED_VERTEX, MESH_TET_..., MESH_CELL_... and UNIT_SUSPECT.
/// Errors: kUsage (settings), kIo, kUnsupported, kInvalidInput, kLimit, kHelperDied.
Result<ImportedModel> ImportModel(const std::string& path, const ImportSettings& settings,
                                  FindingList* findings);

/// Path of the helper: settings.helper, or `plush-import` beside the running executable.
std::string HelperPath(const ImportSettings& settings);

/// Largest source file that is read [bytes].
inline constexpr uint64_t kMaxSourceBytes = 2ull << 30;

struct SourceHash {
  uint64_t hash = 0;  ///< XXH3-64 of all bytes
  uint64_t num_bytes = 0;
};

/// Hashes a file piece by piece. Errors: kIo (missing, unreadable, no regular file), kLimit with
/// IMPORT_LIMIT (larger than kMaxSourceBytes).
Result<SourceHash> HashSource(const std::string& path);

}  // namespace plush::tools
