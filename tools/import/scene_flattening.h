// SPDX-License-Identifier: MIT
// From a scene of placed meshes to one surface in metres, Y up.
#pragma once

#include "base/result.h"
#include "import/raw_scene.h"
#include "mesh/surface_mesh.h"

#include <cstdint>

namespace plush::tools {

/// Most vertices and most triangles of a flattened scene: a few nodes that place a mesh thousands
/// of times must not fill the memory.
inline constexpr uint64_t kMaxSceneVertices = 1ull << 26;
inline constexpr uint64_t kMaxSceneTriangles = 1ull << 26;
/// Most attribute channels; further ones are left out.
inline constexpr size_t kMaxAttributes = 64;

/// How source coordinates become ours.
struct Placement {
  double scale = 1.0;  ///< metres per unit of the raw scene's root
  char up = 'Y';       ///< axis of the raw scene that becomes Y: X, Y or Z
};

/// A flattened scene and what was left out of it.
struct FlatScene {
  SurfaceMesh surface;
  uint64_t num_non_finite = 0;    ///< triangles with a corner that is not finite
  uint64_t num_out_of_range = 0;  ///< triangles with an index beyond the vertices
  uint64_t num_unreferenced = 0;  ///< vertices that no kept triangle uses
};

/// Places every mesh where a node wants it, in node order: positions by the node's transform,
/// normals by its inverse transpose, winding turned where the node mirrors. Vertices keep their
/// order, normals and UVs; a normal that is missing, not finite or zero becomes the area-weighted
/// normal of its position. Errors: kLimit.
Result<FlatScene> FlattenScene(const RawScene& scene, const Placement& placement);

}  // namespace plush::tools
