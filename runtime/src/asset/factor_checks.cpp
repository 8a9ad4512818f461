// SPDX-License-Identifier: MIT
// Checks the factor's structure, on which the solver and a numeric refactoring rely.
// Based on:
// Joseph W. H. Liu. The Role of Elimination Trees in Sparse Factorization. 1990
// Esmond Ng, Barry Peyton. Block Sparse Cholesky Algorithms on Advanced Uniprocessor Computers.
// 1993
//
// A supernode updates the entries between all pairs of its rows. Its parent is the supernode whose
// columns include the first of these rows. Required: each of its rows is a column or a row of the
// parent. Then
// - every pair with a row among the parent's columns is stored in the parent;
// - every other pair is a pair of the parent's rows.
// By induction, every update of the elimination hits a stored entry.

#include "plush/format/factor_panels.h"

#include "asset/asset_checks.h"

#include <algorithm>

namespace plush {
namespace {

uint32_t EndColumn(const Supernode& s) { return s.first_column + s.num_columns; }

std::span<const uint32_t> RowsOf(const FactorView& factor, const Supernode& s) {
  return factor.rows.subspan(s.first_row, s.num_rows);
}

// Checks the numbers of columns and rows, and that num_free does not split the columns.
bool CheckShape(const Supernode& s, size_t index, uint64_t num_nodes, uint64_t num_free,
                CheckSink* sink) {
  const char* section = "factor.supernodes";
  const uint64_t end = uint64_t{s.first_column} + s.num_columns;
  if (s.num_columns < 1 || s.num_columns > kMaxSupernodeColumns) {
    sink->Fail(CheckKind::kRange, section, "the supernode does not have 1 to 32 columns", index);
  } else if (end > num_nodes) {
    sink->Fail(CheckKind::kIndex, section, "a column is not below the number of nodes", index);
  } else if (s.num_rows > num_nodes) {
    sink->Fail(CheckKind::kRange, section, "the supernode has more rows than nodes", index);
  } else if (s.first_column < num_free && end > num_free) {
    sink->Fail(CheckKind::kOrder, section, "the supernode has columns on both sides of num_free",
               index);
  } else {
    return true;
  }
  return false;
}

// Runs of rows and values must follow one another; sums have 64 bits. Stops at the first failure,
// because later positions depend on it.
bool CheckRuns(const FactorView& factor, uint64_t num_nodes, CheckSink* sink) {
  const char* section = "factor.supernodes";
  uint64_t num_columns = 0;
  uint64_t num_rows = 0;
  uint64_t num_values = 0;
  for (size_t i = 0; i < factor.supernodes.size(); ++i) {
    const Supernode& s = factor.supernodes[i];
    if (!CheckShape(s, i, num_nodes, factor.num_free, sink)) return false;
    if (s.first_row != num_rows || s.first_value != num_values) {
      sink->Fail(CheckKind::kOrder, section, "a run does not start where the last one ends", i);
      return false;
    }
    num_columns += s.num_columns;
    num_rows += PaddedRows(s.num_rows);
    num_values += uint64_t{PaddedRows(s.num_rows) + PaddedRows(s.num_columns)} * s.num_columns;
  }
  const uint64_t before = sink->num_failures();
  const auto check = [&](uint64_t sum, uint64_t size, const char* failing, const char* reason) {
    if (sum != size && !sink->stopped()) sink->Fail(CheckKind::kCounts, failing, reason);
  };
  check(num_columns, num_nodes, section, "the supernodes do not have as many columns as nodes");
  check(num_rows, factor.rows.size(), "factor.rows", "not as many as the supernodes have");
  check(num_values, factor.values.size(), "factor.values", "not as many as the supernodes have");
  return sink->num_failures() == before;
}

// Every column must name the supernode that contains it. CheckRuns has shown that the supernodes
// have as many columns as nodes, so no column is in two of them.
bool CheckOwners(const FactorView& factor, CheckSink* sink) {
  const uint64_t before = sink->num_failures();
  for (size_t i = 0; i < factor.supernodes.size(); ++i) {
    const Supernode& s = factor.supernodes[i];
    for (uint32_t c = s.first_column; c < EndColumn(s) && !sink->stopped(); ++c) {
      if (factor.supernode_of[c] == i) continue;
      sink->Fail(CheckKind::kOrder, "factor.supernode_of", "a column names another supernode", c);
    }
  }
  return sink->num_failures() == before;
}

void CheckRow(const FactorView& factor, size_t supernode, uint32_t place, CheckSink* sink) {
  const Supernode& s = factor.supernodes[supernode];
  const uint32_t row = factor.rows[place];
  const uint32_t last = place == s.first_row ? EndColumn(s) - 1 : factor.rows[place - 1];
  if (row >= factor.supernode_of.size()) {
    sink->Fail(CheckKind::kIndex, "factor.rows", "a row is not below the number of nodes", place);
  } else if (row <= last) {
    sink->Fail(CheckKind::kOrder, "factor.rows",
               "the rows do not ascend from the columns of their supernode", place);
  } else if (factor.supernode_of[row] <= supernode) {
    sink->Fail(CheckKind::kOrder, "factor.supernodes",
               "a supernode comes after one that has its rows", supernode);
  }
}

bool CheckRows(const FactorView& factor, CheckSink* sink) {
  const uint64_t before = sink->num_failures();
  for (size_t i = 0; i < factor.supernodes.size(); ++i) {
    const Supernode& s = factor.supernodes[i];
    const uint32_t end = s.first_row + s.num_rows;
    for (uint32_t k = s.first_row; k < end && !sink->stopped(); ++k) CheckRow(factor, i, k, sink);
    for (uint32_t k = end; k < s.first_row + PaddedRows(s.num_rows) && !sink->stopped(); ++k) {
      if (factor.rows[k] == factor.supernode_of.size()) continue;
      sink->Fail(CheckKind::kIndex, "factor.rows", "the padding is not the number of nodes", k);
    }
  }
  return sink->num_failures() == before;
}

// Whether the missing rows of a dense block are zero.
bool IsPaddingZero(std::span<const float> block, uint32_t num_rows, uint32_t num_columns) {
  for (uint32_t column = 0; column < num_columns; ++column) {
    for (uint32_t row = num_rows; row < PaddedRows(num_rows); ++row) {
      if (block[BlockIndex(num_rows, num_columns, row, column)] != 0.0f) return false;
    }
  }
  return true;
}

void CheckPanel(const FactorView& factor, size_t index, CheckSink* sink) {
  const Supernode& s = factor.supernodes[index];
  const auto below = factor.values.subspan(s.first_value, BlockValues(s.num_rows, s.num_columns));
  const size_t diagonal_start = s.first_value + below.size();
  const auto diagonal =
      factor.values.subspan(diagonal_start, BlockValues(s.num_columns, s.num_columns));
  if (!IsPaddingZero(below, s.num_rows, s.num_columns) ||
      !IsPaddingZero(diagonal, s.num_columns, s.num_columns)) {
    sink->Fail(CheckKind::kRange, "factor.supernodes", "a missing row is not zero", index);
  }
  for (uint32_t c = 0; c < s.num_columns && !sink->stopped(); ++c) {
    const size_t place = BlockIndex(s.num_columns, s.num_columns, c, c);
    if (diagonal[place] < kMinPositive) {
      sink->Fail(CheckKind::kRange, "factor.values", "a diagonal entry is not positive",
                 diagonal_start + place);
    }
  }
}

void CheckValues(const FactorView& factor, CheckSink* sink) {
  CheckNumbers(factor.values, 1, -kMaxFactor, kMaxFactor, "factor.values", sink);
  for (size_t i = 0; i < factor.supernodes.size() && !sink->stopped(); ++i) {
    CheckPanel(factor, i, sink);
  }
}

// Whether the ascending `whole` contains the ascending `part`. O(part log whole); linear if they
// have the same length.
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

// Whether those of the ascending `nodes` that are not columns of `s` are among its rows.
bool Holds(const FactorView& factor, const Supernode& s, std::span<const uint32_t> nodes) {
  const auto beyond = std::lower_bound(nodes.begin(), nodes.end(), EndColumn(s));
  return Contains(RowsOf(factor, s), {beyond, nodes.end()});
}

void CheckFill(const FactorView& factor, CheckSink* sink) {
  for (size_t i = 0; i < factor.supernodes.size() && !sink->stopped(); ++i) {
    const std::span<const uint32_t> rows = RowsOf(factor, factor.supernodes[i]);
    if (rows.size() < 2) continue;
    const uint32_t parent = factor.supernode_of[rows[0]];
    if (!Holds(factor, factor.supernodes[parent], rows)) {
      sink->Fail(CheckKind::kFactor, "factor.rows", "a supernode lacks fill of an earlier one",
                 parent);
    }
  }
}

void CheckTetPattern(const AssetLayout& layout, CheckSink* sink) {
  const FactorView& factor = layout.factor;
  const std::span<const Tet> tets = layout.simulation.tets;
  for (size_t i = 0; i < tets.size() && !sink->stopped(); ++i) {
    if (!IsSound(tets[i], layout.simulation.nodes.size())) continue;  // has been reported before
    uint32_t nodes[4] = {tets[i].a, tets[i].b, tets[i].c, tets[i].d};
    std::sort(nodes, nodes + 4);
    for (size_t k = 0; k < 3; ++k) {
      const Supernode& s = factor.supernodes[factor.supernode_of[nodes[k]]];
      if (Holds(factor, s, std::span(nodes).subspan(k + 1))) continue;
      sink->Fail(CheckKind::kFactor, "factor.rows", "a tet's pair of nodes has no entry", i);
      break;
    }
  }
}

}  // namespace

void CheckFactor(const AssetLayout& layout, CheckSink* sink) {
  const FactorView& factor = layout.factor;
  const size_t num_nodes = layout.simulation.nodes.size();
  CheckNumbers({&factor.dt, 1}, 1, kMinTimeStep, kMaxTimeStep, "factor.dt", sink);
  if (sink->stopped()) return;
  if (factor.num_free > num_nodes &&
      !sink->Fail(CheckKind::kIndex, "factor.num_free", "more than there are nodes")) {
    return;
  }
  if (!CheckRuns(factor, num_nodes, sink)) return;
  CheckValues(factor, sink);
  if (sink->stopped() || !CheckOwners(factor, sink) || !CheckRows(factor, sink)) return;
  CheckFill(factor, sink);
  CheckTetPattern(layout, sink);
}

}  // namespace plush
