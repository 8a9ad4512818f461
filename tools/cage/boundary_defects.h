// SPDX-License-Identifier: MIT
// Where the boundary of a cage is no manifold.
#pragma once

#include "cage/cage_boundary.h"

#include <array>
#include <cstdint>
#include <vector>

namespace plush::tools {

/// Edges and nodes at which the boundary is pinched. Those of branch faces do not count: there the
/// boundary consists of the skins of several strands by construction.
struct BoundaryDefects {
  std::vector<std::array<uint32_t, 2>> edges;  ///< with other than two boundary faces, ascending
  std::vector<uint32_t> nodes;  ///< whose boundary faces do not form one closed fan, ascending;
                                ///< without the nodes of such edges
};

/// O(f log f).
BoundaryDefects FindBoundaryDefects(const CageFaces& faces);

}  // namespace plush::tools
