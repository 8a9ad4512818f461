// SPDX-License-Identifier: MIT
// Source: attached_points.h.
#include "contact/attached_points.h"

#include "base/float4.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace plush {
namespace {

Vec3 Direction(const Vec3& way) {
  const float length = Length(way);
  return length > 0.0f ? way * (1.0f / length) : Vec3{0.0f, 1.0f, 0.0f};
}

}  // namespace

void AttachmentRow::Begin(float h) {
  drag = damping * h;
  gain = stiffness * h * h + drag;
  most = max_force * h * h;
  impulse = acts ? force * (h * h) : Vec3{};
  if (is_constraint()) {  // another row may hold the point now
    const Vec3 last = impulse;
    impulse = {};
    for (uint32_t k = 0; k < num_held; ++k) impulse += held[k] * Dot(held[k], last);
  }
  known = impulse;
}

// -K e + c h e_start - p, with lengths less that at rest instead of e if the spring has one.
Vec3 AttachmentRow::Missing(const Vec3& moved) const {
  if (rest_length == 0.0f) return start * drag - (way + moved) * gain - impulse;
  const float length = Length(way) + Dot(normal, moved) - rest_length;
  const float at_start = Length(start) - rest_length;
  return normal * (at_start * drag - length * gain - Dot(normal, impulse));
}

Vec3 AttachmentRow::Limited(const Vec3& whole) const {
  const float length2 = Dot(whole, whole);
  return length2 > most * most ? whole * (most / std::sqrt(length2)) : whole;
}

Vec3 AttachmentRow::Add(const Vec3& change) {
  const Vec3 old = impulse;
  impulse = Limited(impulse + change);
  return impulse - old;
}

bool AttachmentRow::IsAtLimit() const {
  const Vec3 whole = impulse + Missing({});
  return Dot(whole, whole) > most * most;
}

Vec3 AttachmentRow::LawImpulse() const { return Limited(impulse + Missing({})); }

Vec3 AttachmentRow::Resistance(const Vec3& motion) const {
  if (IsAtLimit()) return {};
  return rest_length == 0.0f ? motion * gain : normal * (Dot(normal, motion) * gain);
}

Vec3 AttachmentRow::Change(const Vec3& moved, float response) {
  return Add(Missing(moved) * (1.0f / (1.0f + gain * response)));
}

Vec3 AttachmentRow::Change(const Vec3& moved, const Mat3& response) {
  if (is_constraint()) return HeldChange(moved, response);
  const Vec3 missing = Missing(moved);
  if (rest_length > 0.0f) {
    return Add(missing * (1.0f / (1.0f + gain * Dot(normal, response * normal))));
  }
  // (I + K D)^-1, divided by their size first: neither stiff nor soft rows overflow.
  const float trace = response.c0.x + response.c1.y + response.c2.z;
  const float size = 1.0f + gain * trace;
  const float one = 1.0f / size;
  const Mat3 scaled =
      response * (gain / size) + Mat3{{one, 0.0f, 0.0f}, {0.0f, one, 0.0f}, {0.0f, 0.0f, one}};
  const Vec3 solved = TransposeTimes(Cofactor(scaled), missing * one);
  const Vec3 change = solved * (1.0f / Determinant(scaled));
  // A force at its limit keeps the spring's direction, which only a multiple of I preserves.
  const Vec3 whole = impulse + change;
  return Dot(whole, whole) > most * most ? Change(moved, trace) : Add(change);
}

bool AttachedPoints::Reserve(const Allocator& allocator, uint32_t count, size_t of_nodes) {
  if (count <= points.size()) return true;
  const size_t capacity = std::max<size_t>(count, 2 * points.size());
  const uint32_t most_slots = MostTouchingPoints(static_cast<uint32_t>(of_nodes));
  Array<AttachedPoint> more_points;
  Array<float> more_columns, more_couplings, more_to_contacts;
  Array<NodeVec> more_solved;
  Array<EmbeddedPoint> more_contact_points;
  if (!more_points.Allocate(allocator, capacity) ||
      !more_columns.Allocate(allocator, capacity * of_nodes, 0.0f) ||
      !more_couplings.Allocate(allocator, capacity * capacity, 0.0f) ||
      !more_to_contacts.Allocate(allocator, capacity * CouplingStride(most_slots), 0.0f) ||
      !more_solved.Allocate(allocator, of_nodes + 1) ||
      !more_contact_points.Allocate(allocator, most_slots) ||
      (springs.capacity() > 0 && !springs.Reserve(allocator, capacity))) {
    return false;
  }
  std::copy_n(points.begin(), num_points, more_points.begin());
  points = std::move(more_points);
  columns = std::move(more_columns);
  couplings = std::move(more_couplings);
  to_contacts = std::move(more_to_contacts);
  solved = std::move(more_solved);
  contact_points = std::move(more_contact_points);
  num_nodes = of_nodes;
  factor_id = 0;
  return true;
}

