// SPDX-License-Identifier: MIT
// Copies values between single bodies and the lanes of a crowd. Layout: see kCrowdLanes in
// elasticity/element_pass.h.
#pragma once

#include "base/node_vec.h"
#include "elasticity/element_pass.h"

#include <cstddef>
#include <span>
#include <vector>

namespace plush::test {

/// Whether all bits are equal; equal NaNs count as equal.
bool SameBits(std::span<const float> a, std::span<const float> b);

/// A crowd's numbers for `count` nodes or tets with `size` numbers each, all equal to `value`.
inline std::vector<float> CrowdNumbers(size_t count, size_t size, float value = 0.0f) {
  return std::vector<float>(kCrowdLanes * count * size, value);
}

/// Writes all of `v` but the spare element to a lane: x, y, z, and w if `size` is 4.
void PutLane(const std::vector<NodeVec>& v, size_t size, size_t lane, std::vector<float>* crowd);
/// Reads a lane back; the spare element is zero.
std::vector<NodeVec> NodesInLane(const std::vector<float>& crowd, size_t size, size_t lane);

/// The same for numbers by place.
void PutLane(const std::vector<float>& numbers, size_t lane, std::vector<float>* crowd);
std::vector<float> NumbersInLane(const std::vector<float>& crowd, size_t lane);

/// The four numbers of each element.
std::vector<float> NumbersOf(const std::vector<NodeVec>& v);

}  // namespace plush::test
