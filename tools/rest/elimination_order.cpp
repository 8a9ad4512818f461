// SPDX-License-Identifier: MIT
// Chooses between minimum degree and nested dissection by counting the non-zeros of the factor.
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
#include <numeric>
#include <tuple>
#include <utility>

namespace plush::tools {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// Most non-zeros with the `last` nodes last. Beyond 3/2 of the best order, faster solves are worth
// more than faster changes of the pinned nodes.
constexpr uint64_t LastLimit(uint64_t best) { return best + best / 2; }

// Most columns of a small subtree. Of seven values from 1 to 12, this one is within 0.3% of the
// best for each of three arms and three boxes of 450 to 170k tets. Costs are those of the model in
// supernodes.cpp; no solves were timed.
constexpr uint32_t kSmallSubtree = 4;

// Any fixed number: bakes are reproducible.
constexpr idx_t kMetisSeed = 20180611;

std::vector<uint32_t> MinimumDegreeOrder(const NodeGraph& graph) {
  if (graph.num_nodes() == 0) return {};
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

// Empty if METIS refuses the graph, or if the graph has no links.
std::vector<uint32_t> NestedDissectionOrder(const NodeGraph& graph) {
  if (graph.neighbours.empty()) return {};
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

// Node -> its index in `nodes`, kNone for others.
std::vector<uint32_t> IndicesIn(std::span<const uint32_t> nodes, uint32_t num_nodes) {
  std::vector<uint32_t> indices(num_nodes, kNone);
  for (uint32_t i = 0; i < nodes.size(); ++i) indices[nodes[i]] = i;
  return indices;
}

// The part of the graph between `nodes` (ascending), numbered by their place in `nodes`.
NodeGraph Subgraph(const NodeGraph& graph, std::span<const uint32_t> nodes) {
  const std::vector<uint32_t> index = IndicesIn(nodes, graph.num_nodes());
  NodeGraph out;
  out.starts.push_back(0);
  for (const uint32_t node : nodes) {
    for (uint32_t i = graph.starts[node]; i < graph.starts[node + 1]; ++i) {
      const uint32_t other = index[graph.neighbours[i]];
      if (other != kNone) out.neighbours.push_back(other);
    }
    out.starts.push_back(static_cast<uint32_t>(out.neighbours.size()));
  }
  return out;
}

// Components of the graph without the `last` nodes.
struct FreeComponents {
  std::vector<uint32_t> of_node;               // kNone for last nodes
  std::vector<std::vector<uint32_t>> borders;  // last nodes beside each, by index in `last`
};

// Gives the component of `seed` this number and returns its border. `index` is the place of nodes
// in `last`.
std::vector<uint32_t> FloodComponent(const NodeGraph& graph, std::span<const uint32_t> index,
                                     uint32_t seed, uint32_t number,
                                     std::vector<uint32_t>* of_node) {
  std::vector<uint32_t> border;
  std::vector<uint32_t> stack = {seed};
  (*of_node)[seed] = number;
  while (!stack.empty()) {
    const uint32_t node = stack.back();
    stack.pop_back();
    for (uint32_t i = graph.starts[node]; i < graph.starts[node + 1]; ++i) {
      const uint32_t other = graph.neighbours[i];
      if (index[other] != kNone) {
        border.push_back(index[other]);
      } else if ((*of_node)[other] == kNone) {
        (*of_node)[other] = number;
        stack.push_back(other);
      }
    }
  }
  std::sort(border.begin(), border.end());
  border.erase(std::unique(border.begin(), border.end()), border.end());
  return border;
}

FreeComponents FindFreeComponents(const NodeGraph& graph, std::span<const uint32_t> index) {
  FreeComponents out;
  out.of_node.assign(graph.num_nodes(), kNone);
  for (uint32_t seed = 0; seed < graph.num_nodes(); ++seed) {
    if (index[seed] != kNone || out.of_node[seed] != kNone) continue;
    const auto number = static_cast<uint32_t>(out.borders.size());
    out.borders.push_back(FloodComponent(graph, index, seed, number, &out.of_node));
  }
  return out;
}

// Pattern of the Schur complement of the last nodes: each component of the other nodes links all
// nodes of its border. Every link is a non-zero of the factor; nullopt if there are more than
// `limit`.
std::optional<NodeGraph> SchurGraph(const NodeGraph& graph, std::span<const uint32_t> last,
                                    uint64_t limit) {
  const std::vector<uint32_t> index = IndicesIn(last, graph.num_nodes());
  const FreeComponents components = FindFreeComponents(graph, index);
  std::vector<uint32_t> linked(last.size(), kNone);  // the latest node linked with this one
  std::vector<uint32_t> visited(components.borders.size(), kNone);  // likewise, by component
  NodeGraph out;
  out.starts.push_back(0);
  for (uint32_t node = 0; node < last.size(); ++node) {
    const auto link = [&](uint32_t other) {
      if (other != node && linked[other] != node) out.neighbours.push_back(other);
      linked[other] = node;
    };
    for (uint32_t i = graph.starts[last[node]]; i < graph.starts[last[node] + 1]; ++i) {
      const uint32_t other = graph.neighbours[i];
      const uint32_t component = components.of_node[other];
      if (component == kNone) {
        link(index[other]);
      } else if (visited[component] != node) {
        visited[component] = node;
        for (const uint32_t beside : components.borders[component]) link(beside);
      }
    }
    std::sort(out.neighbours.begin() + out.starts.back(), out.neighbours.end());
    if (out.neighbours.size() / 2 > std::min<uint64_t>(limit, INT32_MAX / 2)) return std::nullopt;
    out.starts.push_back(static_cast<uint32_t>(out.neighbours.size()));
  }
  return out;
}

// The better order of the nodes `free` (ascending), followed by the nodes `tail` as given.
std::optional<EliminationOrder> OrderBefore(const NodeGraph& graph, std::span<const uint32_t> free,
                                            std::span<const uint32_t> tail, uint64_t limit) {
  const NodeGraph part = Subgraph(graph, free);
  std::optional<EliminationOrder> best;
  for (std::vector<uint32_t> order : {MinimumDegreeOrder(part), NestedDissectionOrder(part)}) {
    if (order.size() != free.size()) continue;
    for (uint32_t& node : order) node = free[node];
    order.insert(order.end(), tail.begin(), tail.end());
    const auto tree = BuildEliminationTree(graph, order, limit);
    if (!tree.has_value() || (best.has_value() && best->nonzeros <= tree->nonzeros)) continue;
    best = EliminationOrder{std::move(order), tree->nonzeros, part.num_nodes()};
  }
  return best;
}

std::optional<EliminationOrder> OrderWithLast(const NodeGraph& graph,
                                              std::span<const uint32_t> last, uint64_t limit) {
  const std::optional<NodeGraph> schur = SchurGraph(graph, last, limit);
  if (!schur.has_value()) return std::nullopt;
  std::vector<uint32_t> tail = MinimumDegreeOrder(*schur);
  for (uint32_t& node : tail) node = last[node];
  std::vector<uint32_t> free;
  for (uint32_t node = 0; node < graph.num_nodes(); ++node) {
    if (!std::ranges::binary_search(last, node)) free.push_back(node);
  }
  return OrderBefore(graph, free, tail, limit);
}

// Columns in postorder, those before num_free first. Any order with children before parents has the
// same non-zeros. The last children are those that best share a block with their parent: first come
// larger subtrees by their non-zeros, then small ones, which fit into a block as a whole.
std::vector<uint32_t> Postorder(const EliminationTree& tree, uint32_t num_free) {
  const auto n = static_cast<uint32_t>(tree.parents.size());
  std::vector<uint32_t> sizes(n, 1);  // columns of each subtree
  std::vector<std::vector<uint32_t>> children(n);
  std::vector<uint32_t> waiting;  // starts with the roots
  for (uint32_t column = 0; column < n; ++column) {
    const uint32_t parent = tree.parents[column];
    if (parent != kNoParent) sizes[parent] += sizes[column];
    const bool is_root = parent == kNoParent || (column < num_free && parent >= num_free);
    (is_root ? waiting : children[parent]).push_back(column);
  }
  const auto key = [&](uint32_t column) {
    return std::tuple(sizes[column] <= kSmallSubtree, tree.counts[column], column);
  };
  // Backwards: parents before children, the last child first.
  std::vector<uint32_t> columns;
  columns.reserve(n);
  while (!waiting.empty()) {
    const uint32_t column = waiting.back();
    waiting.pop_back();
    columns.push_back(column);
    std::ranges::sort(children[column], {}, key);
    waiting.insert(waiting.end(), children[column].begin(), children[column].end());
  }
  std::ranges::reverse(columns);
  return columns;
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
  const std::vector<uint32_t> none_is_last(graph.num_nodes(), kNone);
  return static_cast<uint32_t>(FindFreeComponents(graph, none_is_last).borders.size());
}

std::optional<EliminationTree> BuildEliminationTree(const NodeGraph& graph,
                                                    std::span<const uint32_t> order,
                                                    uint64_t limit) {
  const uint32_t n = graph.num_nodes();
  std::vector<uint32_t> position(n);
  for (uint32_t i = 0; i < n; ++i) position[order[i]] = i;
  std::vector<uint32_t> visited(n, kNone);  // last row whose subtree reached the column
  EliminationTree tree = {std::vector(n, kNoParent), std::vector(n, 1u), n};
  // Row k of the factor is the union of the tree paths from the columns of row k of A up to k.
  for (uint32_t k = 0; k < n; ++k) {
    visited[k] = k;
    for (uint32_t i = graph.starts[order[k]]; i < graph.starts[order[k] + 1]; ++i) {
      uint32_t column = position[graph.neighbours[i]];
      if (column > k) continue;
      for (; visited[column] != k; column = tree.parents[column]) {
        if (tree.parents[column] == kNoParent) tree.parents[column] = k;
        visited[column] = k;
        ++tree.counts[column];
        ++tree.nonzeros;
      }
    }
    if (tree.nonzeros > limit) return std::nullopt;
  }
  return tree;
}

std::optional<EliminationOrder> ChooseEliminationOrder(const NodeGraph& graph,
                                                       std::span<const uint32_t> last,
                                                       uint64_t limit) {
  std::vector<uint32_t> all(graph.num_nodes());
  std::iota(all.begin(), all.end(), 0u);
  auto best = OrderBefore(graph, all, {}, limit);
  if (!best.has_value()) return std::nullopt;
  if (!last.empty()) {
    auto with_last = OrderWithLast(graph, last, std::min(limit, LastLimit(best->nonzeros)));
    if (with_last.has_value()) best = std::move(with_last);
  }
  const auto tree = BuildEliminationTree(graph, best->order, limit);
  std::vector<uint32_t> order = Postorder(*tree, best->num_free);
  for (uint32_t& node : order) node = best->order[node];
  best->order = std::move(order);
  return best;
}

}  // namespace plush::tools
