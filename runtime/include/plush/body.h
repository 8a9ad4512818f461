// SPDX-License-Identifier: MIT
// What a game says about a body, and what it can read of one.
#pragma once

#include "plush/splitting_settings.h"
#include "plush/types.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace plush {

/// Farthest coordinate at which the caller may place a body, its nodes or a collider [m]. Bodies
/// may move farther by themselves.
inline constexpr float kMostCoordinate = 1.0e9f;

/// Whether every coordinate is finite and within kMostCoordinate.
inline bool IsPosition(const Vec3& p) {
  const auto is_near = [](float c) { return c >= -kMostCoordinate && c <= kMostCoordinate; };
  return is_near(p.x) && is_near(p.y) && is_near(p.z);
}

/// Range of BodyDesc::scale.
inline constexpr float kLeastScale = 1.0e-2f;
inline constexpr float kMostScale = 1.0e2f;

/// Replaces the baked material of one body. A negative value keeps the baked one, in each tet that
/// of its material.
struct MaterialOverride {
  float young = -1.0f;     ///< Young's modulus of every tet [Pa], > 0
  float poisson = -1.0f;   ///< Poisson's ratio of every tet, in [0, 0.5); steps without volume
                           ///< sweeps take at most 0.47
  float density = -1.0f;   ///< mean density of the body [kg/m^3], > 0; scales every node's mass, so
                           ///< that heavier materials stay heavier
  float damping = -1.0f;   ///< Kelvin-Voigt relaxation time beta [s], in [0, 10]: how long the
                           ///< material resists a change of its stretch S, by the stress 2 mu beta
                           ///< dS/dt. The volume term, lambda (det F - 1), has no part in it. At 0
                           ///< only the integrator damps. A body of 1 m and 1e5 Pa wobbles at 0.01
                           ///< and settles like dough at 0.1
  float friction = -1.0f;  ///< Coulomb coefficient of the whole surface
  /// Share of the speed at which points leave what they hit faster than 0.2 m/s and than 2
  /// |gravity| times the substep, at most 1. Adds no energy. Stiff bodies rebound at this share,
  /// soft or thin ones at less.
  float restitution = -1.0f;
};

/// What touches what, as in box2d. Bodies touch each other if WorldDesc::max_pairs is not 0. A
/// body's category also decides which queries and force fields find it. Two objects touch if each
/// one's mask has the other's category. A common group that is not 0 decides instead: above 0 they
/// touch, below 0 they do not.
struct Filter {
  uint32_t category = 1;  ///< bits: what the object is
  uint32_t mask = ~0u;    ///< bits: what it touches
  int32_t group = 0;

  bool operator==(const Filter&) const = default;
};

inline bool MayTouch(const Filter& a, const Filter& b) {
  if (a.group == b.group && a.group != 0) return a.group > 0;
  return (a.mask & b.category) != 0 && (b.mask & a.category) != 0;
}

struct BodySolver;

/// How a body enters the world.
struct BodyDesc {
  Pose pose = {};      ///< of the rest shape
  float scale = 1.0f;  ///< uniform, about the pose's position, in [kLeastScale, kMostScale].
                       ///< Density and stiffness stay those of the material. Bodies of
                       ///< different scales share the file, but not their factors
  Vec3 velocity = {};  ///< of every node [m/s]
  Vec3 angular_velocity = {};  ///< about the pose's position [rad/s]
  MaterialOverride material = {};
  std::span<const uint32_t> pinned_nodes =
      {};                       ///< cage nodes that move only by MovePins (indices below num_nodes,
                                ///< duplicates allowed); see FindRegion
  bool fixed = false;           ///< every node pinned: scenery, which moves only by MovePins,
                                ///< SetNodePositions, Teleport and ResetBody
  float gravity_factor = 1.0f;  ///< times the world's gravity, finite
  float max_speed = std::numeric_limits<float>::infinity();  ///< of any node [m/s], > 0. A step
                                                             ///< slows faster nodes down to it,
                                                             ///< which takes momentum
  Filter filter = {};
  SplittingSettings splitting = {};    ///< bodies with equal ones can step in crowds
  const BodySolver* solver = nullptr;  ///< of plush/solver.h, copied; null: splitting, with the
                                       ///< settings above
  uint64_t user_data = 0;              ///< for events and WorldDesc::mix_friction
  bool enabled = true;                 ///< see World::SetEnabled
  bool report_reactions = false;       ///< for RegionReaction; the body then steps outside crowds
  bool report_contacts = false;        ///< see World::contact_events
};

/// Conserved quantities of one body, computed in double precision.
struct BodyMoments {
  double mass = 0.0;                ///< [kg]
  double centre[3] = {};            ///< centre of mass [m]
  double linear_momentum[3] = {};   ///< [kg m/s]
  double angular_momentum[3] = {};  ///< about the centre of mass [kg m^2/s]
  double volume = 0.0;              ///< of the deformed cage [m^3]
  double kinetic_j = 0.0;           ///< [J]
  double elastic_j = 0.0;           ///< [J]
};

