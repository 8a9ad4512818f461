// SPDX-License-Identifier: MIT
// SolveHeldSchur: held solve through the Schur complement S = E^T A^-1 E of the held rows.
// Couplings between held nodes are cached by slot. Source: see held_solve.h.
#include "base/vector_math.h"
#include "contact/held_solve.h"

#include <cmath>
#include <cstddef>

namespace plush {
namespace {

constexpr uint32_t kNoSlot = UINT32_MAX;
// A pivot below this fraction of its diagonal marks a row that depends on earlier ones.
constexpr double kDependent = 1.0e-6;

// Solves S lambda = r in place of r by Cholesky. Skips dependent rows, whose lambda becomes 0.
void SolveDense(double* S, double* r, uint32_t n) {
  for (uint32_t j = 0; j < n; ++j) {
    const double diagonal = S[j * n + j];
    double pivot = diagonal;
    for (uint32_t k = 0; k < j; ++k) pivot -= S[j * n + k] * S[j * n + k];
    const bool independent = pivot > kDependent * diagonal && diagonal > 0.0;
    const double root = independent ? std::sqrt(pivot) : 0.0;
    S[j * n + j] = root;
    for (uint32_t i = j + 1; i < n; ++i) {
      double sum = S[i * n + j];
      for (uint32_t k = 0; k < j; ++k) sum -= S[i * n + k] * S[j * n + k];
      S[i * n + j] = independent ? sum / root : 0.0;
    }
  }
  for (uint32_t j = 0; j < n; ++j) {
    double sum = r[j];
    for (uint32_t k = 0; k < j; ++k) sum -= S[j * n + k] * r[k];
    r[j] = S[j * n + j] > 0.0 ? sum / S[j * n + j] : 0.0;
  }
  for (uint32_t j = n; j-- > 0;) {
    double sum = r[j];
    for (uint32_t i = j + 1; i < n; ++i) sum -= S[i * n + j] * r[i];
    r[j] = S[j * n + j] > 0.0 ? sum / S[j * n + j] : 0.0;
  }
}

}  // namespace

void SolveSystem(const FactoredSystem& system, std::span<NodeVec> x) {
  if (system.turns != nullptr) {
    system.turns->Substitute(system.factor, system.workspace, x);
  } else {
    SolvePanels(system.factor, system.workspace, x);
  }
}

bool HeldSolveWorkspace::Allocate(const Allocator& allocator, uint32_t num_nodes) {
  const size_t with_spare = size_t{num_nodes} + 1;
  num_slots_ = 0;
  return couplings_.Allocate(allocator, size_t{kMaxSchurRows} * kMaxSchurRows) &&
         slot_of_node_.Allocate(allocator, num_nodes, kNoSlot) &&
         schur_.Allocate(allocator, size_t{kMaxSchurRows} * kMaxSchurRows) &&
         residual_.Allocate(allocator, with_spare) && direction_.Allocate(allocator, with_spare) &&
         preconditioned_.Allocate(allocator, with_spare) &&
         product_.Allocate(allocator, with_spare) &&
         held_.Allocate(allocator, size_t{3} * num_nodes);
}

// Returns a free slot for a node, or one that the current solve does not use. One exists, because
// there are as many slots as rows.
uint32_t HeldSolveWorkspace::TakeSlot(uint32_t node) {
  uint32_t slot = num_slots_;
  if (num_slots_ < kMaxSchurRows) {
    ++num_slots_;
  } else {
    slot = 0;
    while (used_[slot]) ++slot;
    slot_of_node_[node_of_slot_[slot]] = kNoSlot;
  }
  slot_of_node_[node] = slot;
  node_of_slot_[slot] = node;
  used_[slot] = true;
  return slot;
}

// Computes the couplings of up to three slots with all slots in use. One solve gives three columns
// of A^-1, one per axis. Only the couplings are kept: a whole column has num_nodes numbers.
void HeldSolveWorkspace::SolveColumns(const FactoredSystem& system,
                                      std::span<const uint32_t> slots) {
  constexpr float Vec3::*kAxes[3] = {&Vec3::x, &Vec3::y, &Vec3::z};
  for (NodeVec& x : residual_) x = NodeVec();
  for (size_t k = 0; k < slots.size(); ++k) residual_[node_of_slot_[slots[k]]].*kAxes[k] = 1.0f;
  SolvePanels(system.factor, system.workspace, residual_.span());
  for (size_t k = 0; k < slots.size(); ++k) {
    for (uint32_t other = 0; other < num_slots_; ++other) {
      const float entry = residual_[node_of_slot_[other]].*kAxes[k];
      Coupling(slots[k], other) = Coupling(other, slots[k]) = entry;
    }
  }
}

// Computes the couplings of the rows' nodes, unless they are cached from an earlier solve with the
// same factor.
void HeldSolveWorkspace::FindCouplings(const FactoredSystem& system,
                                       std::span<const HeldRow> rows) {
  if (factor_id_ != system.id) {
    for (uint32_t slot = 0; slot < num_slots_; ++slot) slot_of_node_[node_of_slot_[slot]] = kNoSlot;
    num_slots_ = 0;
    factor_id_ = system.id;
  }
  // Mark the slots that are needed before reusing any.
  for (bool& used : used_) used = false;
  for (const HeldRow& row : rows) {
    if (slot_of_node_[row.node] != kNoSlot) used_[slot_of_node_[row.node]] = true;
  }
  uint32_t slots[3];
  size_t count = 0;
  for (const HeldRow& row : rows) {
    if (slot_of_node_[row.node] != kNoSlot) continue;
    slots[count++] = TakeSlot(row.node);
    if (count < 3) continue;
    SolveColumns(system, slots);
    count = 0;
  }
  if (count > 0) SolveColumns(system, {slots, count});
}

void SolveHeldSchur(const FactoredSystem& system, std::span<const NodeVec> b,
                    std::span<HeldRow> rows, HeldSolveWorkspace* workspace, std::span<NodeVec> d) {
  HeldSolveWorkspace& w = *workspace;
  w.FindCouplings(system, rows);
  const uint32_t n = static_cast<uint32_t>(rows.size());
  double multipliers[kMaxSchurRows];
  for (uint32_t j = 0; j < n; ++j) {
    const uint32_t slot = w.slot_of_node_[rows[j].node];
    for (uint32_t i = 0; i < n; ++i) {
      w.schur_[i * n + j] = double(Dot(rows[i].direction, rows[j].direction)) *
                            double(w.Coupling(slot, w.slot_of_node_[rows[i].node]));
      if (system.turns == nullptr) continue;
      w.schur_[i * n + j] += double(
          system.turns->Coupling(rows[i].node, rows[i].direction, rows[j].node, rows[j].direction));
    }
    w.schur_[j * n + j] += double(rows[j].compliance);
    multipliers[j] = double(rows[j].target) - double(Dot(rows[j].direction, d[rows[j].node]));
  }
  SolveDense(w.schur_.data(), multipliers, n);
  for (size_t i = 0; i < d.size(); ++i) d[i] = b[i];
  for (uint32_t j = 0; j < n; ++j) {
    rows[j].multiplier = multipliers[j];
    d[rows[j].node] += rows[j].direction * static_cast<float>(multipliers[j]);
  }
  SolveSystem(system, d);
}

}  // namespace plush
