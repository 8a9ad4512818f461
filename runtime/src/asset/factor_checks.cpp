// SPDX-License-Identifier: MIT
// The factor's structure, as the solver and a numeric refactoring rely on it.
//
// Based on:
// Joseph W. H. Liu. The Role of Elimination Trees in Sparse Factorization. 1990
//
// Column j of a Cholesky factor updates the columns of its rows. If every column's rows below the
// first are rows of that first one's column (its parent in the elimination tree), then by induction
// every update of the elimination lands on a stored entry.

#include "asset/asset_checks.h"
#include "asset/asset_limits.h"

#include <algorithm>
#include <utility>

namespace plush {
namespace {

std::span<const uint32_t> Column(const FactorView& factor, size_t j) {
  const uint32_t start = factor.column_starts[j];
  return factor.rows.subspan(start, factor.column_starts[j + 1] - start);
}

// Columns lie one after another and have at least their diagonal.
bool CheckColumnStarts(const FactorView& factor, CheckSink* sink) {
  const char* section = "factor.column_starts";
  const std::span<const uint32_t> starts = factor.column_starts;
  const uint64_t before = sink->num_failures();
  if (starts.front() != 0) sink->Fail(CheckKind::kOrder, section, "the first column is not at 0");
  for (size_t j = 1; j < starts.size() && !sink->stopped(); ++j) {
    if (starts[j] <= starts[j - 1]) {
      sink->Fail(CheckKind::kOrder, section, "the starts do not ascend", j);
    }
  }
  if (starts.back() != factor.rows.size() && !sink->stopped()) {
    sink->Fail(CheckKind::kCounts, section, "the columns do not cover the rows", starts.size() - 1);
  }
  return sink->num_failures() == before;
}

bool CheckRows(const FactorView& factor, CheckSink* sink) {
  const size_t num_columns = factor.column_starts.size() - 1;
  const uint64_t before = sink->num_failures();
  for (size_t j = 0; j < num_columns && !sink->stopped(); ++j) {
    const std::span<const uint32_t> rows = Column(factor, j);
    if (rows.front() != j) {
      sink->Fail(CheckKind::kOrder, "factor.rows", "a column does not start with its diagonal", j);
      continue;
    }
    for (size_t k = 1; k < rows.size() && !sink->stopped(); ++k) {
      if (rows[k] >= num_columns) {
        sink->Fail(CheckKind::kIndex, "factor.rows", "a row is not below the number of nodes", j);
      } else if (rows[k] <= rows[k - 1]) {
        sink->Fail(CheckKind::kOrder, "factor.rows", "the rows of a column do not ascend", j);
      }
    }
  }
  return sink->num_failures() == before;
}

void CheckValues(const FactorView& factor, CheckSink* sink) {
  CheckNumbers(factor.values, 1, -kMaxFactor, kMaxFactor, "factor.values", sink);
  for (size_t j = 0; j + 1 < factor.column_starts.size() && !sink->stopped(); ++j) {
    const float diagonal = factor.values[factor.column_starts[j]];
    if (diagonal < kMinPositive) {
      sink->Fail(CheckKind::kRange, "factor.values", "a diagonal entry is not positive",
                 factor.column_starts[j]);
    }
  }
}

// Whether the ascending `part` is contained in the ascending `whole`. O(part log whole), linear
// where they are equal, as within the supernodes of a factor.
bool Contains(std::span<const uint32_t> whole, std::span<const uint32_t> part) {
  if (part.size() == whole.size()) return std::equal(part.begin(), part.end(), whole.begin());
  auto from = whole.begin();
  for (const uint32_t row : part) {
    from = std::lower_bound(from, whole.end(), row);
    if (from == whole.end() || *from != row) return false;
    ++from;
  }
  return true;
}

void CheckFill(const FactorView& factor, CheckSink* sink) {
  for (size_t j = 0; j + 1 < factor.column_starts.size() && !sink->stopped(); ++j) {
    const std::span<const uint32_t> rows = Column(factor, j);
    if (rows.size() <= 2) continue;
    if (!Contains(Column(factor, rows[1]).subspan(1), rows.subspan(2))) {
      sink->Fail(CheckKind::kFactor, "factor.rows", "a column lacks fill of an earlier one",
                 rows[1]);
    }
  }
}

void CheckTetPattern(const AssetLayout& layout, CheckSink* sink) {
  const std::span<const Tet> tets = layout.simulation.tets;
  for (size_t i = 0; i < tets.size() && !sink->stopped(); ++i) {
    uint32_t nodes[4] = {tets[i].a, tets[i].b, tets[i].c, tets[i].d};
    std::sort(nodes, nodes + 4);
    for (int k = 0; k < 3; ++k) {
      const std::span<const uint32_t> others(nodes + k + 1, static_cast<size_t>(3 - k));
      if (Contains(Column(layout.factor, nodes[k]).subspan(1), others)) continue;
      sink->Fail(CheckKind::kFactor, "factor.rows", "a tet's pair of nodes has no entry", i);
      break;
    }
  }
}

}  // namespace

void CheckFactor(const AssetLayout& layout, CheckSink* sink) {
  const FactorView& factor = layout.factor;
  CheckNumbers({&factor.dt, 1}, 1, kMinTimeStep, kMaxTimeStep, "factor.dt", sink);
  if (sink->stopped() || !CheckColumnStarts(factor, sink)) return;
  CheckValues(factor, sink);
  if (sink->stopped() || !CheckRows(factor, sink)) return;
  CheckFill(factor, sink);
  // Tets with a wrong index have been reported by CheckSimulation.
  const size_t num_nodes = layout.simulation.nodes.size();
  for (const Tet& t : layout.simulation.tets) {
    if (t.a >= num_nodes || t.b >= num_nodes || t.c >= num_nodes || t.d >= num_nodes) return;
  }
  CheckTetPattern(layout, sink);
}

}  // namespace plush
