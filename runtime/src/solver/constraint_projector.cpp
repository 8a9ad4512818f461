// SPDX-License-Identifier: MIT
// Source: constraint_projector.h.
#include "solver/constraint_projector.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace plush {

bool ConstraintProjector::Reserve(const Allocator& allocator, size_t num_rows, size_t most_nodes,
                                  size_t num_nodes) {
  Array<Entry> entries;
  Array<size_t> first;
  Array<double> mix, row;
  Array<uint8_t> is_in;
  Array<uint32_t> nodes;
  if (!entries.Allocate(allocator, num_rows * most_nodes) ||
      !first.Allocate(allocator, num_rows + 1, 0) ||
      !mix.Allocate(allocator, num_rows * num_rows, 0.0) ||
      !row.Allocate(allocator, 3 * num_nodes, 0.0) || !is_in.Allocate(allocator, num_nodes, 0) ||
      !nodes.Allocate(allocator, num_nodes, 0)) {
    return false;
  }
  entries_ = std::move(entries);
  first_ = std::move(first);
  mix_ = std::move(mix);
  row_ = std::move(row);
  is_in_ = std::move(is_in);
  nodes_ = std::move(nodes);
  capacity_ = num_rows;
  num_rows_ = 0;
  return true;
}

bool ConstraintProjector::Add(const ConstraintRow& added) {
  constexpr int kPasses = 2;  // the second one removes what rounding left
  size_t num_nodes = 0;
  const auto add = [&](uint32_t node, double x, double y, double z) {
    if (is_in_[node] == 0) nodes_[num_nodes++] = node;
    is_in_[node] = 1;
    row_[3 * size_t{node}] += x;
    row_[3 * size_t{node} + 1] += y;
    row_[3 * size_t{node} + 2] += z;
  };
  const auto length = [&] {
    double sum = 0.0;
    for (size_t k = 0; k < num_nodes; ++k) {
      for (size_t c = 0; c < 3; ++c) {
        const double value = row_[3 * size_t{nodes_[k]} + c];
        sum += value * value;
      }
    }
    return std::sqrt(sum);
  };
  for (int k = 0; k < 4; ++k) {
    const double w = added.weights[k];
    if (w == 0.0) continue;
    add(added.nodes[k], w * double(added.direction.x), w * double(added.direction.y),
        w * double(added.direction.z));
  }
  const double whole = length();
  double* const mix = &mix_[capacity_ * num_rows_];
  std::fill(mix, mix + num_rows_, 0.0);
  for (int pass = 0; pass < kPasses; ++pass) {
    for (size_t i = 0; i < num_rows_; ++i) {
      double along = 0.0;
      for (const Entry& entry : Row(i)) {
        const double* at = &row_[3 * size_t{entry.node}];
        along += entry.at[0] * at[0] + entry.at[1] * at[1] + entry.at[2] * at[2];
      }
      if (along == 0.0) continue;
      for (const Entry& entry : Row(i)) {
        add(entry.node, -along * entry.at[0], -along * entry.at[1], -along * entry.at[2]);
      }
      for (size_t j = 0; j <= i; ++j) mix[j] -= along * mix_[capacity_ * i + j];
    }
  }
  const double left = length();
  const bool is_new = left > kLeastShare * whole;
  if (is_new) {
    size_t end = first_[num_rows_];
    for (size_t k = 0; k < num_nodes; ++k) {
      const double* at = &row_[3 * size_t{nodes_[k]}];
      entries_[end++] = {{at[0] / left, at[1] / left, at[2] / left}, nodes_[k]};
    }
    for (size_t j = 0; j < num_rows_; ++j) mix[j] /= left;
    mix[num_rows_] = 1.0 / left;
    first_[++num_rows_] = end;
  }
  for (size_t k = 0; k < num_nodes; ++k) {
    is_in_[nodes_[k]] = 0;
    std::fill_n(&row_[3 * size_t{nodes_[k]}], 3, 0.0);
  }
  return is_new;
}

void ConstraintProjector::Project(std::span<NodeVec> v, std::span<double> lengths) const {
  for (size_t i = 0; i < num_rows_; ++i) {
    double along = 0.0;
    for (const Entry& entry : Row(i)) {
      const NodeVec& at = v[entry.node];
      along += entry.at[0] * double(at.x) + entry.at[1] * double(at.y) + entry.at[2] * double(at.z);
    }
    lengths[i] = along;
  }
  for (size_t i = 0; i < num_rows_; ++i) {
    const double along = lengths[i];
    for (const Entry& entry : Row(i)) {
      NodeVec& at = v[entry.node];
      at.x = static_cast<float>(double(at.x) - along * entry.at[0]);
      at.y = static_cast<float>(double(at.y) - along * entry.at[1]);
      at.z = static_cast<float>(double(at.z) - along * entry.at[2]);
    }
  }
}

void ConstraintProjector::FindMultipliers(std::span<double> lengths) const {
  for (size_t j = 0; j < num_rows_; ++j) {
    double sum = 0.0;
    for (size_t i = j; i < num_rows_; ++i) sum += mix_[capacity_ * i + j] * lengths[i];
    lengths[j] = sum;
  }
}

}  // namespace plush
