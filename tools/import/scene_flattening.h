// SPDX-License-Identifier: MIT
// Flattens a scene of placed meshes into one surface in metres, Y up.
#pragma once

#include "base/result.h"
#include "import/raw_scene.h"
#include "mesh/surface_mesh.h"

#include <cstdint>
#include <vector>

namespace plush::tools {

/// Sets each normal with missing[v] to the area-weighted mean of the normals of all triangles at
/// its position, so that seams stay smooth; (0, 1, 0) if that is zero. mesh->normals and `missing`
/// have one entry per vertex. O(n log n).
void FillMissingNormals(const std::vector<bool>& missing, SurfaceMesh* mesh);

/// Limits of a flattened scene, since nodes may place a mesh thousands of times.
inline constexpr uint64_t kMaxSceneVertices = 1ull << 26;
inline constexpr uint64_t kMaxSceneTriangles = 1ull << 26;
/// Limit of joints and weights of skins, likewise.
inline constexpr uint64_t kMaxSceneWeights = 1ull << 27;
/// Limit of attribute channels; further ones are left out.
inline constexpr size_t kMaxAttributes = 64;

/// How source coordinates are mapped to metres, Y up.
struct Placement {
  double scale = 1.0;  ///< metres per unit of the scene's root
  char up = 'Y';       ///< axis of the scene that becomes Y: X, Y or Z
};

/// A flattened scene, and counts of what was left out.
struct FlatScene {
  SurfaceMesh surface;
  uint64_t num_non_finite = 0;    ///< triangles with a corner that is not finite
  uint64_t num_out_of_range = 0;  ///< triangles with an index beyond the vertices
  uint64_t num_unreferenced = 0;  ///< vertices that no kept triangle uses
};

/// Places each mesh at every node that names it, in node order. Errors: kLimit.
/// - Transforms positions by the node's transform, normals by its inverse transpose. Skinned meshes
///   are placed in bind pose instead
/// - Reverses the winding if the transform mirrors.
/// - Keeps the order and the UVs of vertices.
/// - Fills in normals that are missing, not finite or zero (FillMissingNormals).
Result<FlatScene> FlattenScene(const RawScene& scene, const Placement& placement);

}  // namespace plush::tools
