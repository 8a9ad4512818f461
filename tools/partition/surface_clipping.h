// SPDX-License-Identifier: MIT
// Cuts a surface along the faces of the tets that hold it [Civ 5.4.1].
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
  std::vector<uint32_t> torn;     ///< triangles at which strands that overlap in space meet without
                                  ///< having a face in common, ascending: borders of the result
};

/// Cuts every triangle of `surface` by the tets of `mesh` that it passes: those reached from the
/// tets of its corners (`tet_of_point`) across the faces that it crosses. Tets that overlap in
/// space do not confuse this. Where a face leads to several strands, the triangle goes where its
/// corners lie, or where the triangle beside it goes. All decisions are exact, points are computed
/// once and shared: the result is closed where the surface is, unless it is torn. Where `outside`
/// is not empty, the surface is incomplete. O(n log n), deterministic for any thread count.
ClippedSurface ClipSurface(const SolidSurface& surface, const TetMesh& mesh,
                           std::span<const uint32_t> tet_of_point);

}  // namespace plush::tools
