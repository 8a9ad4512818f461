// SPDX-License-Identifier: MIT
// What touches what: colliders in a body's coordinates, points of its surface, and the inputs of a
// contact solve.
#pragma once

#include "plush/collider.h"
#include "plush/format/cdg_records.h"
#include "plush/types.h"

#include "base/node_vec.h"
#include "base/vector_math.h"
#include "colliders/collider_mesh.h"
#include "colliders/ridge.h"
#include "colliders/solid.h"

#include <cstdint>
#include <limits>
#include <span>

namespace plush {

/// Coefficients of a surface. Those below 0 are not given.
struct Coefficients {
  float friction = -1.0f;
  float restitution = -1.0f;
};

/// Where a solid is.
struct SolidPlace {
  Mat3 rotation;  ///< from the solid's coordinates
  Vec3 position;  ///< of its centre [m]

  Vec3 ToLocal(const Vec3& x) const { return TransposeTimes(rotation, x - position); }
};

/// A collider in a body's coordinates: a half-space, a convex solid or a mesh.
struct LocalCollider {
  // Of a half-space, at the end of the substep.
  Vec3 normal;          ///< unit, out of it
  float offset = 0.0f;  ///< dot(normal, x) on the surface [m]
  // Of both.
  Coefficients coefficients;
  uint64_t user_data = 0;
  Vec3 shift;        ///< displacement in the substep of its material at the origin [m]
  Mat3 change = {};  ///< of its material's vectors in the substep: their rotation less I
  Vec3 run;          ///< displacement in the substep of a conveyor's surface relative to it [m]
  // Of a half-space, at the start of the substep.
  Vec3 start_normal;
  float start_offset = 0.0f;  ///< [m]
  uint32_t slot = 0;          ///< of its id
  // Of a solid or mesh.
  bool is_solid = false;  ///< whether it is one of them
  Solid shape;            ///< unless it is a mesh
  ColliderMesh mesh;
  float reach = 0.0f;  ///< of TangentFor to a mesh [m]
  SolidPlace start;    ///< at the start of the substep
  Vec3 anchor;  ///< where end.position is, in the collider's coordinates, in the body's unit [m]:
                ///< the middle of a hull, near the body on a mesh
  // Of all.
  SolidPlace end;  ///< at the end of the substep

  bool is_mesh() const { return mesh.source != nullptr; }
  /// From the collider's pose position to end.position, in the body's coordinates [m].
  Vec3 AnchorArm() const { return end.rotation * anchor; }

