// SPDX-License-Identifier: MIT
// Numbers of single bodies in the lanes of a crowd, and back; elasticity/crowd_elements.h says how
// they lie.
#pragma once

#include "base/node_vec.h"
#include "elasticity/element_pass.h"

#include <cstddef>
#include <span>
#include <vector>

namespace plush::test {

/// Bit by bit; so are two NaNs.
bool SameBits(std::span<const float> a, std::span<const float> b);

/// Numbers of a crowd of `count` nodes or tets with `size` numbers each, all `value`.
inline std::vector<float> CrowdNumbers(size_t count, size_t size, float value = 0.0f) {
  return std::vector<float>(kCrowdLanes * count * size, value);
}

/// Writes a lane, for all `v` without the spare element: x, y, z, and w if `size` is 4.
void PutLane(const std::vector<NodeVec>& v, size_t size, size_t lane, std::vector<float>* crowd);
/// The other way; zeros for the spare element.
std::vector<NodeVec> NodesInLane(const std::vector<float>& crowd, size_t size, size_t lane);

/// The same for numbers by place.
void PutLane(const std::vector<float>& numbers, size_t lane, std::vector<float>* crowd);
std::vector<float> NumbersInLane(const std::vector<float>& crowd, size_t lane);

/// All four numbers of each.
std::vector<float> NumbersOf(const std::vector<NodeVec>& v);

}  // namespace plush::test
