// SPDX-License-Identifier: MIT
// Divides the cage's nodes into clusters, which move as rigid bodies in the coarse level of a step.
#pragma once

#include "plush/types.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace plush::tools {

/// The cluster of each node. Each cluster is connected by edges of tets, so it has nodes of one
/// component only. It has at least kMinClusterNodes nodes if its component has.
struct Clusters {
  std::vector<uint16_t> of_nodes;  ///< each < count (num_nodes x 1), or empty
  uint32_t count = 0;              ///< at most kMaxClusters of plush/asset.h
};

/// Fewer nodes have rigid motions that move no node.
inline constexpr uint32_t kMinClusterNodes = 4;

/// Number of clusters of a component with this many nodes, if the user gives none: a cluster for 12
/// nodes up to 8 of them, for 24 up to 12, for 384 up to 32, whichever are most; at least 1.
/// README: what more or fewer bring and cost.
uint32_t AutoClusters(uint32_t num_nodes);

/// Makes compact clusters of about equal numbers of nodes in each component, with few tets that
/// have nodes of two. `tets` have indices into `nodes` [m], and every node belongs to one.
/// - `count` is the number of clusters of the body, at most kMaxClusters; 0 gives none. Each
///   component has at least one; the others go where nodes are most. Small components have fewer
///   (kMinClusterNodes), so the body can have fewer, too.
/// - Without `count`, each component has AutoClusters of its nodes, or a share of 32 in all if that
///   is less.
/// - A body of more than kMaxClusters components has no clusters.
///
/// Clusters are numbered by their first nodes. Deterministic; O(count tets log tets).
Clusters MakeClusters(std::span<const Vec3> nodes, std::span<const std::array<uint32_t, 4>> tets,
                      std::optional<uint32_t> count);

/// Share of the tets that have nodes of two clusters or more; 0 without clusters. Only these resist
/// rigid motions of clusters. `of_nodes` is empty or has an element for each node.
double StraddlingShare(std::span<const std::array<uint32_t, 4>> tets,
                       std::span<const uint16_t> of_nodes);

}  // namespace plush::tools
