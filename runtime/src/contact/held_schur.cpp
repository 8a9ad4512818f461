// SPDX-License-Identifier: MIT
// SolveHeldSchur: held solve through the Schur complement S = E^T A^-1 E of the held rows.
// Couplings between held nodes are cached by slot. Source: held_solve.h.
#include "base/vector_math.h"
#include "contact/held_solve.h"
#include "solver/pin_schur.h"

#include <algorithm>
#include <cstddef>

namespace plush {
namespace {

constexpr uint32_t kNoSlot = UINT32_MAX;
// Least pivot of an independent row, as a share of its diagonal.
constexpr double kDependent = 1.0e-6;

float& Coupling(HeldSolveWorkspace* w, uint32_t slot, uint32_t other) {
  return w->couplings[size_t{slot} * kMaxSchurRows + other];
}

// Gives a node a free slot, or one that the current solve does not use. There are as many slots as
// rows, so one exists.
uint32_t TakeSlot(uint32_t node, HeldSolveWorkspace* w) {
  uint32_t slot = 0;
  if (w->num_slots < kMaxSchurRows) {
    slot = w->AddSlot(node);
  } else {
    slot = static_cast<uint32_t>(std::find(w->used, w->used + kMaxSchurRows, false) - w->used);
    w->slot_of_node[w->node_of_slot[slot]] = kNoSlot;
    w->slot_of_node[node] = slot;
    w->node_of_slot[slot] = node;
  }
  w->used[slot] = true;
  return slot;
}

// Computes the couplings of up to three slots with all slots: one solve gives three columns of
// A^-1, one per axis. Whole columns would be too large to keep.
void SolveColumns(const FactoredSystem& system, std::span<const uint32_t> slots,
                  HeldSolveWorkspace* w) {
  constexpr float Vec3::*kAxes[3] = {&Vec3::x, &Vec3::y, &Vec3::z};
  const std::span<NodeVec> x = w->residual.span();
  std::fill(x.begin(), x.end(), NodeVec());
  for (size_t k = 0; k < slots.size(); ++k) x[w->node_of_slot[slots[k]]].*kAxes[k] = 1.0f;
  SolvePanels(system.factor, system.workspace, x);
  for (size_t k = 0; k < slots.size(); ++k) {
    for (uint32_t other = 0; other < w->num_slots; ++other) {
      const float entry = x[w->node_of_slot[other]].*kAxes[k];
      Coupling(w, slots[k], other) = Coupling(w, other, slots[k]) = entry;
    }
  }
}

// Computes the couplings of the rows' nodes that are not cached from earlier solves with the
// factor.
void FindCouplings(const FactoredSystem& system, std::span<const HeldRow> rows,
                   HeldSolveWorkspace* w) {
  if (w->factor_id != system.id) {
    w->Forget();
    w->factor_id = system.id;
  }
  // Mark all slots that are needed before reusing one.
  std::fill(w->used, w->used + kMaxSchurRows, false);
  for (const HeldRow& row : rows) {
    const uint32_t slot = w->slot_of_node[row.node];
    if (slot != kNoSlot) w->used[slot] = true;
  }
  uint32_t slots[3];
  size_t count = 0;
  for (const HeldRow& row : rows) {
    if (w->slot_of_node[row.node] != kNoSlot) continue;
    slots[count++] = TakeSlot(row.node, w);
    if (count < 3) continue;
    SolveColumns(system, slots, w);
    count = 0;
  }
  if (count > 0) SolveColumns(system, {slots, count}, w);
}

}  // namespace

bool HeldSolveWorkspace::Allocate(const Allocator& allocator, uint32_t num_nodes) {
  const size_t with_spare = size_t{num_nodes} + 1;
  num_slots = 0;
  return couplings.Allocate(allocator, size_t{kMaxSchurRows} * kMaxSchurRows) &&
         slot_of_node.Allocate(allocator, num_nodes, kNoSlot) &&
         schur.Allocate(allocator, size_t{kMaxSchurRows} * kMaxSchurRows) &&
         residual.Allocate(allocator, with_spare) && direction.Allocate(allocator, with_spare) &&
         preconditioned.Allocate(allocator, with_spare) &&
         product.Allocate(allocator, with_spare) && held.Allocate(allocator, size_t{3} * num_nodes);
}

void HeldSolveWorkspace::Forget() {
  for (uint32_t k = 0; k < num_slots; ++k) slot_of_node[node_of_slot[k]] = kNoSlot;
  num_slots = 0;
  factor_id = 0;
}

uint32_t HeldSolveWorkspace::AddSlot(uint32_t node) {
  slot_of_node[node] = num_slots;
  node_of_slot[num_slots] = node;
  return num_slots++;
}

void SolveHeldSchur(const FactoredSystem& system, std::span<const NodeVec> b,
                    std::span<HeldRow> rows, HeldSolveWorkspace* workspace, std::span<NodeVec> d) {
  HeldSolveWorkspace& w = *workspace;
  FindCouplings(system, rows, &w);
  const uint32_t n = static_cast<uint32_t>(rows.size());
  double multipliers[kMaxSchurRows];
  for (uint32_t j = 0; j < n; ++j) {
    const uint32_t slot = w.slot_of_node[rows[j].node];
    for (uint32_t i = 0; i < n; ++i) {
      w.schur[i * n + j] = double(Dot(rows[i].direction, rows[j].direction)) *
                           double(Coupling(&w, slot, w.slot_of_node[rows[i].node]));
    }
    w.schur[j * n + j] += double(rows[j].compliance);
    multipliers[j] = double(rows[j].target) - double(Dot(rows[j].direction, d[rows[j].node]));
  }
  FactorCholesky(kDependent, n, w.schur.data());
  SolveCholesky(w.schur.data(), n, multipliers);
  for (size_t i = 0; i < d.size(); ++i) d[i] = b[i];
  for (uint32_t j = 0; j < n; ++j) {
    rows[j].multiplier = multipliers[j];
    d[rows[j].node] += rows[j].direction * static_cast<float>(multipliers[j]);
  }
  SolvePanels(system.factor, system.workspace, d);
}

}  // namespace plush
