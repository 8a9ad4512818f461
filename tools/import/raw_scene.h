// SPDX-License-Identifier: MIT
// A scene as the importing child process hands it over: meshes in their own coordinates, placed by
// nodes. Nothing in it is to be trusted until it has been flattened.
//
// The bytes that the importing child writes and its parent reads: every list and array preceded by
// its length, everything little-endian.
#pragma once

#include "plush/types.h"

#include "base/result.h"
#include "mesh/surface_mesh.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace plush::tools {

/// A mesh with one material. Arrays per vertex are empty or as long as `positions`.
struct RawMesh {
  std::string name;
  uint32_t material = UINT32_MAX;  ///< into RawScene::materials; UINT32_MAX: none
  std::vector<Vec3> positions;     ///< [source units] (num_vertices x 1)
  std::vector<Vec3> normals;
  std::vector<Vec2> uvs;
  std::vector<std::array<uint32_t, 3>> triangles;  ///< may point anywhere
  std::vector<VertexAttribute> attributes;
};

/// A node that may place meshes; several nodes may place one mesh.
struct RawNode {
  std::string name;
  int32_t parent = -1;  ///< an earlier node, or -1
  std::array<double, 16> to_parent = {1, 0, 0, 0, 0, 1, 0, 0,
                                      0, 0, 1, 0, 0, 0, 0, 1};  ///< row-major, acts on columns
  std::vector<uint32_t> meshes;                                 ///< into RawScene::meshes
};

/// Everything one file holds.
struct RawScene {
  std::string format;           ///< e.g. "glTF2", "obj"
  double unit_m = 1.0;          ///< length of one unit of the source, by the file or its format [m]
  double applied_unit_m = 1.0;  ///< factor by which positions were scaled already
  char up = 'Y';                ///< axis of the positions as they are here: X, Y or Z
  std::vector<std::string> dependencies;  ///< files read beside the source
  std::vector<std::string> materials;     ///< names
  std::vector<RawMesh> meshes;
  std::vector<RawNode> nodes;
  std::vector<SourceExtra> extras;
};

/// Exit codes of `plush-import`. Any other end counts as a crash.
enum class HelperExit : int {
  kOk = 0,
  kRefused = 10,      ///< the importer does not accept the content; stderr says why
  kUnsupported = 11,  ///< no importer for this type of file
  kUnreadable = 12,   ///< the file cannot be opened
  kOutOfMemory = 13,  ///< an allocation failed: the memory limit
};

/// Writes `scene`; false where the file does not take it all.
bool WriteRawScene(const RawScene& scene, std::FILE* file);

/// Reads a scene, trusting nothing: lengths are checked against what is left before anything is
/// allocated, names are made printable, arrays per vertex must agree in length, materials, meshes
/// and parents must exist, extras must be JSON (others are left out). Triangles may still point
/// anywhere and numbers be non-finite. Errors: kHelperDied with IMPORT_CRASHED, since a sound
/// helper writes no such bytes.
Result<RawScene> ParseRawScene(std::span<const std::byte> bytes);

}  // namespace plush::tools
