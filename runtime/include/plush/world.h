// SPDX-License-Identifier: MIT
// Bodies, colliders and time.
//
//   plush::World world({.gravity = {0, -9.81f, 0}});
//   plush::BodyId id;
//   plush::Status status = world.AddBody(asset, {.pose = {.position = {0, 2, 0}}}, &id);
//   if (status.ok()) status = world.Step(1.0f / 60);
//   if (status.ok()) status = world.Skin(id, positions, normals);
//
// Every call that can fail returns a Status; if it fails, nothing has changed but its outputs.
// Calls that take an id also return kNullId, kForeignId and kStaleId; all return kOutOfMemory if
// the world itself got no memory. Outputs come last; a null one gives kInvalidArgument. Calls
// allocate nothing unless they say so.
//
// A World never throws, prints or asserts on data. It is not thread-safe except for PrepareSystem
// (runtime/README.md has a table), but runs its own work in parallel through WorldDesc::jobs.
// Results do not depend on the number of threads.
#pragma once

#include "plush/allocator.h"
#include "plush/asset.h"
#include "plush/collision.h"
#include "plush/jobs.h"
#include "plush/status.h"
#include "plush/types.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace plush {

/// Shortest time step [s]. In a shorter one, the rounding of float positions outweighs all motion.
inline constexpr float kLeastTimeStep = 1.0e-5f;

/// Farthest coordinate at which the caller may place a body or its nodes [m]. Bodies may move
/// farther by themselves.
inline constexpr float kMostCoordinate = 1.0e9f;

/// Smallest and largest scale of a body.
inline constexpr float kLeastScale = 1.0e-2f;
inline constexpr float kMostScale = 1.0e2f;

/// Whether every coordinate is finite and within kMostCoordinate.
inline bool IsPosition(const Vec3& p) {
  const auto is_near = [](float c) { return c >= -kMostCoordinate && c <= kMostCoordinate; };
  return is_near(p.x) && is_near(p.y) && is_near(p.z);
}

/// How a plane pushes back.
enum class ContactResponse : uint8_t {
  kHold,     ///< nodes are held within the solve (default): adds no elastic energy
  kSnap,     ///< nodes are moved to the surface after the solve [Rio 8.1.2]; adds elastic energy
  kPenalty,  ///< springs push penetrated nodes [Rio 8.1.1]; adds energy and bounces
};

/// Settings of the splitting solver [Kug, Alg. 2].
struct SolverSettings {
  int outer_iterations = 1;     ///< element pass, solve and volume sweep per substep, 1..64
  int contact_iterations = 3;   ///< least outer iterations while a node touches, 3..64; up to 8
                                ///< as long as they still move nodes
  int volume_sweeps = 1;        ///< Gauss-Seidel sweeps over the tets per outer iteration, 0..16
  int polar_iterations = 4;     ///< most Newton steps per tet and rotation, 1..64
  int held_cg_iterations = 20;  ///< iterations of a solve with more than 96 held degrees of
                                ///< freedom, 1..256
  int max_substeps = 4;         ///< most substeps of a step in which a node can touch, 1..4
  ContactResponse response = ContactResponse::kHold;
  float penalty_stiffness = 1.0e4f;  ///< of kPenalty: force per depth and node [N/m], > 0
  float sleep_speed = 2.0e-3f;  ///< a held body falls asleep once all its nodes have been slower
                                ///< than this for sleep_time [diagonals of its rest bounding box
                                ///< per s], >= 0; 0: bodies never sleep
  float sleep_time = 0.5f;      ///< [s], > 0
};

/// What a World is made of.
struct WorldDesc {
  Vec3 gravity = {0.0f, -9.81f, 0.0f};  ///< [m/s^2]
  SolverSettings solver = {};
  Allocator allocator = {};   ///< DefaultAllocator() if `allocate` is null; must be thread-safe if
                              ///< PrepareSystem runs beside other calls
  JobSystem jobs = {};        ///< everything runs on the calling thread if `run` is null
  uint32_t idle_systems = 8;  ///< factored matrices kept after their last body is gone; the
                              ///< least recently used ones are freed first. As many more are kept
                              ///< that PrepareSystem made and no body has used yet
  uint16_t tag = 0;           ///< part of every id of this world; give each world another one, so
                              ///< that an id of the wrong world is refused (kForeignId)
};

