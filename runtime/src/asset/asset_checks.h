// SPDX-License-Identifier: MIT
// The checks that Trust::kValidated skips: every index, every number, every order.
#pragma once

#include "asset/asset_layout.h"
#include "asset/check_sink.h"

#include <limits>

namespace plush {

// Ranges of the numbers in a .plush file. Wide enough for anything that can be modelled, and narrow
// enough that products of a few of them stay far from the ends of a double, and that a division by
// a checked positive float is finite. schemas/README.md lists them for users.

/// Smallest positive number [any unit]: a smaller one could be flushed to zero by a game's
/// floating-point mode.
inline constexpr float kMinPositive = std::numeric_limits<float>::min();

/// Masses [kg], volumes [m^3], moduli [Pa], moduli times volumes [J]: their products with squares
/// of kMaxInverse and of kMaxCoordinate stay below 1e100.
inline constexpr float kMaxQuantity = 1.0e30f;

/// Coordinates and lengths [m]: cubes are finite in float.
inline constexpr float kMaxCoordinate = 1.0e9f;

/// Entries of Dm^-1 [1/m]: squares are finite in float.
inline constexpr float kMaxInverse = 1.0e18f;
inline constexpr float kMaxDamping = 10.0f;  ///< [s]

/// Entries of the factor [1] and of its diagonal blocks' inverses [1/kg]: squares are finite in
/// float.
inline constexpr float kMaxFactor = 1.0e18f;

/// Barycentric weights: 1 in magnitude inside a tet; outside it grows with distance over height.
inline constexpr float kMaxWeight = 1.0e6f;

/// Components of a unit normal, with room for rounding.
inline constexpr float kMaxNormal = 1.01f;

/// Baked time step [s].
inline constexpr float kMinTimeStep = 1.0e-6f;
inline constexpr float kMaxTimeStep = 1.0f;

/// Checks vertices, triangles, parts and embedding. O(vertices + triangles).
void CheckVisual(const AssetLayout& layout, CheckSink* sink);

/// Checks nodes, tets, materials and regions. O(nodes + tets + materials + region nodes).
void CheckSimulation(const AssetLayout& layout, CheckSink* sink);

/// Checks the blocks: places with four nodes or none, no node twice in a block, numbers in their
/// ranges and zero without a tet, and that each tet has a place of its own with its nodes.
/// O(tets), while they are fewer than some 100,000.
void CheckBlocks(const AssetLayout& layout, CheckSink* sink);

/// Checks the numbers and the structure of the factor: supernodes that cover the columns, the rows
/// and the values, each before those that have its rows, holding every entry that a numeric
/// refactoring of the cage's matrix writes. The pattern is checked only if the tets' nodes and
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
