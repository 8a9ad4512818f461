// SPDX-License-Identifier: MIT
// Columns of A^-1 W^T at the slots' points: one solve gives three, one per axis. If the body has
// few nodes, 16, which takes less than half the time. Source: point_couplings.h.
#include "contact/point_couplings.h"

#include "base/float4.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace plush {

bool PointCouplings::Allocate(const Allocator& allocator, uint32_t num_nodes,
                              uint32_t max_contacts) {
  const uint32_t capacity = MostTouchingPoints(num_nodes, max_contacts);
  if (!points.Allocate(allocator, capacity)) return false;
  Forget();
  return values.Allocate(allocator, size_t{capacity} * stride, 0.0f) &&
         new_slots.Allocate(allocator, capacity) &&
         columns.Allocate(allocator, size_t{num_nodes} + 1) &&
         marks.Allocate(allocator, num_nodes, uint8_t{0});
}

SlotIndex::SlotIndex(PointCouplings* couplings) : couplings_(couplings) {
  std::ranges::fill(last_, PointCouplings::kNoSlot);
  for (uint32_t slot = 0; slot < couplings->num_slots; ++slot) Insert(slot);
}

// Places differ in the first weight, except those of nodes, which is 1.
uint32_t SlotIndex::BucketOf(float first_weight, uint32_t first_node) {
  constexpr uint32_t kMixing = 0x9e3779b1;
  const uint32_t key =
      std::bit_cast<uint32_t>(first_weight) + (first_weight == 1.0f ? first_node : 0);
  return key * kMixing / (UINT32_MAX / kBuckets + 1);
}

void SlotIndex::Insert(uint32_t slot) {
  const EmbeddedPoint& point = couplings_->points[slot];
  if (point.id == TouchingSurface::kNoId) return;
  uint32_t& last = last_[BucketOf(point.weights[0], point.nodes[0])];
  couplings_->new_slots[slot] = last;
  last = slot;
}

uint32_t SlotIndex::Find(const EmbeddedPoint& point) const {
  uint32_t first = PointCouplings::kNoSlot;
  uint32_t slot = last_[BucketOf(point.weights[0], point.nodes[0])];
  for (; slot != PointCouplings::kNoSlot; slot = couplings_->new_slots[slot]) {
    const EmbeddedPoint& other = couplings_->points[slot];
    if (other.weights[0] == point.weights[0] && other.IsAt(point)) first = slot;
  }
  return first;
}

bool SlotIndex::MayHave(float first_weight) const {
  if (first_weight == 1.0f) return true;
  uint32_t slot = last_[BucketOf(first_weight, 0)];
  for (; slot != PointCouplings::kNoSlot; slot = couplings_->new_slots[slot]) {
    if (couplings_->points[slot].weights[0] == first_weight) return true;
  }
  return false;
}

uint32_t SlotIndex::Add(const EmbeddedPoint& point) {
  const uint32_t slot = couplings_->Add(point);
  Insert(slot);
  return slot;
}

void PointCouplings::Keep() {
  const std::span<uint32_t> now = new_slots.span().first(num_slots);
  if (std::ranges::find(now, kNoSlot) == now.end()) {  // often, if the room is full
    for (uint32_t slot = 0; slot < num_slots; ++slot) now[slot] = slot;
    return;
  }
  uint32_t kept = 0, kept_known = 0;
  for (uint32_t slot = 0; slot < num_slots; ++slot) {
    if (new_slots[slot] == kNoSlot) continue;
    if (slot < num_known) {
      // Rows and columns only move towards the first ones, so nothing is overwritten too early.
      float* to = Row(kept);
      const float* from = Row(slot);
      uint32_t column = 0;
      for (uint32_t other = 0; other < num_known; ++other) {
        if (new_slots[other] != kNoSlot) to[column++] = from[other];
      }
      ++kept_known;
    }
    points[kept] = points[slot];
    new_slots[slot] = kept++;
  }
  num_slots = kept;
  num_known = kept_known;
}

