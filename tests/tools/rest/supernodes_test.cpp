// SPDX-License-Identifier: MIT
// Supernodes, their order and their levels against a dense pattern of the factor.
#include "rest/supernodes.h"

#include "shapes/tet_shapes.h"
#include "tools/rest/random_graph.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

using namespace plush::tools;
using plush::LowerEntries;
using plush::PaddedRows;
using plush::PanelValues;
using plush::Supernode;

namespace supernodes_test {

// A graph numbered by elimination order, as FindSupernodes takes it.
struct OrderedGraph {
  NodeGraph graph;
  uint32_t num_free = 0;
  uint64_t nonzeros = 0;
};

OrderedGraph Order(const NodeGraph& graph, std::span<const uint32_t> last = {}) {
  const auto chosen = ChooseEliminationOrder(graph, last, UINT64_MAX);
  std::vector<uint32_t> position(graph.num_nodes());
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) position[chosen->order[i]] = i;
  OrderedGraph out = {{{0}, {}}, chosen->num_free, chosen->nonzeros};
  for (const uint32_t node : chosen->order) {
    std::set<uint32_t> neighbours;
    for (uint32_t i = graph.starts[node]; i < graph.starts[node + 1]; ++i) {
      neighbours.insert(position[graph.neighbours[i]]);
    }
    out.graph.neighbours.insert(out.graph.neighbours.end(), neighbours.begin(), neighbours.end());
    out.graph.starts.push_back(static_cast<uint32_t>(out.graph.neighbours.size()));
  }
  return out;
}

NodeGraph BoxGraph(uint32_t nx, uint32_t ny, uint32_t nz) {
  const TetMesh mesh = plush::test::TetBox(nx, ny, nz, 1.0);
  return BuildNodeGraph(static_cast<uint32_t>(mesh.nodes.size()), mesh.tets);
}

// Rows below the diagonal of each column of the factor, from elimination on a dense pattern.
std::vector<std::vector<bool>> DensePattern(const NodeGraph& graph) {
  const uint32_t n = graph.num_nodes();
  std::vector<std::vector<bool>> columns(n, std::vector<bool>(n, false));
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t k = graph.starts[i]; k < graph.starts[i + 1]; ++k) {
      if (graph.neighbours[k] > i) columns[i][graph.neighbours[k]] = true;
    }
    for (uint32_t before = 0; before < i; ++before) {
      if (!columns[before][i]) continue;
      for (uint32_t row = i + 1; row < n; ++row) {
        if (columns[before][row]) columns[i][row] = true;
      }
    }
  }
  return columns;
}

std::span<const uint32_t> RowsOf(const FactorLayout& layout, const Supernode& supernode) {
  return std::span(layout.rows).subspan(supernode.first_row, supernode.num_rows);
}

// Index in the list of each column's supernode; every column must have one.
std::vector<size_t> SupernodeOfColumn(const FactorLayout& layout, uint32_t num_nodes) {
  std::vector<size_t> places(num_nodes, SIZE_MAX);
  for (size_t i = 0; i < layout.supernodes.size(); ++i) {
    const Supernode& s = layout.supernodes[i];
    REQUIRE(s.num_columns >= 1);
    REQUIRE(s.num_columns <= plush::kMaxSupernodeColumns);
    REQUIRE(s.first_column + s.num_columns <= num_nodes);
    for (uint32_t c = 0; c < s.num_columns; ++c) {
      REQUIRE(places[s.first_column + c] == SIZE_MAX);
      places[s.first_column + c] = i;
    }
  }
  for (const size_t place : places) REQUIRE(place != SIZE_MAX);
  return places;
}

void CheckMemory(const FactorLayout& layout, uint32_t num_nodes) {
  size_t num_rows = 0, num_values = 0;
  for (const Supernode& s : layout.supernodes) {
    REQUIRE(s.first_row == num_rows);
    REQUIRE(s.first_value == num_values);
    num_rows += PaddedRows(s.num_rows);
    num_values += PanelValues(s);
    REQUIRE(num_rows <= layout.rows.size());
    for (size_t i = s.first_row + s.num_rows; i < num_rows; ++i) {
      REQUIRE(layout.rows[i] == num_nodes);
    }
  }
  REQUIRE(layout.rows.size() == num_rows);
  REQUIRE(layout.num_values == num_values);
}

void CheckPattern(const NodeGraph& graph, const FactorLayout& layout) {
  const std::vector<std::vector<bool>> exact = DensePattern(graph);
  for (const Supernode& s : layout.supernodes) {
    const uint32_t end = s.first_column + s.num_columns;
    const auto rows = RowsOf(layout, s);
    for (uint32_t column = s.first_column; column < end; ++column) {
      std::vector<uint32_t> below;
      for (uint32_t row = end; row < graph.num_nodes(); ++row) {
        if (exact[column][row]) below.push_back(row);
      }
      REQUIRE(std::includes(rows.begin(), rows.end(), below.begin(), below.end()));
      // The last column has every row of its supernode, so every stored row is needed.
      if (column + 1 == end)
        REQUIRE(std::equal(rows.begin(), rows.end(), below.begin(), below.end()));
    }
  }
}

