// SPDX-License-Identifier: MIT
// The constraints of one body: rows without compliance, solved together.
//
// A row i is a direction n_i in which the point w_i has its place. Impulses p_j n_j change its
// distance e_i by (G p)_i, G_ij = n_i.n_j S_ij (point_couplings.h), so p = -G^-1 e makes all
// distances vanish at once. Gauss-Seidel over rows, as springs have it, would take hundreds of
// sweeps where points are close. Rows that depend on others are left out (constraint_projector.h):
// G is positive definite for any set.
#pragma once

#include "plush/allocator.h"

#include "base/array.h"
#include "solver/constraint_projector.h"
#include "touching/contact_problem.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

struct ConstraintBlock {
  struct Row {
    uint32_t point = 0;  ///< in AttachedPoints::points
    Vec3 direction;      ///< unit
  };

  Array<Row> rows;  ///< (3 for each constraint that has room)
  uint32_t num_rows = 0;
  ConstraintProjector projector;  ///< of the rows, on free nodes
  Array<double> factor;           ///< Cholesky's factor of G, by rows [1/kg]
  Array<double> numbers;          ///< scratch memory, one for each row

  bool any() const { return num_rows > 0; }
  std::span<const Row> Current() const { return rows.span().first(num_rows); }
  std::span<double> Numbers() { return numbers.span().first(num_rows); }

  /// Makes room for `count` constraints, and has no rows. Returns false, with nothing changed, if
  /// the allocator fails.
  bool Reserve(const Allocator& allocator, size_t count, size_t num_nodes);

  void Clear() {
    num_rows = 0;
    projector.Clear();
  }

  /// Adds a row, unless it depends on earlier ones. Returns whether it did.
  bool Add(uint32_t index, const EmbeddedPoint& point, const Vec3& direction);

  /// Factors G: value(i, j) is G_ij of two rows, j <= i.
  template <class Value>
  void Factor(const Value& value) {
    constexpr double kLeastPivot = 1.0e-4;  // of the diagonal: couplings are floats
    const size_t n = rows.size();
    for (uint32_t i = 0; i < num_rows; ++i) {
      double* const at = &factor[n * i];
      double pivot = value(i, i);
      const double least = kLeastPivot * pivot;
      for (uint32_t j = 0; j < i; ++j) {
        const double* const before = &factor[n * j];
        double sum = value(i, j);
        for (uint32_t k = 0; k < j; ++k) sum -= at[k] * before[k];
        at[j] = before[j] > 0.0 ? sum / before[j] : 0.0;
        pivot -= at[j] * at[j];
      }
      at[i] = pivot > least ? std::sqrt(pivot) : 0.0;
    }
  }

  /// Numbers() := G^-1 Numbers().
  void Solve();
};

}  // namespace plush
