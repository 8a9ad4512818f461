// SPDX-License-Identifier: MIT
// Preconditioned MINRES for A d = b, where A is symmetric, need not be positive, and is only known
// by its products.
// Source: Howard Elman, David Silvester, Andrew Wathen. Finite Elements and Fast Iterative Solvers.
// 2005, algorithm 6.1.
#pragma once

#include "base/vector_math.h"
#include "solver/conjugate_gradients.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

namespace plush {

/// Scratch memory of a solve (num_nodes + 1 x 1 each).
struct MinresScratch {
  std::span<NodeVec> z, q, v, w, last_w;
};

/// Solves A d = b from d = 0. Parameters as of ConjugateGradients, but `r` is b, and any value on
/// return; `residual` and the tolerance are those of the norm sqrt(r P^-1 r), and `work` = b.d may
/// be negative. Does not allocate.
template <class Multiply, class Precondition>
LinearResult MinimumResiduals(const Multiply& multiply, const Precondition& precondition,
                              const LinearLimits& limits, const MinresScratch& scratch,
                              std::span<NodeVec> r, std::span<NodeVec> d) {
  std::span<NodeVec> z = scratch.z, q = scratch.q, v = r, last_v = scratch.v, w = scratch.w,
                     last_w = scratch.last_w;
  LinearResult result;
  for (const std::span<NodeVec> zero : {d, last_v, w, last_w}) {
    std::fill(zero.begin(), zero.end(), NodeVec());
  }
  std::copy(v.begin(), v.end(), z.begin());
  precondition(z);
  const double square = DotProduct(v, z);
  if (!(square > 0.0)) {
    result.residual = 0.0;
    return result;
  }
  double gamma = std::sqrt(square), last_gamma = 1.0, eta = gamma;
  const double start = gamma;
  double s = 0.0, last_s = 0.0, c = 1.0, last_c = 1.0;
  double work_of_w = 0.0, work_of_last = 0.0;  // b.w
  while (result.iterations < limits.iterations) {
    const auto inverse = static_cast<float>(1.0 / gamma);
    for (NodeVec& at : z) at = NodeVec(at * inverse, 0.0f);
    multiply(std::span<const NodeVec>(z), q);
    const double delta = DotProduct(q, z);
    const auto of_v = static_cast<float>(delta / gamma);
    const auto of_last = static_cast<float>(gamma / last_gamma);
    for (size_t i = 0; i < v.size(); ++i) last_v[i] = q[i] - v[i] * of_v - last_v[i] * of_last;
    std::swap(v, last_v);
    std::copy(v.begin(), v.end(), q.begin());
    precondition(q);
    const double next = std::sqrt(std::fmax(DotProduct(v, q), 0.0));
    const double a0 = c * delta - last_c * s * gamma, a1 = std::sqrt(a0 * a0 + next * next);
    const double a2 = s * delta + last_c * c * gamma, a3 = last_s * gamma;
    if (!(a1 > 0.0)) break;
    const double work_of_z = result.iterations == 0 ? gamma : 0.0;
    const double work = (work_of_z - a3 * work_of_last - a2 * work_of_w) / a1;
    work_of_last = std::exchange(work_of_w, work);
    const auto share = static_cast<float>(1.0 / a1);
    const auto of_w = static_cast<float>(a2), of_last_w = static_cast<float>(a3);
    for (size_t i = 0; i < w.size(); ++i) {
      last_w[i] = (z[i] - last_w[i] * of_last_w - w[i] * of_w) * share;
    }
    std::swap(w, last_w);
    last_c = std::exchange(c, a0 / a1);
    last_s = std::exchange(s, next / a1);
    const double step = c * eta;
    for (size_t i = 0; i < d.size(); ++i) d[i] += w[i] * static_cast<float>(step);
    result.work += step * work;
    eta *= -s;
    last_gamma = std::exchange(gamma, next);
    std::swap(z, q);
    result.residual = std::fabs(eta) / start;
    ++result.iterations;
    if (!(result.residual > limits.tolerance) || !(gamma > 0.0)) break;
  }
  return result;
}

}  // namespace plush