/// Replaces the baked material of one body. A negative value keeps the baked one, in each tet that
/// of its material.
struct MaterialOverride {
  float young = -1.0f;    ///< Young's modulus of every tet [Pa], > 0
  float poisson = -1.0f;  ///< Poisson's ratio of every tet, in [0, 0.5)
  float density = -1.0f;  ///< mean density of the body [kg/m^3], > 0; scales every node's mass, so
                          ///< that heavier materials stay heavier
  float damping = -1.0f;  ///< Kelvin-Voigt relaxation time [s], in [0, 10]: how long the material
                          ///< resists a change of shape. At 0 only the integrator damps. A body of
                          ///< 1 m and 1e5 Pa wobbles at 0.01 and settles like dough at 0.1
};

/// How a body enters the world.
struct BodyDesc {
  Pose pose = {};              ///< of the rest shape
  Vec3 velocity = {};          ///< of every node [m/s]
  Vec3 angular_velocity = {};  ///< about the pose's position [rad/s]
  MaterialOverride material = {};
  std::span<const uint32_t> pinned_nodes =
      {};              ///< cage nodes that never move (indices below num_nodes,
                       ///< duplicates allowed); see FindRegionNodes
  bool fixed = false;  ///< every node pinned: scenery
};

/// Bodies that World::PrepareSystem prepares for.
struct SystemDesc {
  MaterialOverride material = {};
  std::span<const uint32_t> pinned_nodes = {};  ///< as BodyDesc::pinned_nodes
  float scale = 1.0f;                           ///< in [kLeastScale, kMostScale]
};

/// A solid half-space: points p with dot(p, normal) < offset are inside it.
struct PlaneDesc {
  Vec3 normal = {0.0f, 1.0f, 0.0f};  ///< points out of the solid; normalised on use
  float offset = 0.0f;               ///< [m]
  float friction = 0.5f;             ///< Coulomb coefficient, >= 0
};

/// What a step did that the game may want to know, and what to do about it.
enum StepFlags : uint32_t {
  kStepOk = 0,
  kStepPreparedTimeStep = 1u << 0,  ///< dt had no factor, so the step made one and allocated; to
                                    ///< avoid this, call PrepareTimeStep(dt) beforehand
  kStepBodyFrozen = 1u << 1,        ///< a body's state became non-finite; it keeps its last finite
                                    ///< positions and no longer moves
  kStepHeldIterative = 1u << 2,     ///< more than 96 degrees of freedom of a body were held: solved
                                    ///< by held_cg_iterations, see held_residual
};

/// Parts of a step that are timed.
enum class Phase : uint8_t {
  kElements,  ///< rotations and the right-hand side
  kSolve,     ///< solves of crowds, and of bodies whose solve knows no planes
  kVolume,    ///< volume sweeps and the lifting of flat tets
  kContact,   ///< solves of single bodies in a world with planes, ContactResponse::kHold
  kOther,     ///< prediction, new velocities, copying into lanes and back
  kCount
};

/// What the last step did: sums or extremes over the bodies. Costs nothing extra. World::Measure
/// has energies and tets.
struct StepStats {
  uint32_t flags = kStepOk;       ///< StepFlags
  float max_speed = 0.0f;         ///< fastest node at the end [m/s]
  float max_penetration = 0.0f;   ///< deepest node below a plane at the end [m], >= 0
  float held_residual = 0.0f;     ///< largest relative residual of iterative held solves
  uint32_t contacts = 0;          ///< nodes held by planes at the end
  uint32_t substeps = 0;          ///< largest number of substeps of a body
  uint32_t outer_iterations = 0;  ///< largest number of outer iterations in a substep
  uint32_t asleep = 0;            ///< bodies that slept
  float phase_s[static_cast<size_t>(Phase::kCount)] = {};  ///< wall time by phase [s], summed over
                                                           ///< the bodies
};