// Checks the order of the list and the tree. The parent of a supernode is the one of its first row;
// the rows beyond the parent's columns must be rows of the parent too.
void CheckTree(const FactorLayout& layout, uint32_t num_nodes, uint32_t num_free) {
  const std::vector<size_t> places = SupernodeOfColumn(layout, num_nodes);
  for (size_t i = 0; i < layout.supernodes.size(); ++i) {
    const Supernode& s = layout.supernodes[i];
    const bool is_free = s.first_column < num_free;
    REQUIRE(is_free == (s.first_column + s.num_columns <= num_free));
    if (i > 0) REQUIRE(is_free <= (layout.supernodes[i - 1].first_column < num_free));
    const auto rows = RowsOf(layout, s);
    for (const uint32_t row : rows) REQUIRE(places[row] > i);
    if (rows.empty()) continue;
    const Supernode& parent = layout.supernodes[places[rows[0]]];
    const auto beyond =
        std::lower_bound(rows.begin(), rows.end(), parent.first_column + parent.num_columns);
    const auto parent_rows = RowsOf(layout, parent);
    REQUIRE(std::includes(parent_rows.begin(), parent_rows.end(), beyond, rows.end()));
  }
}

// Checks that levels do not fall along the free part of the list, nor along the rest.
void CheckLevels(const FactorLayout& layout, uint32_t num_nodes, uint32_t num_free) {
  const std::vector<size_t> places = SupernodeOfColumn(layout, num_nodes);
  std::vector<uint32_t> heights(layout.supernodes.size(), 0);
  for (size_t i = 0; i < layout.supernodes.size(); ++i) {
    const auto rows = RowsOf(layout, layout.supernodes[i]);
    if (rows.empty()) continue;
    uint32_t& above = heights[places[rows[0]]];
    above = std::max(above, heights[i] + 1);
  }
  for (size_t i = 1; i < layout.supernodes.size(); ++i) {
    const Supernode& before = layout.supernodes[i - 1];
    const Supernode& s = layout.supernodes[i];
    if ((before.first_column < num_free) != (s.first_column < num_free)) continue;
    REQUIRE(std::pair(heights[i - 1], before.first_column) < std::pair(heights[i], s.first_column));
  }
}

void CheckLayout(const OrderedGraph& ordered, const FactorLayout& layout) {
  const uint32_t n = ordered.graph.num_nodes();
  CheckMemory(layout, n);
  CheckPattern(ordered.graph, layout);
  CheckTree(layout, n, ordered.num_free);
  CheckLevels(layout, n, ordered.num_free);
}

TEST_CASE("Supernodes hold the factor of a lattice of tets") {
  for (const auto& size : std::vector<std::array<uint32_t, 3>>{
           {1, 1, 1}, {2, 2, 2}, {3, 5, 6}, {1, 1, 40}, {7, 7, 7}}) {
    const OrderedGraph ordered = Order(BoxGraph(size[0], size[1], size[2]));
    CheckLayout(ordered, FindSupernodes(ordered.graph, ordered.num_free));
  }
}

TEST_CASE("Supernodes hold the factor of any graph") {
  std::mt19937 random(5);
  for (int round = 0; round < 100; ++round) {
    const auto n = static_cast<uint32_t>(1 + random() % 120);
    const NodeGraph graph = RandomGraph(n, static_cast<uint32_t>(random() % (3 * n)), &random);
    std::vector<uint32_t> last;
    for (uint32_t node = 0; node < n; ++node) {
      if (random() % 10 < static_cast<uint32_t>(round) % 4) last.push_back(node);
    }
    const OrderedGraph ordered = Order(graph, last);
    CheckLayout(ordered, FindSupernodes(ordered.graph, ordered.num_free));
  }
}

TEST_CASE("Supernodes do not straddle the nodes that may be pinned") {
  const NodeGraph graph = BoxGraph(6, 6, 6);
  std::vector<uint32_t> last;
  for (uint32_t node = 0; node < 49; ++node) last.push_back(node);
  const OrderedGraph ordered = Order(graph, last);
  REQUIRE(ordered.num_free + 49 == graph.num_nodes());
  const FactorLayout layout = FindSupernodes(ordered.graph, ordered.num_free);
  CheckLayout(ordered, layout);
  CHECK(layout.supernodes.back().first_column >= ordered.num_free);

  const auto is_last = [&](const Supernode& s) { return s.first_column >= ordered.num_free; };
  const auto first_last = std::find_if(layout.supernodes.begin(), layout.supernodes.end(), is_last);
  CHECK(std::all_of(first_last, layout.supernodes.end(), is_last));
}

TEST_CASE("Dense factors are stored in few supernodes of full width") {
  const uint32_t n = 100;
  OrderedGraph dense = {{{0}, {}}, n, n * (n + 1) / 2};
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t k = 0; k < n; ++k) {
      if (k != i) dense.graph.neighbours.push_back(k);
    }
    dense.graph.starts.push_back(static_cast<uint32_t>(dense.graph.neighbours.size()));
  }
  const FactorLayout layout = FindSupernodes(dense.graph, n);
  CheckLayout(dense, layout);
  CHECK(layout.supernodes.size() <= 5);
}

TEST_CASE("Supernodes store few zeros and are few") {
  for (const uint32_t size : {4u, 8u, 12u}) {
    const OrderedGraph ordered = Order(BoxGraph(size, size, size));
    const FactorLayout layout = FindSupernodes(ordered.graph, ordered.num_free);
    uint64_t lower = 0;
    for (const Supernode& s : layout.supernodes) lower += LowerEntries(s);
    CHECK(lower >= ordered.nonzeros);
    CHECK(layout.num_values * 5 <= ordered.nonzeros * 11);
    CHECK(layout.supernodes.size() * 4 < ordered.graph.num_nodes());
    const FactorLayout again = FindSupernodes(ordered.graph, ordered.num_free);
    CHECK(again.rows == layout.rows);
  }
}

TEST_CASE("A graph without links has a supernode for each node") {
  const OrderedGraph ordered = Order(BuildNodeGraph(3, {}));
  const FactorLayout layout = FindSupernodes(ordered.graph, ordered.num_free);
  CheckLayout(ordered, layout);
  CHECK(layout.supernodes.size() == 3);
  CHECK(layout.rows.empty());
}

}  // namespace supernodes_test