bool AttachedPoints::ReserveConstraints(const Allocator& allocator, uint32_t count,
                                        size_t of_nodes) {
  factor_id = 0;
  return block.Reserve(allocator, count, of_nodes);
}

void AttachedPoints::Find(const FactoredSystem& system) {
  constexpr float Vec3::*kAxes[3] = {&Vec3::x, &Vec3::y, &Vec3::z};
  if (factor_id == system.id) return;
  if (factor_id == 0) FindBlock();
  factor_id = system.id;
  springs.Clear();
  num_contact_points = 0;
  for (uint32_t first = 0; first < num_points; first += 3) {
    const uint32_t count = std::min(num_points - first, 3u);
    std::fill(solved.begin(), solved.end(), NodeVec());
    for (uint32_t c = 0; c < count; ++c) {
      const EmbeddedPoint& point = points[first + c].point;
      for (int k = 0; k < 4; ++k) solved[point.nodes[k]].*kAxes[c] += point.Free(k);
    }
    SolvePanels(system.factor, system.workspace, solved.span());
    for (uint32_t c = 0; c < count; ++c) {
      float* column = &columns[num_nodes * (first + c)];
      for (size_t node = 0; node < num_nodes; ++node) column[node] = solved[node].*kAxes[c];
    }
  }
  for (uint32_t i = 0; i < num_points; ++i) {
    const float* column = &columns[num_nodes * i];
    for (uint32_t j = 0; j <= i; ++j) {
      const EmbeddedPoint& point = points[j].point;
      float value = 0.0f;
      for (int k = 0; k < 4; ++k) value += point.Free(k) * column[point.nodes[k]];
      couplings[points.size() * i + j] = couplings[points.size() * j + i] = value;
    }
  }
  FactorBlock();
}

void AttachedPoints::ListSprings() {
  springs.StartList();
  for (uint32_t i = 0; i < num_points; ++i) {
    const AttachmentRow& row = RowOf(points[i]);
    const bool is_linear =
        !row.is_constraint() && row.rest_length == 0.0f && row.gain > AttachmentRow::kLeastGain;
    if (!is_linear || !row.acts || row.sides[1].of != nullptr) continue;
    if (springs.List(i, row.gain)) continue;
    springs.StartList();  // too many
    break;
  }
  springs.EndList(couplings.span(), points.size(), 1.0f / (scale * scale * scale));
}

TurnResistance AttachedPoints::ResistanceTo(const FreeTurn& turn) const {
  TurnResistance resistance;
  for (const AttachedPoint& at : Current()) {
    const AttachmentRow& row = RowOf(at);
    if (row.acts) resistance.Add(TurnedPoint(turn, at.point).arm, Own(at, row.impulse));
  }
  return resistance;
}

void AttachedPoints::AnswerWithTurn() {
  if (block.any()) FactorBlock();
  const FreeTurn* const turn = Turn();
  if (turn == nullptr) return springs.StopTurn();
  for (uint32_t i = 0; i < num_points; ++i) {
    const float own = couplings[(points.size() + 1) * i];
    points[i].turned_response = TurnedPoint(*turn, points[i].point).Bound(own, *turn);
  }
  if (springs.num_springs == 0) return;
  TurnedPoint turned[SpringBlock::kMost];
  for (uint32_t k = 0; k < springs.num_springs; ++k) {
    turned[k] = TurnedPoint(*turn, points[springs.points[k]].point);
  }
  springs.Turn(*turn, {turned, springs.num_springs}, 1.0f / (scale * scale * scale));
}

