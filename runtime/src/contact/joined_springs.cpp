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

// Roughly the inverse of the operator's diagonal [kg].
float Preconditioner(const AttachmentRow& row) { return 1.0f / (Response(row) + 1.0f / row.gain); }

// How impulses `direction` on all springs move the points of a body: their `change` [m].
void MovePoints(AttachedPoints* of) {
  const FreeTurn* const turn = of->Turn();
  Vec3 moment, kept_moment;
  for (AttachedPoint& at : of->Current()) at.change = {};
  for (uint32_t i = 0; i < of->num_points; ++i) {
    const AttachedPoint& at = of->points[i];
    if (!IsLinear(of->RowOf(at))) continue;
    const Vec3 own = of->Own(at, of->RowOf(at).gradients.direction);
    const float* const coupled = &of->couplings[of->points.size() * i];
    for (uint32_t j = 0; j < of->num_points; ++j) of->points[j].change += own * coupled[j];
    if (turn == nullptr) continue;
    const TurnedPoint point(*turn, at.point);
    moment += Cross(point.arm, own);
    kept_moment += Cross(point.z, own);
  }
  if (turn == nullptr) return;
  const Turning by = turn->Answer(moment, kept_moment);
  for (AttachedPoint& at : of->Current()) at.change += TurnedPoint(*turn, at.point).MovedBy(by);
}

// (J R J^T + K^-1) times the direction of a spring, once all points have their change [m].
Vec3 Answer(const AttachmentRow& row) {
  Vec3 moved = row.gradients.direction * (1.0f / row.gain);
  ForSides(row, [&](AttachedPoints* of, AttachedPoint* at, uint32_t) {
    moved += at->change * (at->sign * of->scale);
  });
  return moved;
}

// Starts from nothing. Returns the largest part of e [m].
float Begin(ContactSolve* first) {
  float largest2 = 0.0f;
  ForSprings(first, [&](AttachmentRow* row) {
    const AttachedPoints& of = *(TakesPart(row->sides[0]) ? row->sides[0].of : row->sides[1].of);
    row->gradients.change = {};
    row->gradients.left = row->Missing(of.MovedOf(*row)) * (1.0f / row->gain);
    row->gradients.direction = row->gradients.left * Preconditioner(*row);
    largest2 = std::fmax(largest2, Dot(row->gradients.left, row->gradients.left));
  });
  return std::sqrt(largest2);
}

void FindChanges(float accuracy, ContactSolve* first) {
  constexpr int kMostIterations = 128;
  double rest = 0.0;
  ForSprings(first, [&](AttachmentRow* row) {
    rest += double(Dot(row->gradients.left, row->gradients.direction));
  });
  for (int iteration = 0; rest > 0.0 && iteration < kMostIterations; ++iteration) {
    for (ContactSolve* of = first; of != nullptr; of = of->next) {
      if (of->state->attached != nullptr) MovePoints(of->state->attached);
    }
    double resistance = 0.0;
    ForSprings(first, [&](AttachmentRow* row) {
      row->gradients.answer = Answer(*row);
      resistance += double(Dot(row->gradients.answer, row->gradients.direction));
    });
    if (!(resistance > 0.0)) return;
    const auto share = static_cast<float>(rest / resistance);
    double still_left = 0.0;
    float largest2 = 0.0f;
    ForSprings(first, [&](AttachmentRow* row) {
      row->gradients.change += row->gradients.direction * share;
      row->gradients.left -= row->gradients.answer * share;
      largest2 = std::fmax(largest2, Dot(row->gradients.left, row->gradients.left));
      still_left += double(Dot(row->gradients.left, row->gradients.left) * Preconditioner(*row));
    });
    if (largest2 <= accuracy * accuracy) return;
    const auto kept = static_cast<float>(still_left / rest);
    rest = still_left;
    ForSprings(first, [&](AttachmentRow* row) {
      row->gradients.direction =
          row->gradients.left * Preconditioner(*row) + row->gradients.direction * kept;
    });
  }
}

void MakeChanges(ContactSolve* first) {
  ForSprings(first, [&](AttachmentRow* row) {
    const Vec3& change = row->gradients.change;
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
  const float accuracy = first->problem.accuracy * first->state->scale;
  if (!(Begin(first) > accuracy)) return;
  FindChanges(accuracy, first);
  bool fits = true;
  ForSprings(first, [&](AttachmentRow* row) {
    const Vec3 whole = row->impulse + row->gradients.change;
    fits = fits && !(Dot(whole, whole) > row->most * row->most) && IsFinite(whole);
  });
  if (fits) MakeChanges(first);
}

}  // namespace plush
