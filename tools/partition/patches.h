// SPDX-License-Identifier: MIT
// Simply connected pieces of a cut surface, each inside one tet [Civ 5.4.1].
#pragma once

#include "partition/cut_surface.h"

#include <cstdint>
#include <vector>

namespace plush::tools {

struct SurfacePatches {
  std::vector<uint32_t> of_triangle;  ///< (num_triangles x 1)
  std::vector<uint32_t> tets;         ///< of each patch (num_patches x 1)
  uint32_t num_cut = 0;  ///< pieces of surface in one tet that were not discs and were cut
};

/// Divides the surface into discs. A patch is connected across edges within one tet. A piece that
/// has a hole or a handle, or has no border, is halved at a median along the axis that leaves the
/// fewest pieces, until every part is a disc (a triangle is one). Patches are numbered by tet, then
/// by their first triangle. O(n log n).
SurfacePatches FindPatches(const CutSurface& surface);

/// Euler characteristic of the triangles of one patch: 1 for a disc. Corners that no edge inside
/// the patch joins count as different points. `triangles` are those with `patch_of` equal to
/// `patch`.
int EulerCharacteristic(const CutSurface& surface, const std::vector<uint32_t>& triangles,
                        const std::vector<uint32_t>& patch_of, uint32_t patch);

}  // namespace plush::tools