bool AttachedPoints::FindSpringChanges() {
  const size_t n = springs.capacity();
  float* const numbers = springs.numbers.data();
  for (uint32_t k = 0; k < springs.num_springs; ++k) {
    const AttachedPoint& at = points[springs.points[k]];
    const AttachmentRow& row = RowOf(at);
    const Vec3 e = row.Missing(MovedOf(row)) * (1.0f / springs.gains[k]);
    numbers[k] = e.x, numbers[n + k] = e.y, numbers[2 * n + k] = e.z;
  }
  springs.Solve();
  bool fits = true;
  for (uint32_t k = 0; k < springs.num_springs; ++k) {
    AttachedPoint& at = points[springs.points[k]];
    const AttachmentRow& row = RowOf(at);
    at.change = {numbers[k], numbers[n + k], numbers[2 * n + k]};
    const Vec3 whole = row.impulse + at.change;
    fits = fits && !(Dot(whole, whole) > row.most * row.most);
  }
  return fits;
}

void AttachedPoints::MoveBySprings() {
  float* const by_x = springs.responses.data();
  float *const by_y = by_x + num_points, *const by_z = by_y + num_points;
  std::fill_n(by_x, 3 * size_t{num_points}, 0.0f);
  for (uint32_t k = 0; k < springs.num_springs; ++k) {
    const uint32_t i = springs.points[k];
    const Vec3 own = Own(points[i], points[i].change);
    const float* const coupled = &couplings[points.size() * i];
    for (uint32_t j = 0; j < num_points; ++j) {
      by_x[j] += coupled[j] * own.x;
      by_y[j] += coupled[j] * own.y;
      by_z[j] += coupled[j] * own.z;
    }
  }
  for (uint32_t j = 0; j < num_points; ++j) points[j].moved += Vec3{by_x[j], by_y[j], by_z[j]};
}

void AttachedPoints::FindWays() {
  for (const AttachedPoint& at : Current()) {
    AttachmentRow& row = RowOf(at);
    if (!row.acts) continue;
    row.way = row.base;
    for (const AttachmentRow::Side& side : row.sides) {
      if (side.of == nullptr) continue;
      AttachedPoint& end = side.of->points[side.index];
      if (side.of != this) {
        for (int k = 0; k < 4; ++k) end.at[k] = side.of->y[end.point.nodes[k]];
      }
      Vec3 place;
      for (int k = 0; k < 4; ++k) place += end.at[k] * end.point.weights[k];
      row.way += place * (end.sign * side.of->scale);
    }
    if (row.rest_length > 0.0f) {
      row.normal = Direction(row.way);
      row.impulse = row.normal * Dot(row.normal, row.impulse);
    }
    row.before = row.impulse;
  }
}

void AttachedPoints::StartOthers() {
  if (!joins_bodies) return;
  for (const AttachedPoint& at : Current()) {
    for (const AttachmentRow::Side& side : RowOf(at).sides) {
      if (side.of == nullptr || side.of == this) continue;
      for (AttachedPoint& other : side.of->Current()) other.moved = {};
    }
  }
  for (const AttachedPoint& at : Current()) {
    const AttachmentRow& row = RowOf(at);
    if (row.acts) MoveOther(row, row.impulse - row.known);
  }
}

Vec3 AttachedPoints::MovedOf(const AttachmentRow& row) const {
  Vec3 moved;
  for (const AttachmentRow::Side& side : row.sides) {
    if (side.of == nullptr) continue;
    const AttachedPoint& end = side.of->points[side.index];
    moved += (end.moved + side.of->TurnedBy(end)) * (end.sign * side.of->scale);
  }
  return moved;
}

void AttachedPoints::MoveOther(const AttachmentRow& row, const Vec3& change) {
  for (const AttachmentRow::Side& side : row.sides) {
    if (side.of == nullptr || side.of == this || side.of->coarse_solve != nullptr) continue;
    AttachedPoints& other = *side.of;
    const Vec3 own = other.Own(other.points[side.index], change);
    const float* coupled = &other.couplings[other.points.size() * side.index];
    for (uint32_t j = 0; j < other.num_points; ++j) other.points[j].moved += own * coupled[j];
    other.PushTurn(other.points[side.index], own);
  }
}

