// SPDX-License-Identifier: MIT
// A tetrahedral mesh: the cage between tetrahedralisation and bake.
#pragma once

#include "base/vec3.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace plush::tools {

/// Nodes and positively oriented tets: SixVolume(a, b, c, d) > 0 for each.
struct TetMesh {
  std::vector<Vec3d> nodes;                   ///< [m] (num_nodes x 1), each used by a tet
  std::vector<std::array<uint32_t, 4>> tets;  ///< node indices (num_tets x 4)
};

/// Corners of a tet's faces, opposite each corner, counter-clockwise seen from outside.
inline constexpr std::array<std::array<size_t, 3>, 4> kTetFaces = {
    {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};

}  // namespace plush::tools
