// SPDX-License-Identifier: MIT
// What touches what: planes in a body's coordinates, points of its surface, and the inputs of a
// contact solve.
#pragma once

#include "plush/collider.h"
#include "plush/format/cdg_records.h"
#include "plush/types.h"

#include "base/node_vec.h"
#include "base/vector_math.h"

#include <cstdint>
#include <span>

namespace plush {

/// Coefficients of a surface. Those below 0 are not given.
struct Coefficients {
  float friction = -1.0f;
  float restitution = -1.0f;
};

/// A half-space in a body's own coordinates.
struct LocalCollider {
  Vec3 normal;          ///< unit, out of the solid
  float offset = 0.0f;  ///< dot(normal, x) on the surface [m]
  Coefficients coefficients;
  uint64_t user_data = 0;  ///< of its collider
  Vec3 shift;              ///< displacement in the substep of its material at the origin [m]
  Vec3 turn;               ///< turn of its material in the substep [rad]
  // At the start of the substep.
  Vec3 start_normal;
  float start_offset = 0.0f;  ///< [m]

  /// Displacement in the substep of its material at `x` [m].
  Vec3 MotionAt(const Vec3& x) const { return shift + Cross(turn, x); }
};

/// Distance of a point from the plane [m], negative inside the solid.
inline float Gap(const LocalCollider& plane, const Vec3& x) {
  return Dot(plane.normal, x) - plane.offset;
}

/// The same at the start of the substep.
inline float StartGap(const LocalCollider& plane, const Vec3& x) {
  return Dot(plane.start_normal, x) - plane.start_offset;
}

/// How far below a plane a point may stay in a substep that it starts with `start_gap` [m]: its
/// depth there, less `slop` [m]. Contacts correct only small depths. Larger ones would become
/// speed; see FindPushOut.
inline float AllowedDepth(float start_gap, float slop) {
  return start_gap < -slop ? -start_gap - slop : 0.0f;
}

/// Whether there is a plane: an unused one has no normal.
inline bool IsUsed(const LocalCollider& plane) { return Dot(plane.normal, plane.normal) != 0.0f; }

/// A point of a body: a vertex of its collision surface, or a node of a cage without one.
struct EmbeddedPoint {
  uint32_t id = 0;         ///< the vertex or node
  uint32_t nodes[4] = {};  ///< those with a weight first
  float weights[4] = {};   ///< of the nodes; their sum is 1
  float free[4] = {};      ///< the same, 0 for pinned nodes
  uint16_t material = 0;   ///< of the asset

  /// Position, or another vector, of the point from those of the nodes.
  template <class Vectors>
  Vec3 Of(const Vectors& values) const {
    Vec3 sum;
    for (int k = 0; k < 4; ++k) sum += values[nodes[k]] * weights[k];
    return sum;
  }
  /// Adds the parts of an impulse on the point that move nodes.
  void Push(const Vec3& impulse, std::span<NodeVec> to) const {
    for (int k = 0; k < 4; ++k) to[nodes[k]] += impulse * free[k];
  }
  /// Whether both are the same place: a vertex on a border belongs to several patches.
  bool IsAt(const EmbeddedPoint& other) const;
};

/// What of a body touches: the vertices of its collision surface, or the nodes of a cage that has
/// none.
struct TouchingSurface {
  const CollisionView* collision = nullptr;
  std::span<const uint8_t> pinned;           ///< (num_nodes x 1)
  std::span<const uint16_t> tet_materials;   ///< (num_tets x 1), or empty: all are the same
  std::span<const uint16_t> node_materials;  ///< of a cage that touches with its nodes
                                             ///< (num_nodes x 1), or empty: all are the same

  bool has_vertices() const { return !collision->tets.empty(); }
  uint32_t num_points() const {
    return static_cast<uint32_t>(has_vertices() ? collision->vertices.size() : pinned.size());
  }
  /// The point with this id, below num_points(). Takes O(log(number of patches)).
  EmbeddedPoint Point(uint32_t id) const;
  /// The same for a vertex in a CdgTet.
  EmbeddedPoint Vertex(uint32_t tet, uint32_t id) const;
  /// A node of the cage as a point.
  EmbeddedPoint Node(uint32_t id) const;
};

/// What the coefficients of a body's contacts come from.
struct CoefficientRules {
  Coefficients body;                    ///< those given replace the materials'
  std::span<const Coefficients> baked;  ///< by material, or empty: none gives any
  MixCoefficients mix_friction = nullptr;
  MixCoefficients mix_restitution = nullptr;
  uint64_t user_data = 0;  ///< of the body

  /// See WorldDesc. Both are >= 0, and restitution at most 1.
  float Friction(const EmbeddedPoint& point, const LocalCollider& plane) const;
  float Restitution(const EmbeddedPoint& point, const LocalCollider& plane) const;
};

/// Contacts leave those points alone that pinned nodes carry for the most part: the other nodes,
/// with less than this share, would have to move several times as far.
inline constexpr float kLeastMovable = 0.25f;

/// Inputs of a contact solve besides its state.
struct ContactProblem {
  std::span<const LocalCollider> colliders;
  TouchingSurface surface;
  CoefficientRules coefficients;
  NodeVectors x;               ///< node positions at the start of the substep [m] (num_nodes x 1)
  std::span<const NodeVec> y;  ///< positions of the current iterate [m] (num_nodes + 1 x 1)
  std::span<const NodeVec>
      b;                   ///< right-hand side of the outer iteration [kg m] (num_nodes + 1 x 1)
  float tolerance = 0.0f;  ///< depth below which a point counts as below a plane [m]
  float slop = 0.0f;       ///< see AllowedDepth [m]
  float accuracy = 0.0f;   ///< sweeps end once they move contacts by less [m]
  float reach = 0.0f;      ///< tets with a node closer to a plane are listed [m]; for speed
                           ///< only
  int sweeps = 8;          ///< between two solves with A; more if they would leave points sunk
};

}  // namespace plush