  /// Those of a mesh's face if its material gives them, else the collider's. `face` may be
  /// kNoTriangle.
  Coefficients CoefficientsOn(uint32_t face) const;
  /// Displacement in the substep of its material that starts at `x` [m]. It ends where the
  /// collider takes it: straight ways would lead what sticks to a turntable outwards.
  Vec3 MotionAt(const Vec3& x) const { return shift + change * x; }
  /// The tangent plane for a point, at the end of the substep, in the body's coordinates. That of
  /// a mesh is the nearest triangle's plane; the gap is infinite if none is in reach.
  Tangent TangentFor(const Vec3& x) const;
};

/// Distance of a point from a half-space [m], negative inside.
inline float Gap(const LocalCollider& plane, const Vec3& x) {
  return Dot(plane.normal, x) - plane.offset;
}

/// The same at the start of the substep.
inline float StartGap(const LocalCollider& plane, const Vec3& x) {
  return Dot(plane.start_normal, x) - plane.start_offset;
}

/// The plane that a point may not pass in a substep.
struct HoldingPlane {
  Vec3 normal;           ///< unit, out of the collider
  float offset = 0.0f;   ///< dot(normal, x) on the plane, at the end of the substep [m]
  float allowed = 0.0f;  ///< AllowedDepth of the point [m]
};

/// The gap of a point that started at `x` from the plane, which moved with its collider [m].
inline float StartGap(const LocalCollider& collider, const HoldingPlane& plane, const Vec3& x) {
  if (!collider.is_solid) return StartGap(collider, x);
  const Vec3 at = collider.end.rotation * collider.start.ToLocal(x) + collider.end.position;
  return Dot(plane.normal, at) - plane.offset;
}

/// The plane of a mesh's face as the one that holds a point which starts at `start` [m]. See
/// AllowedDepth for `rise`.
HoldingPlane PlaneOfFace(const LocalCollider& collider, uint32_t face, const Vec3& start,
                         float rise);

/// The same for a point of a triangle that a ridge of a mesh presses on.
HoldingPlane PlaneOfRidge(const LocalCollider& collider, const RidgePoint& at, const Vec3& start,
                          float rise);

/// The plane that holds a point that the substep takes from `start` to `end` [m]. Of a solid, the
/// tangent plane where the point enters. If it does not enter, or starts inside, the one of the
/// surface nearest to its start. A tangent plane moves with its solid and stays the same for the
/// whole substep, so that the solve is convex. See AllowedDepth for `rise`.
HoldingPlane FindHoldingPlane(const LocalCollider& collider, const Vec3& start, const Vec3& end,
                              float rise);

/// The plane that holds a point inside a triangle, which starts at `start` [m]: PlaneBetween the
/// solid and the triangle with these corners, in the solid's coordinates (3 x 1).
HoldingPlane FindHoldingPlane(const LocalCollider& solid, const Vec3* corners,
                              const TrianglePoint& point, const Vec3& start, float rise);

/// How far below a plane a point may stay in a substep that it starts with `start_gap` [m]: its
/// depth there, less `rise` [m]. Contacts lift points by no more, for that becomes speed. See
/// FindPushOut for the rest.
inline float AllowedDepth(float start_gap, float rise) {
  return start_gap < -rise ? -start_gap - rise : 0.0f;
}

/// How deep pinned nodes hold a point below a plane [m]: by what they are deeper than `most` [m],
/// as `gap_of(k)` [m] says, times their `weights` (4 x 1). `movable`: 0 for pinned nodes, 1 for
/// others (4 x 1). Contacts do not ask the other nodes to make up for this: a box that closes on
/// pinned nodes would throw them off.
template <class GapOf>
float PinnedDepth(const float* movable, const float* weights, float most, const GapOf& gap_of) {
  float depth = 0.0f;
  for (int k = 0; k < 4; ++k) {
    if (movable[k] != 0.0f || !(weights[k] > 0.0f)) continue;
    const float gap = gap_of(k) + most;
    depth += gap < 0.0f ? -gap * weights[k] : 0.0f;
  }
  return depth;
}

/// A point of a body: a vertex of its collision surface, a point inside one of its triangles, or a
/// node of a cage without one.
struct EmbeddedPoint {
  uint32_t id = 0;         ///< see TouchingSurface
  uint32_t nodes[4] = {};  ///< those with a weight first
  float weights[4] = {};   ///< of the nodes; their sum is 1
  float u = 0.0f;          ///< of a point inside a triangle: weights of its second
  float v = 0.0f;          ///< and third corner
  uint16_t material = 0;   ///< of the asset
  uint8_t pinned = 0;      ///< bit k: nodes[k] is pinned

  /// A node's weight, 0 if it is pinned.
  float Free(int k) const { return ((pinned >> k) & 1) != 0 ? 0.0f : weights[k]; }

