// SPDX-License-Identifier: MIT
// The splitting step's constant matrix A = M + (dt^2 + damping dt) sum_t 2 mu V G G^T. The three
// axes share it, so it has one scalar per pair of nodes. Its factor: plush/format/system_factor.h.
// Based on:
// Tassilo Kugelstadt, Dan Koschier, Jan Bender. Fast Corotated FEM using Operator Splitting. 2018
#pragma once

#include "plush/types.h"

#include "base/array.h"
#include "base/node_vec.h"
#include "elasticity/elements.h"
#include "solver/panel_solve.h"

#include <cstdint>
#include <span>

namespace plush {

/// Inputs of A.
struct SystemView {
  ElementView elements;
  std::span<const float> masses;    ///< baked lumped masses [kg] (num_nodes x 1)
  float mass_scale = 1.0f;          ///< factor on all masses
  std::span<const uint8_t> pinned;  ///< 1 if a node never moves (num_nodes x 1)
  float dt = 0.0f;                  ///< [s]
};

}  // namespace plush
