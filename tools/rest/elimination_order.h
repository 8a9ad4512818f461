// SPDX-License-Identifier: MIT
// Chooses the order in which nodes are eliminated, for few non-zeros of the Cholesky factor.
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

uint32_t CountComponents(const NodeGraph& graph);

/// Result of eliminating a symmetric pattern in some order, by positions in that order. Counts all
/// structural fill.
struct EliminationTree {
  std::vector<uint32_t> parents;  ///< first row below the diagonal, kNoParent at roots (n x 1)
  std::vector<uint32_t> counts;   ///< non-zeros of the factor's columns with diagonal (n x 1)
  uint64_t nonzeros = 0;          ///< sum of the counts
};

inline constexpr uint32_t kNoParent = UINT32_MAX;

/// Elimination tree of a matrix with this pattern if node order[i] is eliminated i-th; nullopt if
/// the factor has more than `limit` non-zeros. O(non-zeros) time, O(num_nodes) memory.
std::optional<EliminationTree> BuildEliminationTree(const NodeGraph& graph,
                                                    std::span<const uint32_t> order,
                                                    uint64_t limit);

/// An order and its cost. The nodes before num_free and those from there on are each in postorder:
/// the columns of a subtree of the elimination tree are contiguous. The last child before a column
/// is the one that can best share a dense block with it.
struct EliminationOrder {
  std::vector<uint32_t> order;  ///< position -> node (num_nodes x 1), a permutation
  uint64_t nonzeros = 0;        ///< of the factor
  uint32_t num_free = 0;        ///< nodes from here on are those of `last`
};

/// The better of minimum degree (AMD) and nested dissection (METIS, fixed seed), AMD at a tie;
/// nullopt if both need more than `limit` non-zeros.
/// - The nodes `last` (ascending, each below num_nodes) are eliminated after all others, so that
/// the
///   factor of the others is the leading part of the whole.
/// - If that needs more than `limit` non-zeros, or more than 1.5 times those of the best order,
///   `last` is ignored and num_free is num_nodes.
///
/// Deterministic. Not for concurrent calls: METIS seeds and uses the process-wide random generator.
std::optional<EliminationOrder> ChooseEliminationOrder(const NodeGraph& graph,
                                                       std::span<const uint32_t> last,
                                                       uint64_t limit);

}  // namespace plush::tools