  /// Position, or another vector, of the point from those of the nodes.
  template <class Vectors>
  Vec3 Of(const Vectors& values) const {
    Vec3 sum;
    for (int k = 0; k < 4; ++k) sum += values[nodes[k]] * weights[k];
    return sum;
  }
  /// See plush::PinnedDepth. `gap_of(node)`: of a node of the body.
  template <class GapOf>
  float PinnedDepth(float most, const GapOf& gap_of) const {
    if (pinned == 0) return 0.0f;
    float movable[4];
    for (int k = 0; k < 4; ++k) movable[k] = ((pinned >> k) & 1) != 0 ? 0.0f : 1.0f;
    return plush::PinnedDepth(movable, weights, most, [&](int k) { return gap_of(nodes[k]); });
  }
  /// The mean position of its free nodes, if it has some.
  template <class Vectors>
  Vec3 FreeMeanOf(const Vectors& values) const {
    Vec3 sum;
    for (int k = 0; k < 4; ++k) sum += values[nodes[k]] * Free(k);
    return sum * (1.0f / MovableShare());
  }
  /// How much of it free nodes carry, at most 1.
  float MovableShare() const { return Free(0) + Free(1) + Free(2) + Free(3); }
  /// Adds the parts of an impulse on the point that move nodes.
  void Push(const Vec3& impulse, std::span<NodeVec> to) const {
    for (int k = 0; k < 4; ++k) to[nodes[k]] += impulse * Free(k);
  }
  /// Whether both are the same place: a vertex on a border belongs to several patches.
  bool IsAt(const EmbeddedPoint& other) const;
};

/// What of a body touches: the vertices of its collision surface and points inside its triangles,
/// or the nodes of a cage that has none. Their ids are those of the vertices or nodes, then
/// kPointsPerTriangle for each triangle.
struct TouchingSurface {
  const CollisionView* collision = nullptr;
  std::span<const uint8_t> pinned;           ///< (num_nodes x 1)
  std::span<const uint16_t> tet_materials;   ///< (num_tets x 1), or empty: all are the same
  std::span<const uint16_t> node_materials;  ///< of a cage that touches with its nodes
                                             ///< (num_nodes x 1), or empty: all are the same

  static constexpr uint32_t kPointsPerTriangle = 4;
  /// Of points that touch another body: they have none.
  static constexpr uint32_t kNoId = UINT32_MAX;

  bool has_vertices() const { return !collision->tets.empty(); }
  uint32_t num_points() const {
    return static_cast<uint32_t>(has_vertices() ? collision->vertices.size() : pinned.size());
  }
  /// Whether the id is of a point inside a triangle.
  bool IsInside(uint32_t id) const { return has_vertices() && id >= num_points(); }
  /// Ids are below this.
  uint64_t num_ids() const {
    return num_points() +
           (has_vertices() ? uint64_t{kPointsPerTriangle} * collision->num_triangles() : 0);
  }
  /// The point with this id; `u` and `v` matter inside triangles. Takes
  /// O(log(number of patches)).
  EmbeddedPoint Point(uint32_t id, float u = 0.0f, float v = 0.0f) const;
  /// The triangle of a point, for a vertex the first one of those that have it; UINT32_MAX if there
  /// is none.
  uint32_t TriangleAt(uint32_t id) const;
  /// The triangle of a point inside one.
  uint32_t TriangleOf(uint32_t id) const { return (id - num_points()) / kPointsPerTriangle; }
  /// A point inside a triangle of a CdgTet, with the first of its ids.
  EmbeddedPoint Inside(uint32_t tet, uint32_t triangle, float u, float v) const;
  /// The same for a vertex in a CdgTet.
  EmbeddedPoint Vertex(uint32_t tet, uint32_t id) const;
  /// Calls visit(k, corner) for the corners of the triangle that the point with this id is in.
  template <class Visit>
  void ForCorners(uint32_t id, Visit visit) const {
    visit(0, Point(id, 0.0f, 0.0f));
    visit(1, Point(id, 1.0f, 0.0f));
    visit(2, Point(id, 0.0f, 1.0f));
  }
  /// A node of the cage as a point.
  EmbeddedPoint Node(uint32_t id) const;

