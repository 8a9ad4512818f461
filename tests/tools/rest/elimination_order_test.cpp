// SPDX-License-Identifier: MIT
// Elimination orders, fill and trees against elimination with sets.
#include "rest/elimination_order.h"

#include "shapes/tet_shapes.h"
#include "tools/rest/random_graph.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <random>
#include <set>

using namespace plush::tools;

namespace elimination_order_test {

NodeGraph GraphOf(const TetMesh& mesh) {
  return BuildNodeGraph(static_cast<uint32_t>(mesh.nodes.size()), mesh.tets);
}

// Plain elimination: connects all remaining neighbours of each eliminated node. Returns the rows
// below the diagonal of each column, by position.
std::vector<std::set<uint32_t>> FactorColumns(const NodeGraph& graph,
                                              const std::vector<uint32_t>& order) {
  std::vector<uint32_t> position(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  std::vector<std::set<uint32_t>> columns(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    for (uint32_t k = graph.starts[order[i]]; k < graph.starts[order[i] + 1]; ++k) {
      const uint32_t row = position[graph.neighbours[k]];
      if (row > i) columns[i].insert(row);
    }
  }
  for (std::set<uint32_t>& column : columns) {
    if (column.empty()) continue;
    columns[*column.begin()].insert(std::next(column.begin()), column.end());
  }
  return columns;
}

uint64_t CountByElimination(const NodeGraph& graph, const std::vector<uint32_t>& order) {
  uint64_t nonzeros = order.size();
  for (const auto& column : FactorColumns(graph, order)) nonzeros += column.size();
  return nonzeros;
}

bool IsPermutation(std::vector<uint32_t> order, uint32_t num_nodes) {
  std::vector<uint32_t> identity(num_nodes);
  std::iota(identity.begin(), identity.end(), 0u);
  std::sort(order.begin(), order.end());
  return order == identity;
}

// Nodes from num_free on, ascending.
std::vector<uint32_t> TailOf(const EliminationOrder& chosen) {
  std::vector<uint32_t> tail(chosen.order.begin() + chosen.num_free, chosen.order.end());
  std::sort(tail.begin(), tail.end());
  return tail;
}

// Checks that the columns of each subtree form a run that ends with its root, on each side of
// num_free.
void CheckPostorder(const NodeGraph& graph, const EliminationOrder& chosen) {
  const auto tree = BuildEliminationTree(graph, chosen.order, UINT64_MAX);
  const auto n = static_cast<uint32_t>(chosen.order.size());
  std::vector<uint32_t> first(n);  // first column of the subtree
  std::vector<uint32_t> size(n, 1);
  std::iota(first.begin(), first.end(), 0u);
  for (uint32_t i = 0; i < n; ++i) {
    REQUIRE(i - first[i] + 1 == size[i]);
    const uint32_t parent = tree->parents[i];
    if (parent == kNoParent || (i < chosen.num_free && parent >= chosen.num_free)) continue;
    first[parent] = std::min(first[parent], first[i]);
    size[parent] += size[i];
  }
}

TEST_CASE("The node graph joins nodes that share a tet") {
  const TetMesh mesh = plush::test::TetBox(2, 1, 1, 1.0);
  const NodeGraph graph = GraphOf(mesh);
  std::set<std::pair<uint32_t, uint32_t>> expected;
  for (const auto& tet : mesh.tets) {
    for (const uint32_t a : tet) {
      for (const uint32_t b : tet) {
        if (a != b) expected.emplace(a, b);
      }
    }
  }
  std::set<std::pair<uint32_t, uint32_t>> found;
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    for (uint32_t k = graph.starts[i]; k < graph.starts[i + 1]; ++k) {
      found.emplace(i, graph.neighbours[k]);
    }
  }
  CHECK(found == expected);
  CHECK(graph.neighbours.size() == expected.size());
}

TEST_CASE("Non-zeros of the factor are those of plain elimination") {
  const NodeGraph graph = GraphOf(plush::test::TetBox(4, 3, 3, 1.0));
  std::vector<uint32_t> order(graph.num_nodes());
  std::iota(order.begin(), order.end(), 0u);
  std::mt19937 random(7);
  for (int round = 0; round < 5; ++round) {
    const uint64_t expected = CountByElimination(graph, order);
    CHECK(BuildEliminationTree(graph, order, UINT64_MAX).value().nonzeros == expected);
    CHECK(BuildEliminationTree(graph, order, expected).value().nonzeros == expected);
    CHECK_FALSE(BuildEliminationTree(graph, order, expected - 1).has_value());
    std::shuffle(order.begin(), order.end(), random);
  }
}

TEST_CASE("The elimination tree has the first rows and counts of plain elimination") {
  const NodeGraph graph = GraphOf(plush::test::TetBox(3, 3, 2, 1.0));
  std::vector<uint32_t> order(graph.num_nodes());
  std::iota(order.begin(), order.end(), 0u);
  std::mt19937 random(3);
  for (int round = 0; round < 5; ++round) {
    const auto tree = BuildEliminationTree(graph, order, UINT64_MAX);
    const std::vector<std::set<uint32_t>> columns = FactorColumns(graph, order);
    for (uint32_t i = 0; i < order.size(); ++i) {
      REQUIRE(tree->counts[i] == columns[i].size() + 1);
      REQUIRE(tree->parents[i] == (columns[i].empty() ? kNoParent : *columns[i].begin()));
    }
    std::shuffle(order.begin(), order.end(), random);
  }
}

TEST_CASE("The chosen order is a permutation and far better than the given one") {
  const NodeGraph graph = GraphOf(plush::test::TetBox(10, 10, 10, 1.0));
  const auto chosen = ChooseEliminationOrder(graph, {}, UINT64_MAX);
  REQUIRE(chosen.has_value());
  REQUIRE(IsPermutation(chosen->order, graph.num_nodes()));
  std::vector<uint32_t> identity(graph.num_nodes());
  std::iota(identity.begin(), identity.end(), 0u);
  CHECK(chosen->num_free == graph.num_nodes());
  CHECK(chosen->nonzeros ==
        BuildEliminationTree(graph, chosen->order, UINT64_MAX).value().nonzeros);
  CHECK(chosen->nonzeros * 2 < BuildEliminationTree(graph, identity, UINT64_MAX).value().nonzeros);
  CHECK(ChooseEliminationOrder(graph, {}, UINT64_MAX)->order == chosen->order);
  CHECK_FALSE(ChooseEliminationOrder(graph, {}, chosen->nonzeros - 1).has_value());
  CheckPostorder(graph, *chosen);
}

TEST_CASE("Nodes that may be pinned are eliminated after all others") {
  const NodeGraph graph = GraphOf(plush::test::TetBox(8, 8, 8, 1.0));
  std::vector<uint32_t> last(81);  // the lowest layer
  std::iota(last.begin(), last.end(), 0u);
  const auto chosen = ChooseEliminationOrder(graph, last, UINT64_MAX);
  REQUIRE(chosen.has_value());
  REQUIRE(IsPermutation(chosen->order, graph.num_nodes()));
  REQUIRE(chosen->num_free == graph.num_nodes() - last.size());
  CHECK(TailOf(*chosen) == last);
  CHECK(chosen->nonzeros ==
        BuildEliminationTree(graph, chosen->order, UINT64_MAX).value().nonzeros);
  const uint64_t best = ChooseEliminationOrder(graph, {}, UINT64_MAX)->nonzeros;
  CHECK(2 * chosen->nonzeros <= 3 * best);
  CHECK(ChooseEliminationOrder(graph, last, UINT64_MAX)->order == chosen->order);
  CheckPostorder(graph, *chosen);
}

TEST_CASE("Nodes are not put last if that costs too much fill") {
  const NodeGraph graph = GraphOf(plush::test::TetBox(8, 8, 8, 1.0));
  std::vector<uint32_t> last;  // scattered: elimination would join all of them
  for (uint32_t node = 0; node < graph.num_nodes(); node += 2) last.push_back(node);
  const auto best = ChooseEliminationOrder(graph, {}, UINT64_MAX);
  const auto chosen = ChooseEliminationOrder(graph, last, UINT64_MAX);
  REQUIRE(chosen.has_value());
  CHECK(chosen->num_free == graph.num_nodes());
  CHECK(chosen->order == best->order);

  // If the order with these nodes last exceeds the limit, only that order is dropped; the call
  // succeeds.
  const std::vector<uint32_t> layer = [] {
    std::vector<uint32_t> nodes(81);
    std::iota(nodes.begin(), nodes.end(), 0u);
    return nodes;
  }();
  const auto limited = ChooseEliminationOrder(graph, layer, best->nonzeros);
  REQUIRE(limited.has_value());
  CHECK(limited->nonzeros <= best->nonzeros);
  CHECK_FALSE(ChooseEliminationOrder(graph, layer, best->nonzeros - 1).has_value());
}

TEST_CASE("Any nodes of any graph can be put last") {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    const NodeGraph graph = RandomGraph(static_cast<uint32_t>(1 + random() % 30),
                                        static_cast<uint32_t>(random() % 60), &random);
    std::vector<uint32_t> last;
    for (uint32_t node = 0; node < graph.num_nodes(); ++node) {
      if (random() % 8 < static_cast<uint32_t>(round) % 9) last.push_back(node);
    }
    const auto chosen = ChooseEliminationOrder(graph, last, UINT64_MAX);
    REQUIRE(chosen.has_value());
    REQUIRE(IsPermutation(chosen->order, graph.num_nodes()));
    if (chosen->num_free < graph.num_nodes()) REQUIRE(TailOf(*chosen) == last);
    REQUIRE(chosen->nonzeros == CountByElimination(graph, chosen->order));
    CheckPostorder(graph, *chosen);
  }
}

TEST_CASE("Components are counted across shared nodes") {
  TetMesh mesh = plush::test::TetBox(1, 1, 1, 1.0);
  CHECK(CountComponents(GraphOf(mesh)) == 1);
  const uint32_t offset = static_cast<uint32_t>(mesh.nodes.size());
  const TetMesh other = plush::test::SingleTet();
  mesh.nodes.insert(mesh.nodes.end(), other.nodes.begin(), other.nodes.end());
  mesh.tets.push_back({offset, offset + 1, offset + 2, offset + 3});
  CHECK(CountComponents(GraphOf(mesh)) == 2);
  mesh.tets.back()[0] = 0;
  mesh.nodes.pop_back();
  mesh.tets.back() = {0, offset, offset + 1, offset + 2};
  CHECK(CountComponents(GraphOf(mesh)) == 1);
}

}  // namespace elimination_order_test
