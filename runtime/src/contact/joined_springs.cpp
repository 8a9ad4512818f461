// SPDX-License-Identifier: MIT
// Source: joined_springs.h.
#include "contact/joined_springs.h"

#include "contact/attached_points.h"
#include "contact/contact_couplings.h"
#include "contact/plane_contacts.h"

#include <cmath>

namespace plush {
namespace {

// Whether the solve moves a row's point. Bodies that take no part stay.
bool TakesPart(const AttachmentRow::Side& side) {
  return side.of != nullptr && side.of->contacts != nullptr && side.of->contacts->in_solve &&
         side.of->contacts->attached == side.of;
}

bool IsLinear(const AttachmentRow& row) {
  return row.acts && !row.is_constraint() && row.rest_length == 0.0f &&
         row.gain > AttachmentRow::kLeastGain;
}

// Calls visit(row) once for each spring.
template <class Visit>
void ForSprings(ContactSolve* first, const Visit& visit) {
  for (ContactSolve* of = first; of != nullptr; of = of->next) {
    if (of->state->attached == nullptr) continue;
    for (const AttachedPoint& at : of->state->attached->Current()) {
      AttachmentRow& row = of->state->attached->RowOf(at);
      if (IsLinear(row) && (at.sign > 0.0f || !TakesPart(row.sides[0]))) visit(&row);
    }
  }
}

template <class Visit>
void ForSides(const AttachmentRow& row, const Visit& visit) {
  for (const AttachmentRow::Side& side : row.sides) {
    if (TakesPart(side)) visit(side.of, &side.of->points[side.index], side.index);
  }
}

float Response(const AttachmentRow& row) {
  float sum = 0.0f;
  ForSides(row, [&](AttachedPoints* of, AttachedPoint*, uint32_t k) { sum += of->Response(k); });
  return sum;
}

DoubleVector operator*(const Mat3& a, const DoubleVector& v) {
  return InDouble(a.c0) * v.x + InDouble(a.c1) * v.y + InDouble(a.c2) * v.z;
}

// How impulses `direction` on all springs move the points of a body: their `by_springs` [m]. The
// turn is FreeTurn::Answer and TurnedPoint::MovedBy in double.
void MovePoints(AttachedPoints* of) {
  const FreeTurn* const turn = of->Turn();
  const double s = of->scale, to_own = 1.0 / (s * s * s * s);
  DoubleVector moment = {}, kept_moment = {};
  for (AttachedPoint& at : of->Current()) at.by_springs = {};
  for (uint32_t i = 0; i < of->num_points; ++i) {
    const AttachedPoint& at = of->points[i];
    if (!IsLinear(of->RowOf(at))) continue;
    const DoubleVector own = of->RowOf(at).gradients.direction * (double(at.sign) * to_own);
    const float* const coupled = &of->couplings[of->points.size() * i];
    for (uint32_t j = 0; j < of->num_points; ++j) {
      AttachedPoint& moved = of->points[j];
      moved.by_springs = moved.by_springs + own * double(coupled[j]);
    }
    if (turn == nullptr) continue;
    const TurnedPoint point(*turn, at.point);
    moment = moment + Cross(InDouble(point.arm), own);
    kept_moment = kept_moment + Cross(InDouble(point.z), own);
  }
  if (turn == nullptr) return;
  const DoubleVector kept = turn->yielding * moment;
  const DoubleVector turned = turn->yielding * (moment - kept_moment + turn->kept * kept);
  for (AttachedPoint& at : of->Current()) {
    const TurnedPoint point(*turn, at.point);
    at.by_springs =
        at.by_springs + Cross(turned, InDouble(point.arm)) - Cross(kept, InDouble(point.z));
  }
}

// (J R J^T + K^-1) times the direction of a spring, once MovePoints has been there [m].
DoubleVector Answer(const AttachmentRow& row) {
  DoubleVector moved = row.gradients.direction * (1.0 / double(row.gain));
  ForSides(row, [&](AttachedPoints* of, AttachedPoint* at, uint32_t) {
    moved = moved + at->by_springs * double(at->sign * of->scale);
  });
  return moved;
}

// Starts from nothing. Returns the largest part of e [m].
double Begin(ContactSolve* first) {
  double largest2 = 0.0;
  ForSprings(first, [&](AttachmentRow* row) {
    const AttachedPoints& of = *(TakesPart(row->sides[0]) ? row->sides[0].of : row->sides[1].of);
    AttachmentRow::Gradients& g = row->gradients;
    g.change = {};
    g.left = InDouble(row->Missing(of.MovedOf(*row))) * (1.0 / double(row->gain));
    g.yielding = 1.0 / double(Response(*row) + 1.0f / row->gain);
    g.direction = g.left * g.yielding;
    largest2 = std::fmax(largest2, Dot(g.left, g.left));
  });
  return std::sqrt(largest2);
}

void FindChanges(double accuracy, ContactSolve* first) {
  constexpr int kMostIterations = 256;
  double rest = 0.0;
  ForSprings(first, [&](AttachmentRow* row) {
    rest += Dot(row->gradients.left, row->gradients.direction);
  });
  for (int iteration = 0; rest > 0.0 && iteration < kMostIterations; ++iteration) {
    for (ContactSolve* of = first; of != nullptr; of = of->next) {
      if (of->state->attached != nullptr) MovePoints(of->state->attached);
    }
    double resistance = 0.0;
    ForSprings(first, [&](AttachmentRow* row) {
      row->gradients.answer = Answer(*row);
      resistance += Dot(row->gradients.answer, row->gradients.direction);
    });
    if (!(resistance > 0.0)) return;
    const double share = rest / resistance;
    double still_left = 0.0, largest2 = 0.0;
    ForSprings(first, [&](AttachmentRow* row) {
      AttachmentRow::Gradients& g = row->gradients;
      g.change = g.change + g.direction * share;
      g.left = g.left - g.answer * share;
      const double left2 = Dot(g.left, g.left);
      largest2 = std::fmax(largest2, left2);
      still_left += left2 * g.yielding;
    });
    if (largest2 <= accuracy * accuracy) return;
    const double kept = still_left / rest;
    rest = still_left;
    ForSprings(first, [&](AttachmentRow* row) {
      AttachmentRow::Gradients& g = row->gradients;
      g.direction = g.left * g.yielding + g.direction * kept;
    });
  }
}

void MakeChanges(ContactSolve* first) {
  ForSprings(first, [&](AttachmentRow* row) {
    const Vec3 change = InFloat(row->gradients.change);
    if (IsZero(change)) return;
    row->impulse += change;
    ForSides(*row, [&](AttachedPoints* of, AttachedPoint* at, uint32_t k) {
      const Vec3 own = of->Own(*at, change);
      const float* const coupled = &of->couplings[of->points.size() * k];
      for (uint32_t j = 0; j < of->num_points; ++j) of->points[j].moved += own * coupled[j];
      of->PushTurn(*at, own);
      if (of->contacts->couplings.num_slots == 0) return;
      const SlotPush push(of->ToContacts(k), own, of->contacts);
      Move({&push, 1});
    });
  });
}

}  // namespace

void SolveSprings(ContactSolve* first) {
  const double accuracy = double(first->problem.accuracy * first->state->scale);
  if (!(Begin(first) > accuracy)) return;
  FindChanges(accuracy, first);
  bool fits = true;
  ForSprings(first, [&](AttachmentRow* row) {
    const Vec3 whole = row->impulse + InFloat(row->gradients.change);
    fits = fits && !(Dot(whole, whole) > row->most * row->most) && IsFinite(whole);
  });
  if (fits) MakeChanges(first);
}

}  // namespace plush
