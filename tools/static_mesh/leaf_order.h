// SPDX-License-Identifier: MIT
// The order of triangles that makes a good tree of a static mesh, and the tree's bounds.
#pragma once

#include "plush/format/static_mesh.h"
#include "plush/types.h"

#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// Orders triangles so that the tree described in plush/format/static_mesh.h has small bounds: each
/// node is halved twice along the axis with the least sum of surface areas times triangles. Returns
/// the number of the triangle at each place. Same boxes, same order, with every compiler.
/// O(n log n).
std::vector<uint32_t> LeafOrder(std::span<const StaticBox> boxes);

/// The nodes over triangles whose boxes are `boxes`, in the order of the leaves. O(n).
std::vector<StaticNode> StaticTreeOf(std::vector<StaticBox> boxes, const StaticGrid& grid);

}  // namespace plush::tools
