// SPDX-License-Identifier: MIT
// Based on:
// Patrick Amestoy, Timothy Davis, Iain Duff. An Approximate Minimum Degree Ordering Algorithm. 1996
// George Karypis, Vipin Kumar. A Fast and High Quality Multilevel Scheme for Partitioning Irregular
//   Graphs. 1998
// Joseph Liu. The Role of Elimination Trees in Sparse Factorization. 1990
#include "rest/elimination_order.h"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <metis.h>

#include <algorithm>
#include <utility>

namespace plush::tools {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// Any fixed number: bakes are reproducible.
constexpr idx_t kMetisSeed = 20180611;

std::vector<uint32_t> MinimumDegreeOrder(const NodeGraph& graph) {
  const int n = static_cast<int>(graph.num_nodes());
  Eigen::SparseMatrix<double> pattern(n, n);
  pattern.resizeNonZeros(static_cast<Eigen::Index>(graph.neighbours.size()));
  std::copy(graph.starts.begin(), graph.starts.end(), pattern.outerIndexPtr());
  std::copy(graph.neighbours.begin(), graph.neighbours.end(), pattern.innerIndexPtr());
  std::fill_n(pattern.valuePtr(), graph.neighbours.size(), 1.0);
  Eigen::AMDOrdering<int>::PermutationType permutation;
  Eigen::AMDOrdering<int>()(pattern, permutation);
  return {permutation.indices().data(), permutation.indices().data() + n};
}

// Empty where METIS refuses the graph.
std::vector<uint32_t> NestedDissectionOrder(const NodeGraph& graph) {
  idx_t n = static_cast<idx_t>(graph.num_nodes());
  std::vector<idx_t> starts(graph.starts.begin(), graph.starts.end());
  std::vector<idx_t> neighbours(graph.neighbours.begin(), graph.neighbours.end());
  std::vector<idx_t> old_of_new(graph.num_nodes());
  std::vector<idx_t> new_of_old(graph.num_nodes());
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = kMetisSeed;
  options[METIS_OPTION_NUMBERING] = 0;
  const int status = METIS_NodeND(&n, starts.data(), neighbours.data(), nullptr, options,
                                  old_of_new.data(), new_of_old.data());
  if (status != METIS_OK) return {};
  std::vector<uint32_t> order(graph.num_nodes());
  for (uint32_t node = 0; node < graph.num_nodes(); ++node) {
    order[static_cast<size_t>(new_of_old[node])] = node;
  }
  return order;
}

}  // namespace

NodeGraph BuildNodeGraph(uint32_t num_nodes, std::span<const std::array<uint32_t, 4>> tets) {
  std::vector<std::pair<uint32_t, uint32_t>> links;
  links.reserve(tets.size() * 12);
  for (const auto& tet : tets) {
    for (const uint32_t from : tet) {
      for (const uint32_t to : tet) {
        if (from != to) links.emplace_back(from, to);
      }
    }
  }
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  NodeGraph graph;
  graph.starts.assign(static_cast<size_t>(num_nodes) + 1, 0);
  graph.neighbours.reserve(links.size());
  for (const auto& [from, to] : links) {
    ++graph.starts[from + 1];
    graph.neighbours.push_back(to);
  }
  for (uint32_t node = 0; node < num_nodes; ++node) graph.starts[node + 1] += graph.starts[node];
  return graph;
}

uint32_t CountComponents(const NodeGraph& graph) {
  std::vector<bool> seen(graph.num_nodes(), false);
  std::vector<uint32_t> stack;
  uint32_t components = 0;
  for (uint32_t seed = 0; seed < graph.num_nodes(); ++seed) {
    if (seen[seed]) continue;
    ++components;
    seen[seed] = true;
    stack.push_back(seed);
    while (!stack.empty()) {
      const uint32_t node = stack.back();
      stack.pop_back();
      for (uint32_t i = graph.starts[node]; i < graph.starts[node + 1]; ++i) {
        const uint32_t other = graph.neighbours[i];
        if (!seen[other]) stack.push_back(other);
        seen[other] = true;
      }
    }
  }
  return components;
}

std::optional<uint64_t> CountFactorNonzeros(const NodeGraph& graph, std::span<const uint32_t> order,
                                            uint64_t limit) {
  const uint32_t n = graph.num_nodes();
  std::vector<uint32_t> position(n);
  for (uint32_t i = 0; i < n; ++i) position[order[i]] = i;
  std::vector<uint32_t> parent(n, kNone);   // elimination tree
  std::vector<uint32_t> visited(n, kNone);  // last row whose subtree reached the column
  uint64_t nonzeros = n;
  // Row k of the factor is the union of the tree paths from the columns of row k of A up to k.
  for (uint32_t k = 0; k < n; ++k) {
    visited[k] = k;
    for (uint32_t i = graph.starts[order[k]]; i < graph.starts[order[k] + 1]; ++i) {
      uint32_t column = position[graph.neighbours[i]];
      if (column > k) continue;
      for (; visited[column] != k; column = parent[column]) {
        if (parent[column] == kNone) parent[column] = k;
        visited[column] = k;
        ++nonzeros;
      }
    }
    if (nonzeros > limit) return std::nullopt;
  }
  return nonzeros;
}

std::optional<EliminationOrder> ChooseEliminationOrder(const NodeGraph& graph, uint64_t limit) {
  std::optional<EliminationOrder> best;
  for (std::vector<uint32_t> order : {MinimumDegreeOrder(graph), NestedDissectionOrder(graph)}) {
    if (order.size() != graph.num_nodes()) continue;
    const auto nonzeros = CountFactorNonzeros(graph, order, limit);
    if (!nonzeros.has_value()) continue;
    if (best.has_value() && best->nonzeros <= *nonzeros) continue;
    best = EliminationOrder{std::move(order), *nonzeros};
  }
  return best;
}

}  // namespace plush::tools
