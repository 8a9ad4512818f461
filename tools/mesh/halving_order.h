// SPDX-License-Identifier: MIT
// The order in which trees over triangles keep them.
#pragma once

#include "base/vec3.h"

#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// Numbers of the centres in an order that can be halved: the first half of it, rounded down, lies
/// before the second along the longest axis of the box of both, and so do the halves of either,
/// down to runs of at most four, which ascend. Centres count in single precision. O(n log n).
std::vector<uint32_t> OrderByHalves(std::span<const Vec3d> centres);

}  // namespace plush::tools
