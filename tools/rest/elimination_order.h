// SPDX-License-Identifier: MIT
// The order in which the nodes of a cage are eliminated: fewest non-zeros of the Cholesky factor.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace plush::tools {

/// Which nodes share a tet: a symmetric graph without loops, as compressed rows.
struct NodeGraph {
  std::vector<uint32_t> starts;      ///< into neighbours (num_nodes + 1 x 1)
  std::vector<uint32_t> neighbours;  ///< ascending within a node

  uint32_t num_nodes() const { return static_cast<uint32_t>(starts.size() - 1); }
};

/// Graph of the tets' edges; every index of `tets` is below `num_nodes`. O(t log t).
NodeGraph BuildNodeGraph(uint32_t num_nodes, std::span<const std::array<uint32_t, 4>> tets);

/// Number of connected components of the graph.
uint32_t CountComponents(const NodeGraph& graph);

/// What elimination of a symmetric pattern in some order leads to, by positions in that order. All
/// structural fill is counted.
struct EliminationTree {
  std::vector<uint32_t> parents;  ///< first row below the diagonal, kNoParent at roots (n x 1)
  std::vector<uint32_t> counts;   ///< non-zeros of the factor's columns with diagonal (n x 1)
  uint64_t nonzeros = 0;          ///< sum of the counts
};

/// Parent of the root of a tree.
inline constexpr uint32_t kNoParent = UINT32_MAX;

/// Elimination tree of a matrix with this pattern if node order[i] is eliminated i-th; none where
/// the factor has more than `limit` non-zeros. O(non-zeros) time, O(num_nodes) memory.
std::optional<EliminationTree> BuildEliminationTree(const NodeGraph& graph,
                                                    std::span<const uint32_t> order,
                                                    uint64_t limit);

/// Non-zeros alone of BuildEliminationTree.
std::optional<uint64_t> CountFactorNonzeros(const NodeGraph& graph, std::span<const uint32_t> order,
                                            uint64_t limit);

/// An order and its cost. The nodes before num_free and those from there on are each in postorder:
/// the columns of a subtree of the elimination tree are a run. Of the children of a column those
/// stand right before it that can best share a dense block with it.
struct EliminationOrder {
  std::vector<uint32_t> order;  ///< position -> node (num_nodes x 1), a permutation
  uint64_t nonzeros = 0;        ///< of the factor
  uint32_t num_free = 0;        ///< nodes of `last` stand from here on
};

/// The better of minimum degree (AMD) and nested dissection (METIS, fixed seed), AMD at a tie; none
/// where both need more than `limit` non-zeros. The nodes `last` (ascending, each below num_nodes)
/// are eliminated after all others, so that the factor of the others is the leading part of the
/// whole; where this costs more than 1.5 times the non-zeros of the best order, or more than
/// `limit`, `last` is ignored and num_free is num_nodes. Deterministic. Not for concurrent calls:
/// METIS draws from the process-wide generator, which it seeds.
std::optional<EliminationOrder> ChooseEliminationOrder(const NodeGraph& graph,
                                                       std::span<const uint32_t> last,
                                                       uint64_t limit);

}  // namespace plush::tools
