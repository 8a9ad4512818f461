// SPDX-License-Identifier: MIT
// Held solve through the Schur complement S = E^T A^-1 E of the held rows.
#include "base/vector_math.h"
#include "contact/held_solve.h"

#include <cmath>
#include <cstddef>

namespace plush {
namespace {

constexpr uint32_t kNoSlot = UINT32_MAX;
// A pivot below this fraction of its diagonal marks a row that depends on earlier ones.
constexpr double kDependent = 1.0e-6;

// Solves S lambda = r in place of r by Cholesky, skipping dependent rows (lambda = 0 there).
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

void SolveSystem(const FactoredSystem& system, std::span<Vec3> x) {
  if (system.turns != nullptr) {
    system.turns->Substitute(system.pattern, system.values, x);
  } else {
    Substitute(system.pattern, system.values, x);
  }
}

bool HeldSolveWorkspace::Allocate(const Allocator& allocator, uint32_t num_nodes) {
  num_nodes_ = num_nodes;
  num_slots_ = 0;
  return columns_.Allocate(allocator, size_t{kMaxSchurRows} * num_nodes) &&
         slot_of_node_.Allocate(allocator, num_nodes, kNoSlot) &&
         schur_.Allocate(allocator, size_t{kMaxSchurRows} * kMaxSchurRows) &&
         residual_.Allocate(allocator, num_nodes) && direction_.Allocate(allocator, num_nodes) &&
         preconditioned_.Allocate(allocator, num_nodes) &&
         product_.Allocate(allocator, num_nodes) &&
         held_.Allocate(allocator, size_t{3} * num_nodes);
}

// Column `node` of A^-1, kept from earlier solves with the same factor. A new one takes a free
// slot, or one that the current solve does not use: there are as many slots as rows.
std::span<const float> HeldSolveWorkspace::Column(const FactoredSystem& system, uint32_t node) {
  uint32_t slot = slot_of_node_[node];
  if (slot == kNoSlot) {
    if (num_slots_ < kMaxSchurRows) {
      slot = num_slots_++;
    } else {
      slot = 0;
      while (used_[slot]) ++slot;
      slot_of_node_[node_of_slot_[slot]] = kNoSlot;
    }
    slot_of_node_[node] = slot;
    node_of_slot_[slot] = node;
    const std::span<float> column(&columns_[size_t{slot} * num_nodes_], num_nodes_);
    for (float& value : column) value = 0.0f;
    column[node] = 1.0f;
    Substitute(system.pattern, system.values, column);
  }
  used_[slot] = true;
  return {&columns_[size_t{slot} * num_nodes_], num_nodes_};
}

void SolveHeldSchur(const FactoredSystem& system, std::span<const Vec3> b, std::span<HeldRow> rows,
                    HeldSolveWorkspace* workspace, std::span<Vec3> d) {
  HeldSolveWorkspace& w = *workspace;
  if (w.factor_id_ != system.id) {
    for (uint32_t slot = 0; slot < w.num_slots_; ++slot) {
      w.slot_of_node_[w.node_of_slot_[slot]] = kNoSlot;
    }
    w.num_slots_ = 0;
    w.factor_id_ = system.id;
  }
  // Mark what is already there before any slot is given away.
  for (bool& used : w.used_) used = false;
  for (const HeldRow& row : rows) {
    if (w.slot_of_node_[row.node] != kNoSlot) w.used_[w.slot_of_node_[row.node]] = true;
  }
  const uint32_t n = static_cast<uint32_t>(rows.size());
  double multipliers[kMaxSchurRows];
  for (uint32_t j = 0; j < n; ++j) {
    const std::span<const float> column = w.Column(system, rows[j].node);
    for (uint32_t i = 0; i < n; ++i) {
      w.schur_[i * n + j] =
          double(Dot(rows[i].direction, rows[j].direction)) * double(column[rows[i].node]);
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
