// SPDX-License-Identifier: MIT
// Data that queries on one body keep from its last refit: volumes of the tree over the tets, and
// the map from the body's coordinates to each tet's barycentric ones.
#pragma once

#include "plush/asset.h"
#include "plush/format/cdg_records.h"

#include "base/array.h"
#include "base/float4.h"
#include "base/node_vec.h"

#include <cmath>
#include <cstdint>
#include <span>

namespace plush {

/// Extents along x, y, z, (1,1,1), (1,1,-1), (1,-1,1), (-1,1,1), and along x once more [m].
struct Dop14 {
  float low[8];
  float high[8];
};

/// One value per direction of a Dop14.
struct DopLanes {
  Float4 first;   ///< x, y, z, (1,1,1)
  Float4 second;  ///< (1,1,-1), (1,-1,1), (-1,1,1), x
};

/// dot(direction, p), each with at most two roundings.
inline DopLanes Project(const Vec3& p) {
  return {Float4{p.x, p.y, p.z, p.x + p.y + p.z},
          Float4{p.x + p.y - p.z, p.x - p.y + p.z, p.y - p.x + p.z, p.x}};
}

/// |x| + |y| + |z|, an upper bound of the length of p's projection on any of the directions.
inline float SumNorm(const Vec3& p) { return std::fabs(p.x) + std::fabs(p.y) + std::fabs(p.z); }

inline void StoreLanes(const DopLanes& lanes, float* to) {
  Store4(lanes.first, to);
  Store4(lanes.second, to + 4);
}

/// Barycentric coordinates in a deformed tet, in steps of 1/256 like the stored bounds:
/// q_i(p) = x[i] p.x + y[i] p.y + z[i] p.z + offset[i] = 256 xi_i, i in the order of CdgTet::nodes.
struct TetFrame {
  float x[4];
  float y[4];
  float z[4];
  float offset[4];
  float margin[4];  ///< most by which q_i of a query's point may differ from q_i of a vertex placed
                    ///< there, within the body's reach; kNoFrame in all four if the tet is too flat
  float step[4];    ///< distance over which q_i changes by 1, rounded down [m]

  bool usable() const { return margin[0] <= kMostMargin; }

  /// A sixteenth of a tet. With a larger margin, culling in these coordinates saves nothing.
  static constexpr float kMostMargin = 16.0f;
  static constexpr float kNoFrame = 1.0e30f;
};

/// A connected piece of a surface.
struct SurfacePiece {
  uint32_t first_patch = 0;
  float area = 0.0f;  ///< at rest [m^2]
};

/// Allocated once per body. Each refit overwrites all but the pieces and `is_open`.
struct CollisionState {
  Array<SurfacePiece> pieces;  ///< by first patch
  Array<uint32_t> piece_of;    ///< the piece of each patch (num_patches x 1)
  Array<Dop14> volumes;        ///< of the tree's nodes, in its order (2 num_tets - 1 x 1)
  Array<TetFrame> frames;      ///< of the CdgTets (num_tets x 1)
  Array<float> projections;    ///< of the nodes on the directions (num_nodes x 8)
  float reach = 0.0f;          ///< largest |x| + |y| + |z| of any node [m]
  Vec3 middle;                 ///< centre of the surface's bounding box [m]
  float radius = 0.0f;         ///< of a sphere about `middle` that holds the surface [m]
  bool bounded = false;  ///< whether the reach is below kMostReach. If not, queries ignore volumes
                         ///< and frames, and test every triangle
  bool has_frames = false;  ///< whether the last refit updated the frames
  bool is_open = false;     ///< whether the surface has open borders

  /// Largest reach with which products of a few coordinates are finite in float.
  static constexpr float kMostReach = 1.0e18f;

  /// Allocates memory for the surface and the nodes of a body; nothing for an empty surface.
  /// Returns false if the allocator fails.
  bool Reserve(const Allocator& allocator, const CollisionView& surface, size_t num_nodes);
};

/// A body, as queries see it.
struct CollisionBody {
  const CollisionView& surface;
  std::span<const Vec3> rest;   ///< node positions at rest [m] (num_nodes x 1)
  NodeVectors x;                ///< in the body's coordinates [m], finite (num_nodes x 1)
  const CollisionState& state;  ///< of a refit at x
};

/// Updates volumes and frames to node positions `x` (finite). The volumes hold every vertex as
/// VertexPosition places it, also of flat and inverted tets. O(num_nodes + num_tets); does not
/// allocate.
void Refit(const CollisionView& surface, NodeVectors x, CollisionState* state);
/// Leaves the frames out, two thirds of the work. Queries then test all triangles of the tets that
/// they reach.
void RefitVolumes(const CollisionView& surface, NodeVectors x, CollisionState* state);

}  // namespace plush