/// Measures of all bodies of a world, fixed and sleeping ones included: sums or extremes.
struct WorldMeasures {
  double mass_kg = 0.0;         ///< [kg]
  double kinetic_j = 0.0;       ///< kinetic energy [J]
  double elastic_j = 0.0;       ///< elastic energy [J]: mu V |F - R|^2 + lambda/2 V (det F - 1)^2
  double gravity_j = 0.0;       ///< -sum m dot(g, x) [J]: zero at the world's origin
  float max_speed = 0.0f;       ///< fastest node [m/s]
  float min_det_f = 1.0f;       ///< smallest det F of any tet; at most 1
  uint32_t tets = 0;            ///< all tets
  uint32_t inverted_tets = 0;   ///< det F <= 0
  uint32_t collapsed_tets = 0;  ///< det F < 0.1, inverted ones included
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

/// Soft bodies that move together through time.
class World {
 public:
  /// Never fails; clamps settings to their ranges.
  explicit World(const WorldDesc& desc = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Adds a body that shares the asset's baked bytes; the asset must outlive the body.
  /// - Allocates all the body's memory. Costs the same however many bodies the world has or had.
  /// - Factors the system matrix for the baked time step, its fractions and those of
  ///   PrepareTimeStep, unless a body of the same asset, material and pins has factors
  ///   (WorldDesc::idle_systems).
  /// - Equal undamped bodies step together in crowds, which is several times as fast.
  /// `out_id` is null after a failure. Errors: kInvalidArgument (asset not open, non-finite or
  /// out-of-range description), kOutOfMemory (also with 2^24 bodies).
  Status AddBody(const Asset& asset, const BodyDesc& desc, BodyId* out_id);

  /// Takes a body out and frees its memory; its id becomes stale. Costs the same however many
  /// bodies the world has or had. Errors: only those of ids.
  Status RemoveBody(BodyId id);

  /// Adds a half-space for all bodies. A body inside it comes out by at most a quarter of its
  /// median edge per substep and 25 median edges per second; kPenalty sets no such limit. Wakes all
  /// bodies. Allocates memory for the contacts of each. Errors: kInvalidArgument (zero or
  /// non-finite normal, non-finite offset, negative or non-finite friction), kOutOfMemory.
  Status AddPlane(const PlaneDesc& desc);

  /// Makes the factors for steps of `dt` seconds and their fractions (dt/2 .. dt/max_substeps) for
  /// every body, and for bodies that are added or changed later. Step(dt) then allocates nothing.
  /// On failure `dt` is not prepared for later bodies either. Errors: kInvalidArgument,
  /// kOutOfMemory.
  Status PrepareTimeStep(float dt);

  /// Makes the factors that a body of this asset, material, pins and scale needs, or finds them:
  /// for the baked time step, those of PrepareTimeStep, and their fractions. AddBody,
  /// SetPinnedNodes and SetMaterial of such a body then factor nothing (the latter two after steps
  /// of these lengths).
  /// - May run on any thread beside every other call of this world, PrepareSystem included. It must
  ///   return before the world's destructor runs. No call waits for its factorisations.
  /// - Add the body after this call has returned. The body's results then do not depend on the
  ///   thread that prepared it, nor on the steps that ran meanwhile.
  /// - A system that this call makes never shares the factors of bodies with fewer pins, as one that
  ///   AddBody makes can. So its bodies do not join the crowds of those.
  /// - The world keeps up to WorldDesc::idle_systems prepared systems that no body has used yet, in
  ///   addition to those that bodies have left; beyond that it frees the one prepared first.
  /// - A later PrepareTimeStep does not reach systems without bodies: call this again after it.
  /// Allocates. Errors: kInvalidArgument (asset not open, out-of-range material or scale, no such
  /// node, a matrix without a factor: see Step, or WorldDesc::idle_systems is 0), kOutOfMemory.
  Status PrepareSystem(const Asset& asset, const SystemDesc& desc);

  /// Advances time by `dt` seconds, in [kLeastTimeStep, 1]. Allocates nothing once dt has been
  /// prepared and the world's bodies have made their first step. A step more than 1.5 times as long
  /// as the one before makes at least five outer iterations. See stats().flags for what happened.
  /// Errors, with nothing moved: kInvalidArgument (dt out of range, or so far out of proportion to
  /// a body's masses that its matrix has no factor), kOutOfMemory (no memory for the factor of dt).
  Status Step(float dt);

  /// What the last successful Step did; zeros before the first. The reference stays valid as long
  /// as the world; Step changes what it refers to.
  const StepStats& stats() const;

  /// Measures all bodies as they are now, without changing them. It costs several steps' time, in
  /// parallel through WorldDesc::jobs; sums are taken in a fixed order, so they do not depend on
  /// threads. Does not allocate. Uses memory of the world: no other call may run beside it. Errors:
  /// kInvalidArgument (null output).
  Status Measure(WorldMeasures* out_measures) const;

  /// World positions [m] (num_vertices x 1) and unit normals (num_vertices x 1, or empty to skip)
  /// of the body's render surface. The cofactor of each tet's F transforms normals. Does not
  /// allocate. Errors: kInvalidArgument (wrong size).
  Status Skin(BodyId id, std::span<Vec3> positions, std::span<Vec3> normals) const;

  /// World positions of the cage's nodes [m] (num_nodes x 1). Errors: kInvalidArgument.
  Status NodePositions(BodyId id, std::span<Vec3> positions) const;

  /// Velocities of the cage's nodes [m/s] (num_nodes x 1). Errors: kInvalidArgument.
  Status NodeVelocities(BodyId id, std::span<Vec3> velocities) const;

  /// Sets velocities [m/s] (num_nodes x 1); pinned nodes keep zero. Wakes the body. Errors:
  /// kInvalidArgument (wrong size, non-finite value).
  Status SetNodeVelocities(BodyId id, std::span<const Vec3> velocities);

  /// Pushes the nodes by impulses, force times duration [N s] (num_nodes x 1). Pinned nodes stay.
  /// Wakes the body. Errors: kInvalidArgument (fixed body, wrong size, non-finite value,
  /// a velocity beyond float's range).
  Status AddImpulses(BodyId id, std::span<const Vec3> impulses);

  /// Sets world positions [m] (num_nodes x 1), those of pinned nodes too. Keeps velocities, forgets
  /// contacts, wakes the body and lets a frozen one move again. Errors: kInvalidArgument (wrong
  /// size, a coordinate beyond kMostCoordinate).
  Status SetNodePositions(BodyId id, std::span<const Vec3> positions);

  /// Elastic forces on the nodes at the current positions [N] (num_nodes x 1): minus the gradient
  /// of WorldMeasures::elastic_j, with converged rotations. Errors: kInvalidArgument.
  Status ElasticForces(BodyId id, std::span<Vec3> forces) const;

  /// Mass, momenta, volume and energies of one body. Errors: kInvalidArgument.
  Status Moments(BodyId id, BodyMoments* out_moments) const;

  /// The rotation and translation that best map the rest shape to the current one (least squares,
  /// weighted by mass). Errors: kInvalidArgument.
  Status BestFitPose(BodyId id, Pose* out_pose) const;

  /// Pins these cage nodes at their current positions (indices below num_nodes, duplicates allowed)
  /// and releases all others. Makes the factors for the last time step and its fractions unless
  /// they exist: this allocates and takes about a millisecond for some thousand tets. Changes
  /// nothing on failure. Wakes the body. Errors: kInvalidArgument (fixed body, no such
  /// node, a matrix without a factor: see Step), kOutOfMemory.
  Status SetPinnedNodes(BodyId id, std::span<const uint32_t> pinned_nodes);

  /// Changes the material, as BodyDesc::material does, at the cost of SetPinnedNodes. Errors: those
  /// of SetPinnedNodes; kInvalidArgument (out-of-range material).
  Status SetMaterial(BodyId id, const MaterialOverride& material);

  /// Wakes a sleeping body. Sleeping bodies do not move and cost nothing. Impulses, a new plane,
  /// and new positions, velocities, pins or materials wake them too. Errors: only those of ids.
  Status Wake(BodyId id);

  /// Whether the body sleeps, see SolverSettings::sleep_speed. False for ids that name no body.
  bool IsAsleep(BodyId id) const;

  uint32_t num_bodies() const;  ///< those added and not removed

  // Queries on the bodies' collision surfaces in their current shape:
  // - They do not find bodies whose asset has no collision surface.
  // - They allocate nothing, and their results do not depend on earlier queries.
  // - The first query after a body has moved refits its search trees (tens of microseconds for
  //   hundreds of tets). Like a step, it is not thread-safe.
  // - After PrepareQueries, and until a body is added or moves, any number of threads may query.

  /// Refits the search trees of all bodies, in parallel through WorldDesc::jobs.
  void PrepareQueries() const;

  /// Finds the first place where a ray meets the surface of any body, from outside or inside; the
  /// lowest (slot of the body's id, triangle) if several are equally far. `out_hit` is not valid()
  /// if there is none. Tests every body in turn. Errors: kInvalidArgument (a number not finite,
  /// zero direction, negative distance).
  Status Raycast(const Ray& ray, SurfacePoint* out_hit) const;
  /// The same for one body.
  Status Raycast(BodyId id, const Ray& ray, SurfacePoint* out_hit) const;

  /// Finds all places where a ray meets surfaces. `hits` gets the nearest ones, ordered by
  /// distance, then slot of the body's id, then triangle; `out_count` gets the number of all, which
  /// may exceed hits.size(). A ray that starts and ends outside a closed surface meets it an even
  /// number of times. Errors: those of Raycast.
  Status RaycastAll(const Ray& ray, std::span<SurfacePoint> hits, uint32_t* out_count) const;
  /// The same for one body.
  Status RaycastAll(BodyId id, const Ray& ray, std::span<SurfacePoint> hits,
                    uint32_t* out_count) const;

  /// Finds the nearest place of each triangle within `radius` [m] of `centre` [m]. Fills `touching`
  /// and `out_count` as RaycastAll does. Only the surface counts: a sphere deep inside a body
  /// touches nothing. Errors: kInvalidArgument (a number not finite, negative radius).
  Status OverlapSphere(const Vec3& centre, float radius, std::span<SurfacePoint> touching,
                       uint32_t* out_count) const;
  /// The same for one body.
  Status OverlapSphere(BodyId id, const Vec3& centre, float radius,
                       std::span<SurfacePoint> touching, uint32_t* out_count) const;

  /// Finds the place of any surface nearest to `point` [m], at most `max_distance` [m] away; the
  /// lowest (slot of the body's id, triangle) if several are equally near. `out_point` is not
  /// valid() if there is none. Errors: kInvalidArgument (a number not finite, negative distance).
  Status ClosestPoint(const Vec3& point, float max_distance, SurfacePoint* out_point) const;
  /// The same for one body.
  Status ClosestPoint(BodyId id, const Vec3& point, float max_distance,
                      SurfacePoint* out_point) const;

  /// Computes patch number `patch` of a body's CollisionView in its current shape, in constant
  /// time. Errors: kInvalidArgument (no such patch).
  Status PatchOf(BodyId id, uint32_t patch, DeformedPatch* out_patch) const;

  /// FNV-1a 64 over the float bits of every node's position and velocity, in the order of the
  /// slots of the bodies' ids, then of nodes.
  uint64_t StateHash() const;

 private:
  struct Impl;
  Impl* impl_;
};

/// Finds a region by name. Returns its nodes, or an empty span if there is no such region.
std::span<const uint32_t> FindRegionNodes(const Asset& asset, std::string_view name);

}  // namespace plush