 private:
  EmbeddedPoint WithWeights(uint32_t tet, uint32_t id, const float* weights) const;
};

/// What the coefficients of a body's contacts come from.
struct CoefficientRules {
  Coefficients body;                    ///< those given replace the materials'
  std::span<const Coefficients> baked;  ///< by material, or empty: none gives any
  MixCoefficients mix_friction = nullptr;
  MixCoefficients mix_restitution = nullptr;
  uint64_t user_data = 0;  ///< of the body

  /// See WorldDesc. Both are >= 0, and restitution at most 1. `face`: of a mesh.
  float Friction(const EmbeddedPoint& point, const LocalCollider& collider,
                 uint32_t face = kNoTriangle) const;
  float Restitution(const EmbeddedPoint& point, const LocalCollider& collider,
                    uint32_t face = kNoTriangle) const;
};

/// Contacts leave those points alone that pinned nodes carry for the most part: the other nodes,
/// with less than this share, would have to move several times as far.
inline constexpr float kLeastMovable = 0.25f;

struct AttachedPoints;

/// Inputs of a contact solve besides its state.
struct ContactProblem {
  std::span<const LocalCollider> colliders;  ///< near the body, ascending slots
  TouchingSurface surface;
  CoefficientRules coefficients;
  NodeVectors x;               ///< node positions at the start of the substep [m] (num_nodes x 1)
  std::span<const NodeVec> y;  ///< positions of the current iterate [m] (num_nodes + 1 x 1)
  std::span<const NodeVec>
      b;                   ///< right-hand side of the outer iteration [kg m] (num_nodes + 1 x 1)
  float tolerance = 0.0f;  ///< depth below which a point counts as below a plane [m]
  float slop = 0.0f;       ///< deeper points are pushed out, see FindPushOut [m]
  float rise = 0.0f;       ///< see AllowedDepth [m]
  float flush = 0.0f;      ///< surfaces of colliders this near to each other are as one [m]
  float accuracy = 0.0f;   ///< sweeps end once they move contacts by less [m]
  float reach = 0.0f;      ///< tets with a node closer to a plane are listed [m]; for speed
                           ///< only
  /// Pinned nodes count as no deeper than this [m], see PinnedDepth. Cages stand out by less.
  float most_pinned = std::numeric_limits<float>::infinity();
  bool is_slow = false;  ///< the body is near rest: contacts pass on their loads slowly
  int sweeps = 8;        ///< between two solves with A; more if they would leave points sunk
  int searches = 2;  ///< for sunk points, each with sweeps. Those that the last sweeps press below
                     ///< a plane are left to the next solve. 0: sweeps of the known ones
  AttachedPoints* attached = nullptr;  ///< the body's, or null: none

  /// The collider in a slot, which is near the body.
  const LocalCollider& InSlot(uint32_t slot) const;
  /// Whether the collider in a slot is near the body.
  bool HasSlot(uint32_t slot) const;
  /// The plane that holds a point in the substep. It ends at problem.y + `moved` (num_nodes + 1 x
  /// 1, or empty). The collider is not a mesh. See GiveWay.
  HoldingPlane PlaneFor(const LocalCollider& collider, const EmbeddedPoint& point,
                        std::span<const NodeVec> moved) const;
  /// Replaces the plane of a solid that holds a point by that of an easier face (EasiestPlane).
  void GiveWay(const LocalCollider& solid, const EmbeddedPoint& point,
               std::span<const NodeVec> moved, HoldingPlane* plane) const;
  /// The triangle of a point, the first one of a vertex, in a solid's coordinates. A node of a cage
  /// has one without an area, with the middle of all nodes.
  SweptTriangle TriangleAround(const LocalCollider& solid, const EmbeddedPoint& point,
                               std::span<const NodeVec> moved) const;
  /// Where a point ends [m].
  Vec3 EndOf(const EmbeddedPoint& point, std::span<const NodeVec> moved) const {
    return moved.empty() ? point.Of(y) : point.Of(y) + point.Of(moved);
  }
};

}  // namespace plush
