// SPDX-License-Identifier: MIT
// The checks that Trust::kValidated skips: every index, every number, every order.
#pragma once

#include "asset/asset_layout.h"
#include "asset/check_sink.h"

namespace plush {

/// Checks vertices, triangles, parts and embedding. O(vertices + triangles).
void CheckVisual(const AssetLayout& layout, CheckSink* sink);

/// Checks nodes, tets, materials and regions. O(nodes + tets + materials + region nodes).
void CheckSimulation(const AssetLayout& layout, CheckSink* sink);

/// Checks the blocks: places with four nodes or none, no node twice in a block, numbers in their
/// ranges and zero where there is no tet, and that each tet has a place of its own with its nodes.
/// O(tets), while they are fewer than some 100,000.
void CheckBlocks(const AssetLayout& layout, CheckSink* sink);

/// Checks the numbers and the structure of the factor: supernodes that cover the columns, the rows
/// and the values, each before those that have its rows, holding every entry that a numeric
/// refactoring of the cage's matrix writes. The pattern is looked at only where the tets' nodes and
/// the supernodes are sound. O((rows + tets) log rows + values).
void CheckFactor(const AssetLayout& layout, CheckSink* sink);

/// Checks tets, tree, patches, links, triangles and vertices of the collision surface: every index,
/// order and weight, and that the tree's depth is at most kMaxTreeDepth. O(triangles).
void CheckCollision(const AssetLayout& layout, CheckSink* sink);

/// Whether the tet has four distinct nodes below `num_nodes`.
bool IsSound(const Tet& tet, size_t num_nodes);

/// Reports the elements of `numbers` (`per_element` floats each) that are not finite or outside
/// [lowest, highest].
void CheckNumbers(std::span<const float> numbers, size_t per_element, float lowest, float highest,
                  const char* section, CheckSink* sink);

}  // namespace plush
