// SPDX-License-Identifier: MIT
// Cuts a surface along the faces of the tets that contain it [Civ 5.4.1].
#pragma once

#include "mesh/tet_mesh.h"
#include "partition/cut_surface.h"
#include "solid/solid_surface.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// A surface after clipping. The first points are those of the SolidSurface.
struct ClippedSurface {
  CutSurface surface;
  size_t num_crossings = 0;       ///< points that were added
  std::vector<uint32_t> outside;  ///< triangles that the tets do not hold, ascending
  std::vector<uint32_t> torn;  ///< triangles where overlapping strands meet without a common face,
                               ///< ascending: borders of the result
};

/// Cuts every triangle of `surface` by the tets of `mesh` that it passes. It starts from the tets
/// of its corners (`tet_of_point`) and crosses faces, so overlapping tets cause no ambiguity. If a
/// face leads to several strands, the triangle follows its corners, or else the triangle beside it.
/// Decisions are exact and points are computed once and shared: if the surface is closed, so is the
/// result, unless it is torn. If `outside` is not empty, the result is incomplete. O(n log n),
/// deterministic for any thread count.
ClippedSurface ClipSurface(const SolidSurface& surface, const TetMesh& mesh,
                           std::span<const uint32_t> tet_of_point);

}  // namespace plush::tools
