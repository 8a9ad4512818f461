// SPDX-License-Identifier: MIT
// The constant matrix A = M + (dt^2 + damping dt) sum_t 2 mu V G G^T of the splitting step, one
// scalar per pair of nodes because the three axes share it. Its factor:
// plush/format/system_factor.h. Based on: Tassilo Kugelstadt, Dan Koschier, Jan Bender. Fast
// Corotated FEM using Operator Splitting. 2018
#pragma once

#include "plush/types.h"

#include "base/node_vec.h"
#include "elasticity/elements.h"

#include <cstdint>
#include <span>

namespace plush {

/// What A is made of.
struct SystemView {
  ElementView elements;
  std::span<const float> masses;    ///< baked lumped masses [kg] (num_nodes x 1)
  float mass_scale = 1.0f;          ///< of all masses
  std::span<const uint8_t> pinned;  ///< 1 where a node never moves (num_nodes x 1)
  float dt = 0.0f;                  ///< [s]
};

/// out = A x, matrix-free [kg m] (num_nodes + 1 x 1 each), for x that is zero at pinned nodes;
/// their rows give zero. Does not allocate.
void MultiplySystem(const SystemView& system, std::span<const NodeVec> x, std::span<NodeVec> out);

}  // namespace plush
