// SPDX-License-Identifier: MIT
#include "rest/elimination_order.h"

#include "shapes/tet_shapes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

using namespace plush::tools;

namespace {

NodeGraph GraphOf(const TetMesh& mesh) {
  return BuildNodeGraph(static_cast<uint32_t>(mesh.nodes.size()), mesh.tets);
}

// Elimination as on paper: connects all remaining neighbours of each eliminated node.
uint64_t CountByElimination(const NodeGraph& graph, const std::vector<uint32_t>& order) {
  std::vector<std::set<uint32_t>> links(graph.num_nodes());
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    links[i].insert(graph.neighbours.begin() + graph.starts[i],
                    graph.neighbours.begin() + graph.starts[i + 1]);
  }
  uint64_t nonzeros = 0;
  for (const uint32_t node : order) {
    nonzeros += 1 + links[node].size();
    for (const uint32_t a : links[node]) {
      for (const uint32_t b : links[node]) {
        if (a != b) links[a].insert(b);
      }
      links[a].erase(node);
    }
  }
  return nonzeros;
}

}  // namespace

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

TEST_CASE("Non-zeros of the factor are those of elimination on paper") {
  const NodeGraph graph = GraphOf(plush::test::TetBox(4, 3, 3, 1.0));
  std::vector<uint32_t> order(graph.num_nodes());
  std::iota(order.begin(), order.end(), 0u);
  std::mt19937 random(7);
  for (int round = 0; round < 5; ++round) {
    const uint64_t expected = CountByElimination(graph, order);
    CHECK(CountFactorNonzeros(graph, order, UINT64_MAX) == expected);
    CHECK(CountFactorNonzeros(graph, order, expected) == expected);
    CHECK_FALSE(CountFactorNonzeros(graph, order, expected - 1).has_value());
    std::shuffle(order.begin(), order.end(), random);
  }
}

TEST_CASE("The chosen order is a permutation and far better than the given one") {
  const NodeGraph graph = GraphOf(plush::test::TetBox(10, 10, 10, 1.0));
  const auto chosen = ChooseEliminationOrder(graph, UINT64_MAX);
  REQUIRE(chosen.has_value());
  std::vector<uint32_t> sorted = chosen->order;
  std::sort(sorted.begin(), sorted.end());
  std::vector<uint32_t> identity(graph.num_nodes());
  std::iota(identity.begin(), identity.end(), 0u);
  REQUIRE(sorted == identity);
  CHECK(chosen->nonzeros == CountFactorNonzeros(graph, chosen->order, UINT64_MAX));
  CHECK(chosen->nonzeros * 2 < CountFactorNonzeros(graph, identity, UINT64_MAX));
  CHECK(ChooseEliminationOrder(graph, UINT64_MAX)->order == chosen->order);
  CHECK_FALSE(ChooseEliminationOrder(graph, chosen->nonzeros - 1).has_value());
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
