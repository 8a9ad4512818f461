// SPDX-License-Identifier: MIT
// Source: constraint_block.h.
#include "contact/constraint_block.h"

#include "base/vector_math.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace plush {

bool ConstraintBlock::Reserve(const Allocator& allocator, size_t count, size_t num_nodes) {
  if (3 * count <= rows.size()) return true;
  const size_t capacity = std::max(3 * count, 2 * rows.size());
  const size_t most_nodes = std::min(4 * (capacity / 3), num_nodes);
  Array<Row> more_rows;
  Array<double> more_factor, more_numbers;
  if (!more_rows.Allocate(allocator, capacity) ||
      !more_factor.Allocate(allocator, capacity * capacity, 0.0) ||
      !more_numbers.Allocate(allocator, capacity, 0.0) ||
      !projector.Reserve(allocator, capacity, most_nodes, num_nodes)) {
    return false;
  }
  rows = std::move(more_rows);
  factor = std::move(more_factor);
  numbers = std::move(more_numbers);
  num_rows = 0;
  return true;
}

bool ConstraintBlock::Add(uint32_t index, const EmbeddedPoint& point, const Vec3& direction) {
  ConstraintRow row = {.direction = direction};
  std::copy(point.nodes, point.nodes + 4, row.nodes);
  for (int k = 0; k < 4; ++k) row.weights[k] = point.Free(k);
  if (!projector.Add(row)) return false;
  rows[num_rows++] = {index, direction};
  return true;
}

void ConstraintBlock::Solve() {
  const size_t n = rows.size();
  for (uint32_t i = 0; i < num_rows; ++i) {
    double sum = numbers[i];
    for (uint32_t j = 0; j < i; ++j) sum -= factor[n * i + j] * numbers[j];
    const double pivot = factor[n * i + i];
    numbers[i] = pivot > 0.0 ? sum / pivot : 0.0;
  }
  for (uint32_t i = num_rows; i-- > 0;) {
    double sum = numbers[i];
    for (uint32_t j = i + 1; j < num_rows; ++j) sum -= factor[n * j + i] * numbers[j];
    const double pivot = factor[n * i + i];
    numbers[i] = pivot > 0.0 ? sum / pivot : 0.0;
  }
}

}  // namespace plush
