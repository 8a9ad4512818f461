// SPDX-License-Identifier: MIT
// The checks that Trust::kValidated skips: every index, every number, every order.
#pragma once

#include "asset/asset_layout.h"
#include "asset/check_sink.h"

#include <limits>

namespace plush {

// Ranges of the numbers in a .plush file. They admit anything that can be modelled. Products of a
// few such numbers stay far within a double's range, and dividing by a checked positive float gives
// a finite result. schemas/README.md lists the ranges for users.

/// Smallest positive number [any unit]. A game's floating-point mode could flush a smaller one to
/// zero.
inline constexpr float kMinPositive = std::numeric_limits<float>::min();

/// Masses [kg], volumes [m^3], moduli [Pa], moduli times volumes [J]. Their products with squares
/// of kMaxInverse and of kMaxCoordinate stay below 1e100.
inline constexpr float kMaxQuantity = 1.0e30f;

/// Coordinates and lengths [m]; their cubes are finite in float.
inline constexpr float kMaxCoordinate = 1.0e9f;

/// Entries of Dm^-1 [1/m]; their squares are finite in float.
inline constexpr float kMaxInverse = 1.0e18f;
inline constexpr float kMaxDamping = 10.0f;  ///< [s]

/// Entries of the factor [1] and of its diagonal blocks' inverses [1/kg]; their squares are finite
/// in float.
inline constexpr float kMaxFactor = 1.0e18f;

/// Barycentric weights. At most 1 in magnitude inside a tet; outside they grow with distance over
/// height.
inline constexpr float kMaxWeight = 1.0e6f;

/// Components of a unit normal or tangent, with a margin for rounding.
inline constexpr float kMaxNormal = 1.01f;

/// Most deviation of the length of a unit quaternion from 1.
inline constexpr float kUnitRotation = 1.0e-3f;

/// Baked time step [s].
inline constexpr float kMinTimeStep = 1.0e-6f;
inline constexpr float kMaxTimeStep = 1.0f;

/// Checks vertices, triangles, parts and embedding. O(vertices + triangles).
void CheckVisual(const AssetLayout& layout, CheckSink* sink);

/// Checks nodes, tets, materials and regions. O(nodes + tets + materials + region nodes).
void CheckSimulation(const AssetLayout& layout, CheckSink* sink);

/// Checks the clusters, if there are any. O(nodes + tets).
/// - Indices are below the number of clusters; each cluster has a node.
/// - As many components as the file gives hold the clusters, each cluster in one.
void CheckClusters(const AssetLayout& layout, CheckSink* sink);

/// Checks the blocks. O(tets) below about 100,000 tets.
/// - A place has four nodes or none, and no block has a node twice.
/// - Numbers are in their ranges, and zero in places without a tet.
/// - Each tet has its own place, with its nodes.
void CheckBlocks(const AssetLayout& layout, CheckSink* sink);

/// Checks the numbers and the structure of the factor. O((rows + tets) log rows + values).
/// - The supernodes cover the columns, the rows and the values.
/// - A supernode comes before those that have its rows as columns.
/// - The pattern holds every entry that a numeric refactoring of the cage's matrix writes. This is
///   checked only if the tets' nodes and the supernodes are sound.
void CheckFactor(const AssetLayout& layout, CheckSink* sink);

/// Checks tets, tree, patches, links, triangles and vertices of the collision surface: every index,
/// order and weight, and that the tree's depth is at most kMaxTreeDepth. O(triangles).
void CheckCollision(const AssetLayout& layout, CheckSink* sink);

/// Checks the tuning, if there is one: a solver that has one, and iterations in their ranges.
void CheckTuning(const AssetLayout& layout, CheckSink* sink);

/// Checks a static mesh: every index and number, that neighbours name each other across an edge
/// that they pass in opposite directions, and that the tree names no leaf beyond the last. Does not
/// compare bounds with positions. O(triangles).
void CheckStaticMesh(const AssetLayout& layout, CheckSink* sink);

/// Whether the tet has four distinct nodes, all below `num_nodes`.
bool IsSound(const Tet& tet, size_t num_nodes);

/// Reports the elements of `numbers` (`per_element` floats each) that are not finite or not in
/// [lowest, highest].
void CheckNumbers(std::span<const float> numbers, size_t per_element, float lowest, float highest,
                  const char* section, CheckSink* sink);

}  // namespace plush
