// SPDX-License-Identifier: MIT
// A scene as the importing child process returns it, and the stream that carries it. Nodes place
// meshes, which have their own coordinates. Trust nothing in it until it is flattened.
//
// In the stream, lengths precede lists and arrays; everything is little-endian.
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

/// A joint of a mesh's skin.
struct RawJoint {
  uint32_t node = 0;  ///< into RawScene::nodes
  /// Row-major: from the mesh's coordinates to the joint's.
  std::array<float, 16> inverse_bind = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
};

/// How much a joint moves a vertex, compared with the other joints.
struct RawWeight {
  uint32_t vertex = 0;
  uint32_t joint = 0;   ///< into RawMesh::joints
  float weight = 0.0f;  ///< finite and positive
};

/// A mesh with one material. Each per-vertex array is empty or as long as `positions`.
struct RawMesh {
  std::string name;
  uint32_t material = UINT32_MAX;  ///< into RawScene::materials; UINT32_MAX: none
  std::vector<Vec3> positions;     ///< [source units] (num_vertices x 1)
  std::vector<Vec3> normals;
  std::vector<Vec2> uvs;
  std::vector<std::array<uint32_t, 3>> triangles;  ///< may be out of range
  std::vector<VertexAttribute> attributes;
  std::vector<RawJoint> joints;    ///< not empty: the skin places the mesh, instead of its node
  std::vector<RawWeight> weights;  ///< in any order
};

/// A node. Several nodes may place the same mesh.
struct RawNode {
  std::string name;
  int32_t parent = -1;  ///< an earlier node, or -1
  /// Row-major, acts on columns.
  std::array<double, 16> to_parent = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  std::vector<uint32_t> meshes;  ///< into RawScene::meshes
};

/// What a reader left out or could not find.
struct RawFinding {
  std::string code;    ///< of finding.h's table; ParseRawScene drops the unknown
  uint64_t count = 1;  ///< how often
  std::string message;
};

struct RawScene {
  std::string format;           ///< e.g. "glTF2", "obj"
  double unit_m = 1.0;          ///< length of one source unit, as the file or its format says [m]
  double applied_unit_m = 1.0;  ///< factor already applied to the positions
  char up = 'Y';                ///< up axis of these positions: X, Y or Z
  std::vector<std::string> dependencies;  ///< files read beside the source
  std::vector<std::string> missing;       ///< files looked for in vain
  std::vector<std::string> materials;     ///< names
  std::vector<Vec3> colours;              ///< base colours of the materials, linear RGB from 0 to 1
  std::vector<RawMesh> meshes;
  std::vector<RawNode> nodes;
  std::vector<SourceExtra> extras;
  std::vector<RawFinding> findings;  ///< warnings and notes; an error refuses the file instead
};

/// Exit codes of `plush-import`. Any other end counts as a crash.
enum class HelperExit : int {
  kOk = 0,
  kRefused = 10,      ///< the importer refuses the content; stderr says why
  kUnsupported = 11,  ///< no importer for this type of file, or what it requires
  kUnreadable = 12,   ///< the file cannot be opened
  kOutOfMemory = 13,  ///< an allocation failed: memory limit reached
};

/// Writes `scene`; false if the file cannot hold it all.
bool WriteRawScene(const RawScene& scene, std::FILE* file);

/// Reads a scene without trusting it:
/// - Lengths are checked against the rest of the stream before anything is allocated.
/// - Names are made printable.
/// - Per-vertex arrays must agree in length.
/// - Colours are of all materials or none; channels are brought to 0 to 1.
/// - Materials, meshes, parents, joints' nodes, and weights' joints and vertices must exist.
/// - Weights that are not finite and positive are left out.
/// - Extras that are not JSON are left out, and findings whose codes are unknown or errors.
///
/// Triangles may still be out of range, and numbers not finite. Errors: kHelperDied with
/// IMPORT_CRASHED, since only a broken helper writes other bytes.
Result<RawScene> ParseRawScene(std::span<const std::byte> bytes);

}  // namespace plush::tools
