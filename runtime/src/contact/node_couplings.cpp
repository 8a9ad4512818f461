// SPDX-License-Identifier: MIT
// Columns of A^-1 at the slots' nodes: one solve gives three, one per axis.
// Source: node_couplings.h.
#include "contact/node_couplings.h"

#include <algorithm>

namespace plush {

bool NodeCouplings::Allocate(const Allocator& allocator, uint32_t num_nodes) {
  const uint32_t capacity = MostTouchingNodes(num_nodes);
  stride = capacity;
  num_slots = 0;
  return values.Allocate(allocator, size_t{capacity} * stride, 0.0f) &&
         slot_of_node.Allocate(allocator, num_nodes, kNoSlot) &&
         node_of_slot.Allocate(allocator, capacity) &&
         used.Allocate(allocator, capacity, uint8_t{0}) &&
         columns.Allocate(allocator, size_t{num_nodes} + 1);
}

void NodeCouplings::Forget() {
  for (uint32_t k = 0; k < num_slots; ++k) slot_of_node[node_of_slot[k]] = kNoSlot;
  num_slots = 0;
  factor_id = 0;
}

void NodeCouplings::AddSlot(uint32_t node) {
  slot_of_node[node] = num_slots;
  node_of_slot[num_slots++] = node;
}

// Keeps the slots in `used`, in their order.
void NodeCouplings::KeepUsed() {
  uint32_t kept = 0;
  for (uint32_t slot = 0; slot < num_slots; ++slot) {
    const uint32_t node = node_of_slot[slot];
    if (used[slot] == 0) {
      slot_of_node[node] = kNoSlot;
      continue;
    }
    // Rows and columns only move towards the first ones, so nothing is overwritten too early.
    float* to = Row(kept);
    const float* from = Row(slot);
    uint32_t column = 0;
    for (uint32_t other = 0; other < num_slots; ++other) {
      if (used[other] != 0) to[column++] = from[other];
    }
    slot_of_node[node] = kept;
    node_of_slot[kept++] = node;
  }
  num_slots = kept;
}

// Finds the values of the slots from `first` on, three at a time: one per axis of a solve.
void NodeCouplings::SolveNew(const FactoredSystem& system, uint32_t first) {
  constexpr float Vec3::*kAxes[3] = {&Vec3::x, &Vec3::y, &Vec3::z};
  for (; first < num_slots; first += 3) {
    const uint32_t count = std::min(num_slots - first, 3u);
    std::fill(columns.begin(), columns.end(), NodeVec());
    for (uint32_t k = 0; k < count; ++k) columns[node_of_slot[first + k]].*kAxes[k] = 1.0f;
    SolvePanels(system.factor, system.workspace, columns.span());
    for (uint32_t k = 0; k < count; ++k) {
      for (uint32_t other = 0; other < num_slots; ++other) {
        const float value = columns[node_of_slot[other]].*kAxes[k];
        Row(first + k)[other] = Row(other)[first + k] = value;
      }
    }
  }
}

void NodeCouplings::Find(const FactoredSystem& system, std::span<const uint32_t> nodes) {
  constexpr uint32_t kSpare = 16;
  if (factor_id != system.id) Forget();
  factor_id = system.id;
  std::fill(used.begin(), used.begin() + num_slots, uint8_t{0});
  uint32_t num_used = 0, num_new = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (i > 0 && nodes[i] == nodes[i - 1]) continue;
    const uint32_t slot = slot_of_node[nodes[i]];
    ++(slot == kNoSlot ? num_new : num_used);
    if (slot != kNoSlot) used[slot] = 1;
  }
  // Each change of an impulse goes to all slots, so unused ones go once they are more than others.
  const uint32_t needed = num_used + num_new;
  if (num_slots + num_new > std::min<size_t>(2 * needed + kSpare, node_of_slot.size())) KeepUsed();
  const uint32_t first = num_slots;
  for (const uint32_t node : nodes) {
    if (slot_of_node[node] == kNoSlot) AddSlot(node);
  }
  SolveNew(system, first);
}

}  // namespace plush
