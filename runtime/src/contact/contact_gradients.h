// SPDX-License-Identifier: MIT
// Minimises the sum of 1/2 D^T A D - b^T D over displacements D of bodies that contacts hold, where
// a body's A is only known by its products.
//
// SolveWithContacts does that for the constant matrix A0 of splitting in place of A. Its steps z
// from D, with b - A D in place of b, lead to the minimum, but not alone. If A0^-1 A has
// eigenvalues above 2, they diverge (3.3, 11.8 and 59.7 for Poisson's ratios of 0.33, 0.45 and
// 0.49); along eigenvectors of small ones they are too short. So:
// - Each step ends where the sum is least along it, with the contacts' impulses as forces. All
//   bodies go the same share of their steps, or contacts between them would not hold.
//   A step that a contact has not held before ends at z at most: contacts then still hold.
// - A step that takes sunk points out goes as far as z. It may raise the sum; further steps,
//   which it is allowed, lower it again. If the next step is longer, such steps diverge, which
//   happens where the constant problem does not converge: from then on all end where the sum is
//   least.
// - A step a hundred times as long as the first one of any Newton iteration of the substep, whose
//   contact solve has not converged, is not made, and the impulses start anew: of a body of mixed
//   stiffness that jams in a V with a friction of 1.95, sweeps let them grow without end.
// - If the same contacts press and slide as before, z is what a constraint preconditioner gives.
//   The step is then made conjugate to the one before: conjugate gradients.
//
// The line search and the conjugate steps are both needed. Measured with a press, slopes, a bear at
// rest and a drop, at Poisson's ratios of 0.33, 0.45 and 0.49, in units of the code as it is:
// - With conjugate steps, but no line search, the drop diverges at 0.33 and every scene at 0.45 if
//   it goes on to a residual of 1e-4.
// - With the line search, but no conjugate steps, a residual of 1e-4 takes 0.9 to 1.4 times as many
//   iterations at 0.33, 1 to 4.4 times at 0.45 and up to 2.9 times at 0.49, and up to four times as
//   long. Eight iterations take as long, and their errors are up to 76 times as large (0.45).
//
// Springs are rows of the constant problem, too, which A and b do not know: slopes have their
// forces and curvatures their stiffness.
//
// A body's numbers are in its own units, in which lengths are divided by its scale s and masses by
// s^3 (body.h). So the quadratics, mass times length squared, are added with weights s^5.
#pragma once

#include "contact/attached_points.h"
#include "contact/body_contacts.h"
#include "contact/plane_contacts.h"
#include "solver/conjugate_gradients.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>

