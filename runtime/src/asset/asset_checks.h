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

/// Checks the numbers and the structure of the factor: columns of ascending rows with a positive
/// diagonal first, holding every entry that a numeric refactoring of the cage's matrix writes. The
/// pattern is looked at only where the tets' nodes and the columns are sound.
/// O(nonzeros log nonzeros).
void CheckFactor(const AssetLayout& layout, CheckSink* sink);

/// Checks tets, tree, patches, links, triangles and vertices of the collision surface: every index,
/// order and weight, and that the tree's depth is at most kMaxTreeDepth. O(triangles).
void CheckCollision(const AssetLayout& layout, CheckSink* sink);

/// Reports the elements of `numbers` (`per_element` floats each) that are not finite or outside
/// [lowest, highest].
void CheckNumbers(std::span<const float> numbers, size_t per_element, float lowest, float highest,
                  const char* section, CheckSink* sink);

}  // namespace plush
