// SPDX-License-Identifier: MIT
// What acts on bodies: colliders, which are solid shapes that bodies cannot move, force fields,
// and springs that hold bodies.
#pragma once

#include "plush/body.h"
#include "plush/types.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace plush {

/// Largest radius or half extent of a sphere, capsule or box, and coordinate of a hull [m].
inline constexpr float kMostColliderSize = 1.0e6f;

class Asset;

/// Kinds of shapes.
enum class ShapeType : uint8_t {
  kPlane,
  kSphere,
  kCapsule,
  kBox,
  kHull,
  kHeightField,
  kMesh,
};

/// A solid half-space, in the collider's coordinates: points with dot(p, normal) < offset are
/// inside.
struct PlaneShape {
  Vec3 normal = {0.0f, 1.0f, 0.0f};  ///< points out of the solid; any length but zero
  float offset = 0.0f;               ///< distance of the surface from the pose's position along
                                     ///< the unit normal [m]
};

/// A ball about the pose's position.
struct SphereShape {
  float radius = 0.5f;  ///< [m], > 0
};

/// All points within `radius` of a segment along the collider's y axis, with the pose's position in
/// its middle.
struct CapsuleShape {
  float half_height = 0.5f;  ///< half the segment's length [m], >= 0
  float radius = 0.5f;       ///< [m], > 0
};

/// A box about the pose's position, along the collider's axes.
struct BoxShape {
  Vec3 half_extents = {0.5f, 0.5f, 0.5f};  ///< [m], > 0
};

/// What the runtime calls of hulls. A program that names no HullShape, and loads no state, does not
/// link it.
struct HullCode;
extern const HullCode kHullCode;

/// Fewest and most points of a hull.
inline constexpr size_t kLeastHullPoints = 4;
inline constexpr size_t kMostHullPoints = 256;

/// The convex hull of points, in the collider's coordinates. Points inside it and equal ones do not
/// matter. Refused if they lie in a plane, to within a few millionths of their largest coordinate.
struct HullShape {
  HullShape() = default;
  HullShape(std::span<const Vec3> hull_points) : points(hull_points), code(&kHullCode) {}

  std::span<const Vec3> points;  ///< [m] (kLeastHullPoints to kMostHullPoints x 1). AddCollider
                                 ///< copies them; those of GetCollider are the world's copy, valid
                                 ///< until the collider is removed or a state is loaded
  const HullCode* code = nullptr;
};

/// What the runtime calls of triangles. A program that names neither a HeightFieldShape nor a
/// MeshShape does not link it; one that looks for colliders (World::Raycast and others) or draws
/// them links a part.
struct TriangleCode;
extern const TriangleCode kTriangleCode;

/// Ground over a grid of points: columns along the collider's x axis, rows along its z axis, from
/// the pose's position on, heights along y. Two triangles fill a cell; their common edge leads from
/// the cell's first corner to the opposite one. Its front is up, and what is below is inside:
/// bodies there are pushed up. Beyond its border there is nothing. Triangles of cell (column, row)
/// are 2 cell and 2 cell + 1, where cell = row (columns - 1) + column.
struct HeightFieldShape {
  std::span<const float> heights;  ///< of the points, at most 1e6 [m] (rows x columns). The world
                                   ///< reads them until the collider is removed
  uint32_t columns = 0;            ///< >= 2
  uint32_t rows = 0;               ///< >= 2; at most 2^29 cells
  float spacing = 1.0f;            ///< of the points [m], > 0
  const TriangleCode* code = &kTriangleCode;
};

/// The triangles of a static mesh (`plush bake --static`), whose sides say which way they hold; or
/// the collision surface of a soft body at rest, solid if closed, else with a front. Friction and
/// restitution of a triangle's material come before those of the collider. AddCollider takes
/// memory for the triangles of a soft body, once per asset.
struct MeshShape {
  const Asset* asset =
      nullptr;         ///< must stay open and at its address until the collider is removed
  float scale = 1.0f;  ///< multiplies lengths, > 0
  const TriangleCode* code = &kTriangleCode;
};