// Moves the known rows. None comes to a place that is still to be read.
void PointCouplings::SetStride(uint32_t to) {
  const auto move = [&](uint32_t row) {
    std::memmove(&values[size_t{to} * row], Row(row), num_known * sizeof(float));
  };
  if (to < stride) {
    for (uint32_t row = 0; row < num_known; ++row) move(row);
  } else if (to > stride) {
    for (uint32_t row = num_known; row-- > 0;) move(row);
  }
  stride = to;
}

// columns := A^-1 columns, at the slots' nodes. Where bodies touch, these depend on few supernodes.
void PointCouplings::Solve(const FactoredSystem& system) {
  if (system.factor.pins != nullptr) {
    SolvePanels(system.factor, system.workspace, columns.span());
  } else {
    SolveMarked(system.factor, marks.span(), system.workspace, columns.span());
  }
}

// Nodes of a body whose columns fit on the stack, 16 at once.
constexpr size_t kFewNodes = 512;

void PointCouplings::FindFewNodes(const FactoredSystem& system) {
  alignas(64) float found[kFewNodes * kPointLanes];
  for (uint32_t first = num_known; first < num_slots; first += kPointLanes) {
    const uint32_t count = std::min<uint32_t>(num_slots - first, kPointLanes);
    std::fill_n(found, kPointLanes * system.factor.num_nodes, 0.0f);
    for (uint32_t c = 0; c < count; ++c) {
      const EmbeddedPoint& point = points[first + c];
      for (int k = 0; k < 4; ++k) found[kPointLanes * point.nodes[k] + c] += point.Free(k);
    }
    SolvePoints(system.factor, marks.span(), found);
    for (uint32_t other = num_slots; other-- > 0;) {
      const EmbeddedPoint& point = points[other];
      Float4 of_columns[kPointLanes / 4] = {};
      for (int k = 0; k < 4; ++k) {
        const Float4 weight = Broadcast(point.Free(k));
        const float* const at = found + kPointLanes * point.nodes[k];
        for (uint32_t c = 0; c < count; c += 4) {
          of_columns[c / 4] = of_columns[c / 4] + weight * Load4(at + c);
        }
      }
      for (uint32_t c = 0; c < count; ++c) {
        Row(first + c)[other] = Row(other)[first + c] = of_columns[c / 4][static_cast<int>(c % 4)];
      }
    }
  }
}

bool PointCouplings::Find(const FactoredSystem& system) {
  constexpr float Vec3::*kAxes[3] = {&Vec3::x, &Vec3::y, &Vec3::z};
  if (factor_id != system.id) num_known = 0;
  factor_id = system.id;
  SetStride(CouplingStride(num_slots));
  if (num_known == num_slots) return false;
  std::fill(marks.begin(), marks.end(), uint8_t{0});
  for (const EmbeddedPoint& point : points.span().first(num_slots)) {
    for (const uint32_t node : point.nodes) MarkPath(system.factor, node, marks.span());
  }
  if (system.factor.pins == nullptr && system.factor.num_nodes <= kFewNodes) {
    FindFewNodes(system);
    num_known = num_slots;
    return false;
  }
  for (uint32_t first = num_known; first < num_slots; first += 3) {
    const uint32_t count = std::min(num_slots - first, 3u);
    std::fill(columns.begin(), columns.end(), NodeVec());
    for (uint32_t c = 0; c < count; ++c) {
      const EmbeddedPoint& point = points[first + c];
      for (int k = 0; k < 4; ++k) columns[point.nodes[k]].*kAxes[c] += point.Free(k);
    }
    Solve(system);
    for (uint32_t other = num_slots; other-- > 0;) {
      const EmbeddedPoint& point = points[other];
      Float4 of_columns = Broadcast(0.0f);
      for (int k = 0; k < 4; ++k) {
        of_columns = of_columns + Broadcast(point.Free(k)) * Load4(&columns[point.nodes[k]].x);
      }
      for (uint32_t c = 0; c < count; ++c) {
        Row(first + c)[other] = Row(other)[first + c] = of_columns[static_cast<int>(c)];
      }
    }
  }
  num_known = num_slots;
  return true;
}

}  // namespace plush
