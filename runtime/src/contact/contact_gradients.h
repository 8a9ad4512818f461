// SPDX-License-Identifier: MIT
// Minimises 1/2 D^T A D - b^T D over displacements D of one body that contacts hold, where A is
// only known by its products.
//
// SolveWithContacts does that for the constant matrix A0 of splitting in place of A. Its steps z
// from D, with b - A D in place of b, lead to the minimum, but not alone. If A0^-1 A has
// eigenvalues above 2, they diverge (3.3, 11.8 and 59.7 for Poisson's ratios of 0.33, 0.45 and
// 0.49); along eigenvectors of small ones they are too short. So:
// - Each step ends where the quadratic is least along it, with the contacts' impulses as forces.
//   A step that a contact has not held before ends at z at most: contacts then still hold.
// - A step that takes sunk points out goes as far as z. It may raise the quadratic; further steps,
//   which it is allowed, lower it again.
// - If the same contacts press and slide as before, z is what a constraint preconditioner gives.
// The
//   step is then made conjugate to the one before: conjugate gradients.
#pragma once

#include "contact/plane_contacts.h"
#include "solver/conjugate_gradients.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

/// A number that hardly stays the same if another set of contacts presses or slides.
inline uint64_t PressingSet(const ContactState& state) {
  uint64_t set = 0;
  for (const PlaneContact& contact : state.Current()) {
    const float pressing = NormalImpulse(contact);
    const Vec3 along = contact.impulse - contact.plane.normal * pressing;
    constexpr float kSlides = 0.9999f;
    const bool slides = Dot(along, along) >= kSlides * contact.cone * contact.cone;
    for (const uint64_t word : {uint64_t{contact.slot}, uint64_t{contact.collider},
                                uint64_t{contact.face}, uint64_t{slides ? 1u : 0u}}) {
      set = (set ^ word) * 0x9e3779b97f4a7c15ull;
      set ^= set >> 29;
    }
  }
  return set;
}

/// Work of the contacts' impulses along node displacements `d` [kg m^2].
inline double ContactWork(const ContactState& state, std::span<const NodeVec> d) {
  double work = 0.0;
  for (const PlaneContact& contact : state.Current()) {
    work += double(Dot(contact.impulse, state.PointOf(contact).Of(d)));
  }
  return work;
}

/// Whether a point was deeper than `tolerance` [m] below its plane before the solve.
inline bool TakesOut(const ContactState& state, float tolerance) {
  return std::ranges::any_of(state.Current(), [tolerance](const PlaneContact& contact) {
    return Dot(contact.plane.normal, contact.offset) < -tolerance;
  });
}

/// Finds D, and the contacts' impulses. All arrays are (num_nodes + 1 x 1).
/// - `of`: the solve of one body; problem.y is `y`, problem.b is `r`.
/// - `r`: b, then b - A D without the impulses. Its spare element must be zero.
/// - `y`: the iterate [m], moved by D.
/// - multiply(p, q): see ConjugateGradients.
///
/// `residual` of the result is the length of the last step of A0, relative to the first one, and
/// `work` that of b and the contacts' impulses along D. Makes at most four times limits.iterations.
/// Does not allocate.
template <class Multiply>
LinearResult ContactGradients(const Multiply& multiply, const LinearLimits& limits,
                              const LinearScratch& scratch, ContactSolve* of, std::span<NodeVec> r,
                              std::span<NodeVec> y, std::span<NodeVec> D) {
  const std::span<NodeVec> p = scratch.p, q = scratch.q, z = of->d;
  LinearResult result;
  ContactSolveStats most;
  std::fill(D.begin(), D.end(), NodeVec());
  double first = 0.0, curvature = 0.0, work = 0.0;
  uint64_t set = 0;
  bool may_turn = false;
  int left = limits.iterations;
  while (left > 0 && result.iterations < 4 * limits.iterations) {
    SolveWithContacts(of);
    most.sweeps = std::max(most.sweeps, of->stats.sweeps);
    most.num_dropped = std::max(most.num_dropped, of->stats.num_dropped);
    const ContactState& state = *of->state;
    const uint64_t now = PressingSet(state);
    const bool is_same = result.iterations > 0 && now == set;
    const bool takes_out = TakesOut(state, of->problem.tolerance);
    set = now;
    const double length2 = DotProduct(r, z) + ContactWork(state, z);
    if (result.iterations == 0) first = length2;
    if (!(length2 > 0.0)) break;
    result.residual = std::sqrt(length2 / first);
    if (result.iterations > 0 && !takes_out && result.residual <= limits.tolerance) break;
    const bool turns = is_same && may_turn && !takes_out;
    const double turn = turns ? std::fmax(-DotProduct(z, q) / curvature, 0.0) : 0.0;
    TurnDirection(static_cast<float>(turn), z, p);
    multiply(std::span<const NodeVec>(p), q);
    curvature = DotProduct(p, q);
    if (!(curvature > 0.0)) {
      result.is_indefinite = true;
      break;
    }
    const double slope = DotProduct(r, p) + ContactWork(state, p);
    double step = slope / curvature;
    if (takes_out) {
      step = 1.0;
    } else if (!is_same) {
      step = std::fmin(step, 1.0);
    }
    if (!(step > 0.0)) break;
    work += step * (DotProduct(r, p) + DotProduct(D, q));
    MoveAlong(static_cast<float>(step), p, q, D, r);
    for (size_t i = 0; i < y.size(); ++i) y[i] += p[i] * static_cast<float>(step);
    may_turn = !takes_out;
    ++result.iterations;
    left = takes_out ? limits.iterations : left - 1;
  }
  of->stats = most;
  result.work = work + ContactWork(*of->state, D);
  return result;
}

}  // namespace plush