void AttachedPoints::AddChanges(std::span<NodeVec> d) const {
  constexpr uint32_t kTogether = 4;
  Float4 impulses[kTogether];
  const float* from[kTogether];
  uint32_t count = 0;
  const auto flush = [&] {
    if (count == 0) return;
    for (uint32_t c = count; c < kTogether; ++c) impulses[c] = Broadcast(0.0f), from[c] = from[0];
    for (size_t node = 0; node < num_nodes; ++node) {
      Float4 sum = Load4(&d[node].x);
      for (uint32_t c = 0; c < kTogether; ++c) sum = sum + impulses[c] * Broadcast(from[c][node]);
      Store4(sum, &d[node].x);
    }
    count = 0;
  };
  for (uint32_t i = 0; i < num_points; ++i) {
    const AttachmentRow& row = RowOf(points[i]);
    const Vec3 own = Own(points[i], row.impulse - row.before);
    if (IsZero(own)) continue;
    const NodeVec padded(own, 0.0f);
    impulses[count] = Load4(&padded.x);
    from[count++] = &columns[num_nodes * i];
    if (count == kTogether) flush();
  }
  flush();
}

void AttachedPoints::MoveOthers() {
  if (!joins_bodies) return;
  for (const AttachedPoint& at : Current()) {
    AttachmentRow& row = RowOf(at);
    for (const AttachmentRow::Side& side : row.sides) {
      if (side.of == nullptr || side.of == this || !row.acts) continue;
      if (side.of->coarse_solve != nullptr) continue;
      AttachedPoints& other = *side.of;
      const Vec3 own = other.Own(other.points[side.index], row.impulse - row.known);
      const float* column = &other.columns[other.num_nodes * side.index];
      for (size_t node = 0; node < other.num_nodes; ++node) {
        other.y[node] += own * column[node];
      }
    }
    row.known = row.impulse;
  }
}

void AttachedPoints::KnowImpulses() {
  for (const AttachedPoint& at : Current()) RowOf(at).known = RowOf(at).impulse;
}

void AttachedPoints::SweepAlone(float accuracy) {
  constexpr int kMostSweeps = 32;
  const auto ignore = [](AttachedPoints*, uint32_t, const Vec3&) {};
  float longest = 0.0f;
  if (springs.num_springs == num_points && SweepSprings(ignore, &longest)) return;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    if (Sweep(ignore) <= accuracy * scale) return;
  }
}

void AttachedPoints::FindToContacts(const PointCouplings& of_contacts) {
  const auto is_same = [](const EmbeddedPoint& a, const EmbeddedPoint& b) {
    for (int k = 0; k < 4; ++k) {
      if (a.nodes[k] != b.nodes[k] || a.Free(k) != b.Free(k)) return false;
    }
    return true;
  };
  for (uint32_t slot = 0; slot < of_contacts.num_slots; ++slot) {
    const EmbeddedPoint& point = of_contacts.points[slot];
    if (slot < num_contact_points && is_same(contact_points[slot], point)) continue;
    contact_points[slot] = point;
    for (uint32_t i = 0; i < num_points; ++i) {
      const float* column = &columns[num_nodes * i];
      float sum = 0.0f;
      for (int k = 0; k < 4; ++k) sum += point.Free(k) * column[point.nodes[k]];
      ToContacts(i)[slot] = sum;
    }
  }
  num_contact_points = of_contacts.num_slots;
}

void AttachedPoints::AddTo(std::span<const uint16_t> clusters, std::span<ClusterSums> sums) const {
  for (const AttachedPoint& at : Current()) {
    const Vec3 own = Own(at, RowOf(at).impulse);
    for (int k = 0; k < 4; ++k) {
      ClusterSums& sum = sums[clusters[at.point.nodes[k]]];
      const Vec3 impulse = own * at.point.Free(k);
      sum.impulse += impulse;
      sum.moment += Cross(at.at[k] - sum.centre, impulse);
    }
  }
}

void AttachedPoints::AddToInertia(std::span<const uint16_t> clusters,
                                  std::span<ClusterSums> sums) const {
  for (const AttachedPoint& at : Current()) {
    const Vec3 own = Own(at, RowOf(at).impulse);
    for (int k = 0; k < 4; ++k) {
      ClusterSums& sum = sums[clusters[at.point.nodes[k]]];
      const Vec3 impulse = own * at.point.Free(k), arm = at.at[k] - sum.centre;
      sum.inertia += impulse;
      sum.arms = sum.arms + Mat3{arm * impulse.x, arm * impulse.y, arm * impulse.z};
    }
  }
}

}  // namespace plush
