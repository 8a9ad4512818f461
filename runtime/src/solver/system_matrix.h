// SPDX-License-Identifier: MIT
// The constant matrix A = M + (dt^2 + damping dt) sum_t 2 mu V G G^T of the splitting step, one
// scalar per pair of nodes because the three axes share it.
// Based on:
// Tassilo Kugelstadt, Dan Koschier, Jan Bender. Fast Corotated FEM using Operator Splitting. 2018
#pragma once

#include "plush/types.h"

#include "elasticity/elements.h"
#include "solver/sparse_cholesky.h"

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

/// Writes the lower triangle of A [kg] into the pattern of its factor, in double precision. Rows
/// and columns of pinned nodes become those of the identity. Does not allocate.
void AssembleSystem(const SystemView& system, const CholeskyPattern& pattern,
                    std::span<double> values);

/// out = A x, matrix-free [kg m], for x that is zero at pinned nodes; their rows give zero. Does
/// not allocate.
void MultiplySystem(const SystemView& system, std::span<const Vec3> x, std::span<Vec3> out);

}  // namespace plush