/// Finds a coefficient of contacts from those of the body's material and of the collider, and the
/// user data of both. A coefficient below 0 is not given. Between two bodies, the one whose id has
/// the lower slot comes first, and the other one is in the collider's place. Must be pure: jobs
/// call it, in any order.
using MixCoefficients = float (*)(float of_body, uint64_t body_user_data, float of_collider,
                                  uint64_t collider_user_data);

/// A collider. Steps move it by its velocities, or by World::MoveCollider, after which they are
/// zero. World::SetColliderPose puts it elsewhere and leaves them. Nothing else moves it. Assign a
/// hull, height field or mesh as a whole, `desc.mesh = {&asset}`: that links its code.
struct ColliderDesc {
  ShapeType type = ShapeType::kPlane;
  PlaneShape plane = {};      ///< the shape if `type` is kPlane; others are ignored
  SphereShape sphere = {};    ///< of kSphere
  CapsuleShape capsule = {};  ///< of kCapsule
  BoxShape box = {};          ///< of kBox
  HullShape hull = {};        ///< of kHull
  HeightFieldShape height_field = {{}, 0, 0, 1.0f, nullptr};  ///< of kHeightField
  MeshShape mesh = {nullptr, 1.0f, nullptr};                  ///< of kMesh
  Pose pose = {};                                             ///< of the shape
  Vec3 velocity = {};          ///< of the pose's position, until changed [m/s]
  Vec3 angular_velocity = {};  ///< about the pose's position, until changed [rad/s]
  float friction = -1.0f;      ///< Coulomb coefficient, or below 0: the material's, see WorldDesc
  float restitution = -1.0f;   ///< see MaterialOverride; at most 1, or below 0: the material's
  Vec3 surface_velocity = {};  ///< of a conveyor: its surface runs at this velocity while its shape
                               ///< stays, in the collider's coordinates [m/s]. Friction takes the
                               ///< part along the surface; the part across it does nothing. Bodies
                               ///< do not sleep on it
  bool sensor = false;         ///< reports the bodies that it overlaps (ContactEvent) and does
                               ///< nothing to them: it does not push, hold or wake them. Height
                               ///< fields and closed meshes sense vertices only; open meshes are
                               ///< refused
  Filter filter = {};
  uint64_t user_data = 0;  ///< for WorldDesc::mix_friction and mix_restitution
};

/// Kinds of force fields.
enum class FieldType : uint8_t {
  kUniform,  ///< accelerates every node by `vector`
  kRadial,   ///< accelerates nodes within `radius` of `centre` away from it, by
             ///< (1 - r / radius) `strength` at distance r; below 0: towards it. For an explosion
             ///< that adds a speed, use that speed over the time step
  kWind,     ///< presses on the collision surface of bodies by 1/2 `air_density` `drag` |u_n| u_n
             ///< per area. u_n is the speed of the wind `vector` relative to the surface, along
             ///< its normal. Evaluated once per patch, with its vector area. Bodies without a
             ///< collision surface feel no wind
};

/// A field of forces. It acts as a change of velocity at the start of the next step, so it does not
/// depend on substeps and does not take bodies out of their crowds. No force changes pinned nodes.
/// A wind slows each patch relative to the air down to zero at most, however light it is. Patches
/// follow one another, so wind never adds energy to the motion relative to the air.
struct ForceField {
  FieldType type = FieldType::kUniform;
  Vec3 vector = {};          ///< kUniform: acceleration [m/s^2]; kWind: velocity of the air [m/s]
  Vec3 centre = {};          ///< of kRadial [m]
  float radius = 1.0f;       ///< of kRadial [m], > 0
  float strength = 0.0f;     ///< of kRadial [m/s^2]
  float air_density = 1.2f;  ///< of kWind [kg/m^3], >= 0
  float drag = 1.0f;         ///< drag coefficient of kWind, >= 0
  uint32_t mask = ~0u;       ///< acts on bodies whose Filter::category has one of these bits
  bool wake = false;         ///< wakes sleeping bodies in reach; otherwise they stay asleep and
                             ///< are not moved
};

/// Largest stiffness [N/m] and damping [N s/m] of an attachment.
inline constexpr float kMostStiffness = 1.0e12f;

