// SPDX-License-Identifier: MIT
// Simply connected pieces of a cut surface, each inside one tet [Civ 5.4.1].
#pragma once

#include "partition/cut_surface.h"

#include <cstdint>
#include <vector>

namespace plush::tools {

/// Which patch each triangle belongs to.
struct SurfacePatches {
  std::vector<uint32_t> of_triangle;  ///< (num_triangles x 1)
  std::vector<uint32_t> tets;         ///< of each patch (num_patches x 1)
  uint32_t num_cut = 0;  ///< pieces of surface in one tet that were no discs and were cut
};

/// Parts the surface into discs: pieces connected across edges within a tet; one with a hole, a
/// handle or without border is halved at a median, along the axis that leaves the fewest pieces,
/// until every part is a disc (one triangle is). Patches are numbered by tet, then by their first
/// triangle. O(n log n).
SurfacePatches FindPatches(const CutSurface& surface);

/// Euler characteristic of the triangles of one patch, connected across the edges inside it:
/// corners that no such edge joins count as points of their own, so that 1 means a disc.
/// `triangles` are those of which `patch_of` says `patch`.
int EulerCharacteristic(const CutSurface& surface, const std::vector<uint32_t>& triangles,
                        const std::vector<uint32_t>& patch_of, uint32_t patch);

}  // namespace plush::tools
