// SPDX-License-Identifier: MIT
// Constraints among the attached points of a body. Source: attached_points.h, constraint_block.h.
#include "contact/attached_points.h"

#include <algorithm>
#include <cmath>

namespace plush {

// Returns the change of the impulse that holds the point on the coarse level:
// -N (N^T (D + S I) N)^-1 N^T (way + moved). N: the held directions; D: the response of the
// clusters; S: the compliance, a share of the fine level's response (coarse_contacts.cpp). `moved`:
// how far clusters and compliance have moved the point so far.
Vec3 AttachmentRow::HeldChange(const Vec3& moved, const Mat3& response) {
  constexpr float kLeastPivot = 1.0e-5f;  // of the trace: a direction in which nothing moves
  const float trace = response.c0.x + response.c1.y + response.c2.z;
  if (!(trace > 0.0f)) return {};
  const Vec3 away = way + moved;
  // Cholesky's factor, and a forward and a backward substitution.
  float L[3][3] = {}, p[3] = {};
  for (uint32_t i = 0; i < num_held; ++i) {
    const Vec3 answer = response * held[i] + held[i] * fine_response;
    for (uint32_t j = 0; j <= i; ++j) {
      float sum = Dot(held[j], answer);
      for (uint32_t k = 0; k < j; ++k) sum -= L[i][k] * L[j][k];
      if (j == i) {
        L[i][i] = sum > kLeastPivot * trace ? std::sqrt(sum) : 0.0f;
      } else {
        L[i][j] = L[j][j] > 0.0f ? sum / L[j][j] : 0.0f;
      }
    }
    p[i] = -Dot(held[i], away);
    for (uint32_t k = 0; k < i; ++k) p[i] -= L[i][k] * p[k];
    p[i] = L[i][i] > 0.0f ? p[i] / L[i][i] : 0.0f;
  }
  Vec3 change;
  for (uint32_t i = num_held; i-- > 0;) {
    for (uint32_t k = i + 1; k < num_held; ++k) p[i] -= L[k][i] * p[k];
    p[i] = L[i][i] > 0.0f ? p[i] / L[i][i] : 0.0f;
    change += held[i] * p[i];
  }
  impulse += change;
  return change;
}

void AttachedPoints::FindBlock() {
  block.Clear();
  if (block.rows.size() == 0) return;
  for (uint32_t i = 0; i < num_points; ++i) {
    AttachmentRow& row = RowOf(points[i]);
    row.num_held = 0;
    // A free node would move several times as far as the point.
    if (points[i].point.MovableShare() < kLeastMovable) continue;
    for (uint32_t k = 0; k < row.num_directions; ++k) {
      if (block.Add(i, points[i].point, row.directions[k])) {
        row.held[row.num_held++] = row.directions[k];
      }
    }
  }
}

void AttachedPoints::FactorBlock() {
  const FreeTurn* const turn = Turn();
  block.Factor([this, turn](uint32_t i, uint32_t j) {
    const ConstraintBlock::Row &a = block.rows[i], &b = block.rows[j];
    const double own = double(Dot(a.direction, b.direction)) *
                       double(couplings[points.size() * a.point + b.point]);
    if (turn == nullptr) return own;
    const TurnedPoint of_a(*turn, points[a.point].point), of_b(*turn, points[b.point].point);
    return own + double(Dot(a.direction, of_a.MovedBy(of_b.Answer(*turn, b.direction))));
  });
}

void AttachedPoints::FindDistances() {
  for (uint32_t r = 0; r < block.num_rows; ++r) {
    const ConstraintBlock::Row& at = block.rows[r];
    const AttachmentRow& row = RowOf(points[at.point]);
    block.numbers[r] = row.acts ? -double(Dot(at.direction, row.way)) / double(scale) : 0.0;
  }
}

float AttachedPoints::FindBlockChanges() {
  // A change of the impulse moves a point by couplings / scale^3, see Response.
  const double to_world = double(scale) * double(scale) * double(scale);
  float longest = 0.0f;
  for (uint32_t r = 0; r < block.num_rows; ++r) {
    const ConstraintBlock::Row& at = block.rows[r];
    const AttachmentRow& row = RowOf(points[at.point]);
    const float distance = row.acts ? Dot(at.direction, row.way + MovedOf(row)) : 0.0f;
    longest = std::fmax(longest, std::fabs(distance));
    block.numbers[r] = -double(distance) * to_world;
  }
  for (AttachedPoint& at : Current()) at.change = {};
  if (!std::isfinite(longest)) return 0.0f;  // the body is about to freeze
  block.Solve();
  for (uint32_t r = 0; r < block.num_rows; ++r) {
    const ConstraintBlock::Row& at = block.rows[r];
    points[at.point].change += at.direction * static_cast<float>(block.numbers[r]);
  }
  return longest;
}

void AttachedPoints::ProjectImpulses(std::span<NodeVec> rhs) {
  const std::span<double> numbers = block.Numbers();
  block.projector.Project(rhs, numbers);
  block.projector.FindMultipliers(numbers);
  for (AttachedPoint& at : Current()) {
    if (RowOf(at).is_constraint()) RowOf(at).impulse = {};
  }
  const float to_world = scale * scale * scale * scale;
  for (uint32_t r = 0; r < block.num_rows; ++r) {
    const ConstraintBlock::Row& at = block.rows[r];
    RowOf(points[at.point]).impulse -=
        at.direction * (static_cast<float>(block.numbers[r]) * to_world);
  }
}

}  // namespace plush
