// SPDX-License-Identifier: MIT
// Preconditioned conjugate gradients for A d = b, where A is only known by its products.
// Source: Jorge Nocedal, Stephen Wright. Numerical Optimization. 2006, algorithm 5.3.
//
// Sums are taken in one fixed order, so results do not depend on threads.
#pragma once

#include "base/node_vec.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace plush {

/// The dot product, without the fourth numbers.
double DotProduct(std::span<const NodeVec> a, std::span<const NodeVec> b);

/// d += s p.
void AddScaled(float s, std::span<const NodeVec> p, std::span<NodeVec> d);

/// d += a p and r -= a q. Returns the new r.r.
double MoveAlong(float a, std::span<const NodeVec> p, std::span<const NodeVec> q,
                 std::span<NodeVec> d, std::span<NodeVec> r);

/// r -= a q, and q = r. Returns the new r.r.
double MoveResidual(float a, std::span<NodeVec> q, std::span<NodeVec> r);

/// p = z + b p.
void TurnDirection(float b, std::span<const NodeVec> z, std::span<NodeVec> p);

/// d += a p, then p = z + b p.
void MoveAndTurn(float a, float b, std::span<const NodeVec> z, std::span<NodeVec> p,
                 std::span<NodeVec> d);

/// q = m p, m the nodes' masses; q = 0 for nodes whose mass is below zero (num_nodes + 1 x 1 each).
/// Returns p.q.
double MultiplyMasses(std::span<const float> masses, std::span<const NodeVec> p,
                      std::span<NodeVec> q);

/// q = 0 for nodes whose mass is below zero (num_nodes + 1 x 1 each).
void ClearHeld(std::span<const float> masses, std::span<NodeVec> q);

struct LinearLimits {
  int iterations = 8;
  double tolerance = 0.0;  ///< ends once norm(r) <= tolerance norm(b)
};

struct LinearResult {
  int iterations = 0;
  double residual = 1.0;       ///< norm(r) / norm(b), before the last iteration that is allowed
  double work = 0.0;           ///< b.d, >= 0
  bool is_indefinite = false;  ///< ended at a direction along which A is not positive
};

/// Scratch memory of a solve (num_nodes + 1 x 1 each).
struct LinearScratch {
  std::span<NodeVec> p, q;
};

/// Solves A d = b from d = 0; all arrays are (num_nodes + 1 x 1).
/// - `r`: b; lost. Its spare element must be zero.
/// - multiply(p, q): q = A p, zero for pinned nodes and the spare element. Returns p.q.
/// - precondition(z): z := P^-1 z in place, P symmetric and positive definite.
///
/// Ends early at a direction along which A is not positive. Does not allocate.
template <class Multiply, class Precondition>
LinearResult ConjugateGradients(const Multiply& multiply, const Precondition& precondition,
                                const LinearLimits& limits, const LinearScratch& scratch,
                                std::span<NodeVec> r, std::span<NodeVec> d) {
  std::span<NodeVec> p = scratch.p, q = scratch.q;
  LinearResult result;
  std::fill(d.begin(), d.end(), NodeVec());
  const double b2 = DotProduct(r, r);
  if (!(b2 > 0.0)) {
    result.residual = 0.0;
    return result;
  }
  std::copy(r.begin(), r.end(), p.begin());
  precondition(p);
  double rz = DotProduct(r, p);
  // Vectors are long, so d moves with the change of p, one iteration late, and what the last
  // iteration would not use is not made.
  while (result.iterations < limits.iterations) {
    const double curvature = multiply(std::span<const NodeVec>(p), q);
    if (!(curvature > 0.0) || !(rz > 0.0)) {
      result.is_indefinite = true;
      break;
    }
    const double step = rz / curvature;
    result.work += step * rz;
    ++result.iterations;
    const auto a = static_cast<float>(step);
    const bool is_last = result.iterations == limits.iterations;
    if (!is_last) result.residual = std::sqrt(MoveResidual(a, q, r) / b2);
    if (is_last || !(result.residual > limits.tolerance)) {
      AddScaled(a, p, d);
      break;
    }
    precondition(q);
    const double next = DotProduct(r, q);
    MoveAndTurn(a, static_cast<float>(next / rz), q, p, d);
    rz = next;
  }
  return result;
}

}  // namespace plush
