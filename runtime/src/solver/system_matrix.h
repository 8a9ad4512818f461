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

/// out = A x, matrix-free [kg m] (num_nodes + 1 x 1 each). x must be zero at pinned nodes; their
/// rows give zero. Does not allocate.
void MultiplySystem(const SystemView& system, std::span<const NodeVec> x, std::span<NodeVec> out);

/// Lets each component of a body turn freely within a solve.
///
/// A keeps the rotations of all tets fixed during a solve; they follow between solves. A component
/// that is stiff for its mass and size (stiffness dt (dt + damping) far above mass length^2) then
/// hardly turns about a node that a plane stops. The solve moves it as a whole instead: its centre
/// takes on the speed of the stopped node, and kinetic energy grows.
///
/// So each component gets one more unknown: a turn omega that rotates all its tets. The quadratic
/// model becomes
///   1/2 d^T A d - b^T d - omega^T B^T d + 1/2 omega^T C omega,
/// where B^T d = sum_i s_i x d_i over the component's nodes, and s_i is the force of the tets'
/// rotated rest shapes on node i. Eliminating omega gives A' = A - B C^-1 B^T. Iterations with A'
/// converge to the same solution as with A.
class FreeTurns {
 public:
  /// Finds the components of `tets` and allocates all arrays. Returns false if the allocator fails.
  bool Allocate(const Allocator& allocator, std::span<const Tet> tets, uint32_t num_nodes);

  /// Computes B, C and their elimination for the matrix of `factor`, the tets' `rotations`, and the
  /// damping's `stretches` by block (empty: undamped). Takes one solve. Does not allocate.
  void Prepare(const SystemView& system, const PanelFactor& factor, std::span<float> workspace,
               const RotationView& rotations, std::span<const float> stretches);

  /// x := A'^-1 x (num_nodes + 1 x 1).
  void Substitute(const PanelFactor& factor, std::span<float> workspace, std::span<NodeVec> x);

  /// out := A' x (num_nodes + 1 x 1).
  void Multiply(const SystemView& system, std::span<const NodeVec> x, std::span<NodeVec> out);

  /// p . (A'^-1 - A^-1) q for a direction p of node `i` and an impulse q on node `j`.
  float Coupling(uint32_t i, const Vec3& p, uint32_t j, const Vec3& q) const;

 private:
  void SumTargets(const SystemView& system, const RotationView& rotations,
                  std::span<const float> stretches);

  uint32_t num_components_ = 0;
  Array<uint32_t> component_;  // of each node (num_nodes x 1)
  Array<NodeVec> s_;           // B: column k is e_k x s (num_nodes + 1 x 1)
  Array<NodeVec> w_;           // A^-1 s, so that A^-1 B has the columns e_k x w (num_nodes + 1 x 1)
  Array<Mat3> C_;     // by component; becomes C^-1, or zero for a component without stiffness
  Array<Mat3> N_;     // (C - B^T A^-1 B)^-1 by component, or zero without stiffness
  Array<Vec3> turn_;  // of the solve in progress, by component
};

}  // namespace plush
