// SPDX-License-Identifier: MIT
// Triangles of two deformed bodies that may intersect [Civ 5.4.3.2, 5.4.4].
#pragma once

#include "collision/collision_state.h"

#include <cstdint>

namespace plush {

/// A triangle of each of two bodies, with its patch and CdgTet.
struct CandidatePair {
  uint32_t triangles[2] = {};
  uint32_t patches[2] = {};
  uint32_t tets[2] = {};
};

/// Receives a pair; returns false to stop.
using CandidateCallback = bool (*)(void* user, const CandidatePair& pair);

/// A body and the origin of its coordinates.
struct PlacedBody {
  const CollisionBody& body;
  double origin[3];    ///< [m]
  float scale = 1.0f;  ///< of the body: body.x is as much larger than body.rest
};

/// Two ranges of triangles are paired all with all once the product of their sizes is at most this
/// [Civ 5.4.3.2].
inline constexpr uint32_t kPairedAtOnce = 8;

/// A patch of each of two bodies, with its CdgTet.
struct PatchPair {
  uint32_t patches[2] = {};
  uint32_t tets[2] = {};
};

/// Receives a pair; returns false to stop.
using PatchPairCallback = bool (*)(void* user, const PatchPair& pair);

/// Calls back with pairs of patches of `a` and `b` whose tets' contents may meet, each pair once.
/// Returns false if the callback stopped the search. Does not allocate.
bool ForPatchPairs(const PlacedBody& a, const PlacedBody& b, void* user,
                   PatchPairCallback callback);

/// Whether the surfaces may come within `distance` [m] of each other. If not, they are farther
/// apart.
bool MayMeet(const PlacedBody& a, const PlacedBody& b, float distance);

/// Calls back with pairs of a triangle of `a` and one of `b`, each pair once. These include all
/// that intersect, with vertices where VertexPosition places them. Returns false if the callback
/// stopped the search. A larger `paired_at_once` (>= 1) tests fewer bounds and gives more pairs.
/// Does not allocate.
bool ForCandidatePairs(const PlacedBody& a, const PlacedBody& b, uint32_t paired_at_once,
                       void* user, CandidateCallback callback);
/// The same for the triangles of two patches.
bool ForCandidatePairs(const PlacedBody& a, const PlacedBody& b, const PatchPair& of,
                       uint32_t paired_at_once, void* user, CandidateCallback callback);

}  // namespace plush
