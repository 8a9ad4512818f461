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

/// d += a p and r -= a q. Returns the new r.r.
double MoveAlong(float a, std::span<const NodeVec> p, std::span<const NodeVec> q,
                 std::span<NodeVec> d, std::span<NodeVec> r);

/// p = z + b p.
void TurnDirection(float b, std::span<const NodeVec> z, std::span<NodeVec> p);

struct LinearLimits {
  int iterations = 8;
  double tolerance = 0.0;  ///< ends once norm(r) <= tolerance norm(b)
};

struct LinearResult {
  int iterations = 0;
  double residual = 1.0;       ///< norm(r) / norm(b)
  double work = 0.0;           ///< b.d, >= 0
  bool is_indefinite = false;  ///< ended at a direction along which A is not positive
};

/// Scratch memory of a solve (num_nodes + 1 x 1 each).
struct LinearScratch {
  std::span<NodeVec> p, q;
};

/// Solves A d = b from d = 0; all arrays are (num_nodes + 1 x 1).
/// - `r`: b, then the residual. Its spare element must be zero.
/// - multiply(p, q): q = A p, zero for pinned nodes and the spare element.
/// - precondition(z): z := P^-1 z in place, P symmetric and positive definite.
///
/// Ends early at a direction along which A is not positive. Does not allocate.
template <class Multiply, class Precondition>
LinearResult ConjugateGradients(const Multiply& multiply, const Precondition& precondition,
                                const LinearLimits& limits, const LinearScratch& scratch,
                                std::span<NodeVec> r, std::span<NodeVec> d) {
  const std::span<NodeVec> p = scratch.p, q = scratch.q;
  LinearResult result;
  std::fill(d.begin(), d.end(), NodeVec());
  const double b2 = DotProduct(r, r);
  if (!(b2 > 0.0)) {
    result.residual = 0.0;
    return result;
  }
  double rz = 0.0;
  while (result.iterations < limits.iterations) {
    std::copy(r.begin(), r.end(), q.begin());
    precondition(q);
    const double next = DotProduct(r, q);
    TurnDirection(result.iterations > 0 ? static_cast<float>(next / rz) : 0.0f, q, p);
    rz = next;
    multiply(std::span<const NodeVec>(p), q);
    const double curvature = DotProduct(p, q);
    if (!(curvature > 0.0) || !(rz > 0.0)) {
      result.is_indefinite = true;
      break;
    }
    const double step = rz / curvature;
    const double r2 = MoveAlong(static_cast<float>(step), p, q, d, r);
    result.work += step * rz;
    result.residual = std::sqrt(r2 / b2);
    ++result.iterations;
    if (!(result.residual > limits.tolerance)) break;
  }
  return result;
}

}  // namespace plush
