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

/// Non-zeros of the Cholesky factor of a matrix with this pattern, the diagonal and all structural
/// fill included, if node order[i] is eliminated i-th; none where they are more than `limit`.
/// O(non-zeros) time, O(num_nodes) memory.
std::optional<uint64_t> CountFactorNonzeros(const NodeGraph& graph, std::span<const uint32_t> order,
                                            uint64_t limit);

/// An order and its cost.
struct EliminationOrder {
  std::vector<uint32_t> order;  ///< position -> node (num_nodes x 1), a permutation
  uint64_t nonzeros = 0;        ///< of the factor
};

/// The better of minimum degree (AMD) and nested dissection (METIS, fixed seed), AMD at a tie; none
/// where both need more than `limit` non-zeros. Deterministic. Not for concurrent calls: METIS
/// draws from the process-wide generator, which it seeds.
std::optional<EliminationOrder> ChooseEliminationOrder(const NodeGraph& graph, uint64_t limit);

}  // namespace plush::tools