/// A box with sides along the axes.
struct Bounds {
  Vec3 low;   ///< [m]
  Vec3 high;  ///< [m]
};

/// Where World::Skin writes. A null pointer skips that output. Strides are in bytes, at least the
/// size of an element and multiples of 4, so that interleaved vertex buffers can be filled.
struct SkinTarget {
  void* positions = nullptr;  ///< 3 floats per vertex: world position [m]
  void* normals = nullptr;    ///< 3 floats per vertex: unit normal
  void* tangents = nullptr;   ///< 4 floats per vertex: unit tangent, and the sign of the bitangent;
                              ///< the asset must have tangents
  size_t position_stride = sizeof(Vec3);
  size_t normal_stride = sizeof(Vec3);
  size_t tangent_stride = sizeof(Vec4);
  uint32_t num_vertices = 0;  ///< must be that of the asset's VisualView
};

/// The mean force and torque that a body exerted on a pinned region's target during a step, or that
/// all bodies exerted on a collider. They feel the opposite.
struct Reaction {
  Vec3 force;   ///< [N]; times the step's length: the impulse [N s]
  Vec3 torque;  ///< about `about` [N m]
  Vec3 about;   ///< mean position of the region's pinned nodes, or the collider's pose position [m]
};

/// What happened to a body.
enum class BodyEventType : uint8_t {
  kSlept,
  kWoke,   ///< something woke it, or kept it awake, after it had slept
  kFroze,  ///< its state became non-finite: it keeps its last finite positions
};

struct BodyEvent {
  BodyId body;
  uint64_t user_data = 0;  ///< of the body
  BodyEventType type = BodyEventType::kSlept;
};

/// What happened between a body and a collider in a step.
enum class ContactEventType : uint8_t {
  kBegan,
  kStayed,  ///< they touched in the step before, too
  kEnded,   ///< they no longer touch, or the game took one of them away
};

/// A body and a collider that press on each other, or a sensor and the body whose surface it
/// overlaps.
struct ContactEvent {
  static constexpr uint32_t kNoTriangle = UINT32_MAX;

  ContactEventType type = ContactEventType::kBegan;
  BodyId body;
  BodyId other_body;    ///< null: a collider
  ColliderId collider;  ///< null: another body
  // Of kEnded, all of them may have been removed.
  // Of kEnded, all zeros and kNoTriangle.
  Vec3 point;                   ///< mean place of the impulse; in a sensor the deepest point [m]
  Vec3 normal;                  ///< there, out of the collider or the other body, unit
  float impulse = 0.0f;         ///< along the normals, in the whole step [N s]; 0 in a sensor
  float approach_speed = 0.0f;  ///< of kBegan: the greatest along the normal at which a point came
                                ///< in [m/s]; 0 if none did
  uint32_t triangle = kNoTriangle;  ///< of CollisionView: of the point with the greatest impulse,
                                    ///< in a sensor of the deepest one
  uint32_t other_triangle = kNoTriangle;  ///< of the collider's mesh or height field, or of the
                                          ///< other body
};

/// A place where two bodies pressed on each other in the last step.
struct BodyContactPoint {
  BodyId bodies[2];            ///< ascending slots
  uint32_t triangles[2] = {};  ///< of their collision surfaces
  Vec3 point;                  ///< in the middle between their two points [m], world
  Vec3 normal;                 ///< unit, out of the second body
  float gap = 0.0f;            ///< between the points along the normal [m], below 0: overlap
  Vec3 force;                  ///< on the first body in the last substep, friction included [N]
};

/// A piece of a curve on which the surfaces of two bodies intersect: where two triangles do.
struct IntersectionSegment {
  Vec3 from, to;               ///< in the world [m]
  uint32_t triangles[2] = {};  ///< of the bodies' collision surfaces
  uint32_t curve = 0;          ///< its segments follow each other, from end to start
  uint32_t volume = 0;         ///< number of the contact volume
};

/// A connected part of a patch of one body that is inside the other one. A triangle that is cut is
/// one piece.
struct IntersectionRegion {
  BodyId body;
  uint32_t patch = 0;   ///< of CollisionView
  Vec3 centroid;        ///< in the world [m]
  float area = 0.0f;    ///< [m^2]
  Vec3 vector_area;     ///< out of its body [m^2]
  uint32_t volume = 0;  ///< number of the contact volume
};

/// How two bodies overlap [Civ 5.5].
struct Intersection {
  uint32_t num_segments = 0, num_curves = 0;  ///< of the curves
  uint32_t num_regions = 0;                   ///< of both bodies
  uint32_t num_volumes =
      0;  ///< that curves and regions bound, arcs, and pieces of a body wholly inside
  bool is_complete = false;  ///< false: there was too little memory for all of them
  bool is_open = false;      ///< a curve or region ends at an open border
};

}  // namespace plush