namespace plush {

/// A number that hardly stays the same if another set of contacts presses or slides. `before`: that
/// of the bodies before, or 0.
inline uint64_t PressingSet(const ContactState& state, uint64_t before) {
  uint64_t set = before;
  const auto add = [&set](const PlaneContact& contact, uint64_t first, uint64_t second) {
    const float pressing = NormalImpulse(contact);
    const Vec3 along = contact.impulse - contact.plane.normal * pressing;
    constexpr float kSlides = 0.9999f;
    const bool slides = Dot(along, along) >= kSlides * contact.limit * contact.limit;
    for (const uint64_t word :
         {first, second, uint64_t{contact.face}, uint64_t{slides ? 1u : 0u}}) {
      set = (set ^ word) * 0x9e3779b97f4a7c15ull;
      set ^= set >> 29;
    }
  };
  for (const PlaneContact& contact : state.Current()) add(contact, contact.slot, contact.collider);
  for (size_t i = 0; i < state.between.size(); ++i) {
    const BodyContactSide& at = state.between[i];
    const bool presses = NormalImpulse(at.contact->row) > 0.0f;
    if (presses && at.side == at.contact->Owner()) add(at.contact->row, i, UINT32_MAX);
  }
  return set;
}

/// Work of the contacts' impulses along a body's node displacements `d` [kg m^2].
inline double ContactWork(const ContactState& state, std::span<const NodeVec> d) {
  double work = 0.0;
  for (const PlaneContact& contact : state.Current()) {
    work += double(Dot(contact.impulse, state.PointOf(contact).Of(d)));
  }
  for (const BodyContactSide& at : state.between) {
    const Vec3 impulse = at.contact->Own(at.side, at.contact->row.impulse);
    work += double(Dot(impulse, at.contact->sides[at.side].point.Of(d)));
  }
  return work;
}

/// Whether a point was deeper than `tolerance` [m] below its plane before the solve.
inline bool TakesOut(const ContactState& state, float tolerance) {
  const auto is_sunk = [](const PlaneContact& contact, float depth) {
    return Dot(contact.plane.normal, contact.offset) < -depth;
  };
  const auto is_out = [&](const BodyContactSide& at) {
    const PlaneContact& row = at.contact->row;
    return NormalImpulse(row) > 0.0f && is_sunk(row, tolerance * state.scale);
  };
  return std::ranges::any_of(state.Current(),
                             [&](const auto& c) { return is_sunk(c, tolerance); }) ||
         std::ranges::any_of(state.between, is_out);
}

/// Sums term(spring, motion of its way [m]) over the springs of bodies, in the world's units [kg
/// m^2]. for_bodies(visit) calls visit(AttachedPoints or null, displacements of the body's nodes
/// (num_nodes
/// + 1 x 1)).
template <class ForBodies, class Term>
double SumSprings(const ForBodies& for_bodies, const Term& term) {
  for_bodies([](AttachedPoints* attached, std::span<const NodeVec> d) {
    if (attached != nullptr) attached->StartOwn([d](uint32_t node) { return d[node]; });
  });
  double sum = 0.0;
  for_bodies([&](AttachedPoints* attached, std::span<const NodeVec>) {
    if (attached != nullptr) sum += attached->SumSprings(term);
  });
  return sum;
}

/// The term that is work of the springs' forces.
inline double SpringWork(AttachmentRow* row, const Vec3& motion) {
  return double(Dot(row->LawImpulse(), motion));
}

/// The next solve starts from no impulses.
inline void DropImpulses(ContactState* state) {
  for (PlaneContact& contact : state->Current()) contact.impulse = {};
  for (const BodyContactSide& at : state->between) at.contact->row.impulse = {};
}

/// A body's part of the sum. All arrays are (num_nodes + 1 x 1).
struct GradientPart {
  ContactSolve* of = nullptr;  ///< problem.y is `y`, problem.b is `r`
  std::span<NodeVec> r;        ///< b, then b - A D without the impulses; its spare element is zero
  std::span<NodeVec> y;        ///< the iterate [m], moved by D
  std::span<NodeVec> D;        ///< found [m]
  LinearScratch scratch;
  double weight = 1.0;                ///< of its quadratic in the sum
  double* work = nullptr;             ///< found: b.D [kg m^2]
  ContactSolveStats* most = nullptr;  ///< found: of all solves
};

/// Finds the D of bodies, and the contacts' impulses.
/// - for_parts(visit) calls visit(part, multiply) for each body, always in the same order.
///   multiply(turn) makes q = A p of the part, zero for pinned nodes and the spare element. p is
///   of->d + turn times the p of the product before.
/// - `first`: the list of the parts' `of`.
/// - `longest2`: the square of the longest first step of A0 in the substep's Newton iterations, or
///   0 before them; knows of this one afterwards.
///
/// `residual` of the result is the length of the last step of A0, relative to the first one, and
/// `work` that of b, the contacts' impulses and the springs' forces along D. Makes at most four
/// times limits.iterations. Does not allocate.
template <class ForParts>
LinearResult ContactGradients(const ForParts& for_parts, const LinearLimits& limits,
                              ContactSolve* first, double* longest2) {
  constexpr double kMostGrowth = 1.0e4;  // of the square of a step's length
  constexpr int kMostSweeps = 256;       // of a contact solve, which then has not converged
  LinearResult result;
  // The sum of the bodies' terms: term(part), in the world's units.
  const auto sum_of = [&](const auto& term) {
    double sum = 0.0;
    for_parts([&](const GradientPart& part, const auto&) { sum += part.weight * term(part); });
    return sum;
  };
  const auto along = [](const GradientPart& part, std::span<const NodeVec> d) {
    return DotProduct(part.r, d) + ContactWork(*part.of->state, d);
  };
  bool has_springs = false;
  for_parts([&](const GradientPart& part, const auto&) {
    std::fill(part.D.begin(), part.D.end(), NodeVec());
    *part.work = 0.0;
    *part.most = {};
    const AttachedPoints* attached = part.of->problem.attached;
    has_springs = has_springs || (attached != nullptr && attached->has_springs);
  });
  // The same of springs, for the motion that the vectors of(part) make.
  const auto sum_of_springs = [&](const auto& vectors, const auto& term) {
    if (!has_springs) return 0.0;
    return SumSprings(
        [&](const auto& visit) {
          for_parts([&](const GradientPart& part, const auto&) {
            visit(part.of->problem.attached, vectors(part));
          });
        },
        term);
  };
  const auto step_of = [](const GradientPart& part) {
    return std::span<const NodeVec>(part.of->d);
  };
  const auto direction_of = [](const GradientPart& part) {
    return std::span<const NodeVec>(part.scratch.p);
  };
  double start = 0.0, curvature = 0.0;
  uint64_t set = 0;
  bool may_turn = false, took_out = false, diverges = false;
  double last_length2 = 0.0;
  int left = limits.iterations;
  while (left > 0 && result.iterations < 4 * limits.iterations) {
    SolveWithContacts(first);
    uint64_t now = 0;
    bool takes_out = false, ends_late = false;
    for_parts([&](const GradientPart& part, const auto&) {
      part.most->sweeps = std::max(part.most->sweeps, part.of->stats.sweeps);
      part.most->num_dropped = std::max(part.most->num_dropped, part.of->stats.num_dropped);
      now = PressingSet(*part.of->state, now);
      ends_late = ends_late || part.of->stats.sweeps >= kMostSweeps;
      takes_out = takes_out || TakesOut(*part.of->state, part.of->problem.tolerance);
    });
    const bool is_same = result.iterations > 0 && now == set;
    set = now;
    if (result.iterations == 0) {
      sum_of_springs(step_of, [](AttachmentRow* row, const Vec3&) {
        row->first = row->LawImpulse();
        return 0.0;
      });
    }
    const double length2 =
        sum_of([&](const GradientPart& part) { return along(part, part.of->d); }) +
        sum_of_springs(step_of, SpringWork);
    if (!(length2 > 0.0)) break;
    if (ends_late && *longest2 > 0.0 && length2 > kMostGrowth * *longest2) {
      for_parts([](const GradientPart& part, const auto&) { DropImpulses(part.of->state); });
      break;
    }
    if (result.iterations == 0) {
      start = length2;
      *longest2 = std::fmax(*longest2, length2);
    }
    diverges = diverges || (took_out && length2 > last_length2);
    last_length2 = length2;
    took_out = takes_out;
    result.residual = std::sqrt(length2 / start);
    if (result.iterations > 0 && !takes_out && result.residual <= limits.tolerance) break;
    double turn = 0.0;
    if (is_same && may_turn && !takes_out) {
      const double product =
          sum_of([](const GradientPart& part) { return DotProduct(part.of->d, part.scratch.q); }) +
          sum_of_springs(step_of, [](AttachmentRow* row, const Vec3& motion) {
            return double(Dot(row->resisted, motion));
          });
      turn = std::fmax(-product / curvature, 0.0);
    }
    for_parts([&](const GradientPart& part, const auto& multiply) {
      TurnDirection(static_cast<float>(turn), part.of->d, part.scratch.p);
      multiply(static_cast<float>(turn));
    });
    curvature = sum_of([](const GradientPart& part) {
                  return DotProduct(part.scratch.p, part.scratch.q);
                }) +
                sum_of_springs(direction_of, [](AttachmentRow* row, const Vec3& motion) {
                  row->resisted = row->Resistance(motion);
                  return double(Dot(row->resisted, motion));
                });
    if (!(curvature > 0.0)) {
      result.is_indefinite = true;
      break;
    }
    const double slope =
        sum_of([&](const GradientPart& part) { return along(part, part.scratch.p); }) +
        sum_of_springs(direction_of, SpringWork);
    double step = slope / curvature;
    if (takes_out && !diverges) {
      step = 1.0;
    } else if (!is_same) {
      step = std::fmin(step, 1.0);
    }
    if (!(step > 0.0)) break;
    for_parts([&](const GradientPart& part, const auto&) {
      const std::span<NodeVec> p = part.scratch.p, q = part.scratch.q;
      *part.work += step * (DotProduct(part.r, p) + DotProduct(part.D, q));
      // y is rounded once in all steps together: rounding in each would shift momenta.
      for (size_t i = 0; i < part.y.size(); ++i) part.y[i] -= part.D[i];
      MoveAlong(static_cast<float>(step), p, q, part.D, part.r);
      for (size_t i = 0; i < part.y.size(); ++i) part.y[i] += part.D[i];
    });
    may_turn = !takes_out;
    ++result.iterations;
    left = takes_out && !diverges ? limits.iterations : left - 1;
  }
  result.work = sum_of(
      [](const GradientPart& part) { return *part.work + ContactWork(*part.of->state, part.D); });
  result.work += sum_of_springs(
      [](const GradientPart& part) { return std::span<const NodeVec>(part.D); },
      [](AttachmentRow* row, const Vec3& motion) { return double(Dot(row->first, motion)); });
  return result;
}

}  // namespace plush
