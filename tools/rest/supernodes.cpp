// SPDX-License-Identifier: MIT
// Merges columns of the factor into supernodes by the modelled cost of a solve.
// Based on:
// Cleve Ashcraft, Roger Grimes. The Influence of Relaxed Supernode Partitions on the Multifrontal
//   Method. 1989 (supernodes that store zeros; they merge while few zeros arise, this file by cost)
// Joseph Liu, Esmond Ng, Barry Peyton. On Finding Supernodes for Sparse Matrix Computations. 1993
#include "rest/supernodes.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

namespace plush::tools {
namespace {

// Most stored numbers per non-zero, 11 / 5: factors of large cages are read from memory.
constexpr uint64_t kMaxStoredNumerator = 11;
constexpr uint64_t kMaxStoredDenominator = 5;

// Cycles of a solve, with 16 lanes.
constexpr uint64_t kSupernodeCycles = 30;
constexpr uint64_t kForwardChunkCycles = 40;   // gather and scatter of 16 rows
constexpr uint64_t kBackwardChunkCycles = 30;  // gather of 16 rows
constexpr uint64_t kDiagonalChunkCycles = 20;
constexpr uint64_t kColumnChunkCycles = 2;      // 16 products
constexpr uint64_t kColumnReductionCycles = 6;  // sum of 16 lanes
constexpr uint64_t kValuesPerCycle = 2;         // read twice, 16 bytes a cycle

// Prices of reading, tried in turn. A higher price leaves fewer zeros; at the last, no other cost
// matters.
constexpr uint64_t kPrices[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 1'000'000};

uint64_t Chunks(uint32_t num_rows) { return (PaddedRows(num_rows) + kChunkRows - 1) / kChunkRows; }

uint64_t StoredValues(uint32_t num_columns, uint32_t num_rows) {
  return PanelValues({.num_columns = num_columns, .num_rows = num_rows});
}

// Cycles that a solve spends on a supernode; `price` scales the cost of reading.
uint64_t Cycles(uint32_t num_columns, uint32_t num_rows, uint64_t price) {
  const uint64_t per_chunk = kColumnChunkCycles * num_columns;
  return kSupernodeCycles + Chunks(num_rows) * (kForwardChunkCycles + per_chunk) +
         Chunks(num_rows) * (kBackwardChunkCycles + per_chunk) +
         kColumnReductionCycles * num_columns +
         Chunks(num_columns) * (kDiagonalChunkCycles + per_chunk) +
         price * StoredValues(num_columns, num_rows) / kValuesPerCycle;
}

// Whether a column can join the run of the columns behind it, which ends before `end`. If its
// parent is in the run, all its rows are columns of the run or rows of the last column.
bool Joins(const EliminationTree& tree, uint32_t column, uint32_t end, uint32_t num_free) {
  const bool straddles = column < num_free && end > num_free;
  return tree.parents[column] < end && !straddles;
}

// The first columns of the runs in the cheapest division of all columns, then the number of nodes.
// A run is part of the subtree of its last column, whose rows are those of the run. In postorder,
// the columns of a small subtree are a run.
std::vector<uint32_t> DivideColumns(const EliminationTree& tree, uint32_t num_free,
                                    uint64_t price) {
  const auto n = static_cast<uint32_t>(tree.parents.size());
  std::vector<uint64_t> cost(n + 1, std::numeric_limits<uint64_t>::max());  // of all columns before
  std::vector<uint32_t> first(n + 1, 0);  // column of the last run in the cheapest division
  cost[0] = 0;
  for (uint32_t end = 1; end <= n; ++end) {
    const uint32_t num_rows = tree.counts[end - 1] - 1;
    for (uint32_t start = end; start > 0 && end - start < kMaxSupernodeColumns; --start) {
      if (start < end && !Joins(tree, start - 1, end, num_free)) break;
      const uint64_t sum = cost[start - 1] + Cycles(end - start + 1, num_rows, price);
      if (sum >= cost[end]) continue;
      cost[end] = sum;
      first[end] = start - 1;
    }
  }
  std::vector<uint32_t> starts = {n};
  while (starts.back() > 0) starts.push_back(first[starts.back()]);
  std::reverse(starts.begin(), starts.end());
  return starts;
}

uint64_t StoredValues(const EliminationTree& tree, std::span<const uint32_t> starts) {
  uint64_t values = 0;
  for (size_t i = 0; i + 1 < starts.size(); ++i) {
    values += StoredValues(starts[i + 1] - starts[i], tree.counts[starts[i + 1] - 1] - 1);
  }
  return values;
}

// The cheapest division that stores few enough zeros.
std::vector<uint32_t> DivideWithinLimit(const EliminationTree& tree, uint32_t num_free) {
  std::vector<uint32_t> starts;
  for (const uint64_t price : kPrices) {
    starts = DivideColumns(tree, num_free, price);
    if (StoredValues(tree, starts) * kMaxStoredDenominator <= tree.nonzeros * kMaxStoredNumerator) {
      break;
    }
  }
  return starts;
}

// Rows below the run of columns [first, end), ascending: those of the matrix, and those of its
// `children`, the earlier runs whose first row is a column of this one.
std::vector<uint32_t> CollectRows(const NodeGraph& graph, uint32_t first, uint32_t end,
                                  std::span<const uint32_t> children,
                                  const std::vector<std::vector<uint32_t>>& rows_of) {
  std::vector<uint32_t> rows;
  const auto add = [&](std::span<const uint32_t> from) {
    rows.insert(rows.end(), std::lower_bound(from.begin(), from.end(), end), from.end());
  };
  for (uint32_t column = first; column < end; ++column) {
    add({graph.neighbours.data() + graph.starts[column],
         graph.neighbours.data() + graph.starts[column + 1]});
  }
  for (const uint32_t child : children) add(rows_of[child]);
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

// Runs of columns, in the order of the columns.
struct Runs {
  std::vector<uint32_t> starts;             // first columns, then the number of nodes
  std::vector<std::vector<uint32_t>> rows;  // below each
  std::vector<uint32_t> heights;            // 0 without children, else above all of them
};

Runs BuildRuns(const NodeGraph& graph, std::vector<uint32_t> starts) {
  const size_t num_runs = starts.size() - 1;
  Runs runs = {std::move(starts), {}, std::vector(num_runs, 0u)};
  runs.rows.reserve(num_runs);
  std::vector<std::vector<uint32_t>> children(num_runs);
  for (uint32_t i = 0; i < num_runs; ++i) {
    runs.rows.push_back(
        CollectRows(graph, runs.starts[i], runs.starts[i + 1], children[i], runs.rows));
    for (const uint32_t child : children[i]) {
      runs.heights[i] = std::max(runs.heights[i], runs.heights[child] + 1);
    }
    if (runs.rows[i].empty()) continue;
    const auto next = std::upper_bound(runs.starts.begin(), runs.starts.end(), runs.rows[i][0]);
    children[static_cast<size_t>(next - runs.starts.begin() - 1)].push_back(i);
  }
  return runs;
}

// Run numbers in the order of the list of supernodes.
std::vector<uint32_t> ListOrder(const Runs& runs, uint32_t num_free) {
  std::vector<uint32_t> order(runs.rows.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(runs.starts[a] >= num_free, runs.heights[a]) <
           std::pair(runs.starts[b] >= num_free, runs.heights[b]);
  });
  return order;
}

void AppendSupernode(const Runs& runs, uint32_t run, uint32_t padding, FactorLayout* layout) {
  const std::vector<uint32_t>& rows = runs.rows[run];
  const Supernode supernode = {runs.starts[run], runs.starts[run + 1] - runs.starts[run],
                               static_cast<uint32_t>(layout->rows.size()),
                               static_cast<uint32_t>(rows.size()),
                               static_cast<uint32_t>(layout->num_values)};
  layout->supernodes.push_back(supernode);
  layout->rows.insert(layout->rows.end(), rows.begin(), rows.end());
  layout->rows.resize(supernode.first_row + PaddedRows(supernode.num_rows), padding);
  layout->num_values += PanelValues(supernode);
}

}  // namespace

FactorLayout FindSupernodes(const NodeGraph& graph, uint32_t num_free) {
  std::vector<uint32_t> order(graph.num_nodes());
  std::iota(order.begin(), order.end(), 0u);
  const auto tree = BuildEliminationTree(graph, order, UINT64_MAX);
  const Runs runs = BuildRuns(graph, DivideWithinLimit(*tree, num_free));
  FactorLayout layout;
  for (const uint32_t run : ListOrder(runs, num_free)) {
    AppendSupernode(runs, run, graph.num_nodes(), &layout);
  }
  return layout;
}

}  // namespace plush::tools