/// A spring between a point of a body and a target: a point of another body if `other_body` is
/// valid, of a collider if `other_collider` is, else of the world. It pulls with
/// stiffness (l - rest_length) + damping dl/dt along the line between both, l being their distance.
/// With rest_length 0, it pulls with stiffness e + damping de/dt, e being the way to the target. It
/// pushes, too, if it is shorter than at rest. Forces are those at the end of each substep, so
/// that stiff springs are stable. But between bodies of very different mass, or by single nodes
/// that cannot carry the load, they may throw bodies about (runtime/README.md).
///
/// In the body's cage, the point is sum weights[i] x[nodes[i]]: see SurfacePoint. Node i feels
/// weights[i] of the force [Civ, Eq. 3.24, 3.26], unless it is pinned.
struct AttachmentDesc {
  BodyId body;
  uint32_t nodes[4] = {};  ///< of the body's cage; may be equal
  Vec4 weights;            ///< of the nodes, in [-1e-3, 1 + 1e-3]; their sum is 1 within 1e-3
  BodyId other_body;       ///< another body, or null
  uint32_t other_nodes[4] = {};
  Vec4 other_weights;
  ColliderId other_collider;  ///< or null
  Vec3 target;                ///< [m] in the world, or in the collider's coordinates; not used
                              ///< with `other_body`
  float rest_length = 0.0f;   ///< [m], in [0, kMostCoordinate]
  float stiffness = 1.0e3f;   ///< [N/m], in [0, kMostStiffness]
  float damping = 0.0f;       ///< [N s/m], in [0, kMostStiffness]
  /// No more force than this in any substep [N], > 0, infinity allowed.
  float max_force = std::numeric_limits<float>::infinity();
  /// A step whose mean force exceeds this detaches at its end [N], > 0, infinity allowed.
  float break_force = std::numeric_limits<float>::infinity();
};

/// Where a constraint lets its point move.
enum class ConstraintKind : uint8_t {
  kPoint,  ///< nowhere: the point is at the target
  kLine,   ///< along the line through the target with `direction`, without friction
  kPlane,  ///< in the plane through the target with the normal `direction`, without friction
};

/// Holds a point of a body to a place, a line or a plane of the world, without compliance [Civ, Eq.
/// 3.42]: after each step, the point is off by rounding only, at most 1e-6 of the body's size. In
/// the cage, the point is sum weights[i] x[nodes[i]], see SurfacePoint; a single node has the
/// weights (1, 0, 0, 0). A point that pinned nodes carry by more than three quarters is not held,
/// nor is a frozen body's; with a ContactMethod, what keeps nodes out of colliders comes last.
///
/// Any set of constraints is allowed. One that earlier ones imply (by the order of slots) holds
/// nothing: the same point twice, or a fifth one in a tet. So does one that is nearly implied:
/// points of a tet whose weights differ by less than 1%, planes at less than half a degree. Of two
/// that contradict each other, the earlier one holds.
struct ConstraintDesc {
  BodyId body;
  uint32_t nodes[4] = {};                   ///< of the body's cage; may be equal
  Vec4 weights = {1.0f, 0.0f, 0.0f, 0.0f};  ///< in [-1e-3, 1 + 1e-3]; their sum is 1 within 1e-3
  ConstraintKind kind = ConstraintKind::kPoint;
  Vec3 direction = {0.0f, 1.0f, 0.0f};  ///< finite, not zero; normalised on use; not of kPoint
  Vec3 target;                          ///< [m]
  /// Share of the distance to the target's place, line or plane at the start of a step that the
  /// step closes, in (0, 1]: k_r of [Civ, 3.4.2.3, Eq. 3.54, 3.55]. At 1 the constraint always
  /// holds. Below, a point that starts elsewhere comes in over several steps. Constraints are
  /// linear, so that none drifts, whatever the share.
  float correction = 1.0f;
};

/// An attachment broke in the last step. Its id is stale.
struct AttachmentEvent {
  AttachmentId attachment;
  BodyId body;
  BodyId other_body;  ///< or null
  Vec3 force;         ///< on `body`: the mean of the step [N]
};

}  // namespace plush
