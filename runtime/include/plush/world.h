// SPDX-License-Identifier: MIT
// Bodies, colliders and time.
//
//   plush::World world({.gravity = {0, -9.81f, 0}});
//   plush::BodyId id;
//   plush::Status status = world.AddBody(asset, {.pose = {.position = {0, 2, 0}}}, &id);
//   if (status.ok()) status = world.Step(1.0f / 60);
//   if (status.ok()) status = world.Skin(id, 1.0f, {.positions = vertices, .num_vertices = n});
//
// Every call that can fail returns a Status. If it fails, the world has not changed, outputs named
// `out_` are empty ({}), and spans hold what they held. Calls that take an id also return kNullId,
// kForeignId and kStaleId; all return kOutOfMemory if the world itself got no memory. Outputs come
// last; a null one gives kInvalidArgument. Calls allocate nothing unless they say so.
//
// A World never throws, prints or asserts on data. It belongs to one thread at a time except for
// PrepareSystem (runtime/README.md has a table), but runs its own work in parallel through
// WorldDesc::jobs. Results do not depend on the number of threads.
#pragma once

#include "plush/allocator.h"
#include "plush/asset.h"
#include "plush/body.h"
#include "plush/collider.h"
#include "plush/collision.h"
#include "plush/debug_draw.h"
#include "plush/jobs.h"
#include "plush/solver.h"
#include "plush/status.h"
#include "plush/step.h"
#include "plush/types.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace plush {

/// What a World is made of.
struct WorldDesc {
  Vec3 gravity = {0.0f, -9.81f, 0.0f};  ///< [m/s^2]
  ContactSettings contact = {};
  SleepSettings sleep = {};
  // Coefficients of contacts, with a collider or between two bodies. By default, if only the body's
  // material or only the collider, or only one of two bodies, gives one, it holds. If neither does,
  // friction is 0.5 and restitution 0. A result that is negative or not finite counts as 0, a
  // restitution above 1 as 1. States do not save these functions.
  MixCoefficients mix_friction = nullptr;     ///< null: the geometric mean
  MixCoefficients mix_restitution = nullptr;  ///< null: the larger one
  Allocator allocator = {};   ///< DefaultAllocator() if `allocate` is null; must be thread-safe if
                              ///< PrepareSystem runs beside other calls
  JobSystem jobs = {};        ///< everything runs on the calling thread if `run` is null
  uint32_t idle_systems = 8;  ///< factored matrices kept after their last body is gone; the
                              ///< least recently used ones are freed first. As many more are
                              ///< kept that PrepareSystem made and no body has used yet
  uint16_t tag = 0;           ///< part of every id of this world; give each world another one, so
                              ///< that an id of the wrong world is refused (kForeignId)
  uint32_t max_contacts = UINT32_MAX;  ///< most points of a body that press on colliders at once,
                                       ///< at most 192 + num_nodes / 16 and num_nodes + 16: that
                                       ///< many by default. Bodies have memory for them, and for
                                       ///< their couplings: 4 bytes for each pair. See
                                       ///< kStepContactsDropped
  uint32_t max_pairs = 0;  ///< most pairs of bodies that come near each other at once; 0: they pass
                           ///< through each other. Takes about 8 kB for each. Beyond it, see
                           ///< kStepContactsDropped
  bool keep_previous = false;         ///< keep the positions before the last step, for Skin and
                                      ///< NodePositions between steps; 16 bytes per node
  uint32_t max_events = 256;          ///< events of bodies that a step reports, see body_events,
                                      ///< and of attachments
  uint32_t max_contact_events = 256;  ///< contact events that a step reports
  uint32_t reserve_bodies = 0;        ///< memory for this many ids of bodies from the start
  uint32_t reserve_colliders = 0;     ///< the same for colliders, in each body too
};

/// Bodies that World::PrepareSystem prepares for.
struct SystemDesc {
  MaterialOverride material = {};
  std::span<const uint32_t> pinned_nodes = {};  ///< as BodyDesc::pinned_nodes
  float scale = 1.0f;                           ///< in [kLeastScale, kMostScale]
  const BodySolver* solver = nullptr;           ///< as BodyDesc::solver; matters only with
                                                ///< ImplicitSettings::mass_damping
};

/// Measures of all bodies of a world, fixed, sleeping and disabled ones included: sums or extremes.
struct WorldMeasures {
  double mass_kg = 0.0;         ///< [kg]
  double kinetic_j = 0.0;       ///< kinetic energy [J]
  double elastic_j = 0.0;       ///< elastic energy [J]: mu V |F - R|^2 + lambda/2 V (det F - 1)^2,
                                ///< lambda as steps take it (MaterialOverride::poisson)
  double gravity_j = 0.0;       ///< -sum m dot(g, x) [J], g with BodyDesc::gravity_factor:
                                ///< zero at the world's origin
  float max_speed = 0.0f;       ///< fastest node [m/s]
  float min_det_f = 1.0f;       ///< smallest det F of any tet; at most 1
  uint32_t tets = 0;            ///< all tets
  uint32_t inverted_tets = 0;   ///< det F <= 0
  uint32_t collapsed_tets = 0;  ///< det F < 0.1, inverted ones included
  float max_penetration =
      0.0f;  ///< depth of the deepest point of a body below a collider that it
             ///< may touch [m], >= 0: a vertex of its collision surface, or a
             ///< node without one. Points that pins carry by more than three
             ///< quarters touch nothing, nor do disabled, fixed and frozen bodies.
             ///< In a mesh, points deeper than the cage's median edge do not count
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
  ///   PrepareTimeStep, unless a body of the same asset, material, pins and
  ///   ImplicitSettings::mass_damping has factors (WorldDesc::idle_systems).
  /// - Equal undamped bodies step together in crowds, which is several times as fast.
  /// Errors: kInvalidArgument (asset not open, non-finite or out-of-range description, a
  /// quasistatic body that its pins do not hold: see SetSolver), kUnsupported (a static mesh),
  /// kOutOfMemory (also with 2^24 bodies).
  Status AddBody(const Asset& asset, const BodyDesc& desc, BodyId* out_id);

  /// Takes a body out and frees its memory; its id becomes stale. Costs the same however many
  /// bodies the world has or had. Errors: only those of ids.
  Status RemoveBody(BodyId id);

  /// Makes the factors for steps of `dt` seconds and their fractions (dt/2 .. dt/max_substeps) for
  /// every body, and for bodies that are added or changed later. Step(dt) then allocates nothing.
  /// On failure `dt` is not prepared for later bodies either. Errors: kInvalidArgument,
  /// kOutOfMemory.
  Status PrepareTimeStep(float dt);

  /// Makes the factors that a body of this asset, material, pins, scale and solver needs, or finds
  /// them: for the baked time step, those of PrepareTimeStep, and their fractions. AddBody,
  /// SetPinnedNodes, SetMaterial and SetSolver of such a body then factor nothing (the latter three
  /// after steps of these lengths).
  /// - May run on any thread beside every other call of this world, PrepareSystem included. It must
  ///   return before the world's destructor runs. No call waits for its factorisations.
  /// - Add the body after this call has returned. The body's results then do not depend on the
  ///   thread that prepared it, nor on the steps that ran meanwhile.
  /// - A system that this call makes never shares the factors of bodies with fewer pins, as those
  ///   of AddBody can. So its bodies do not join the crowds of those.
  /// - The world keeps up to WorldDesc::idle_systems prepared systems that no body has used yet, in
  ///   addition to those that bodies have left; beyond that it frees the one prepared first.
  /// - A later PrepareTimeStep does not reach systems without bodies: call this again after it.
  /// Allocates. Errors: kInvalidArgument (asset not open, out-of-range material, scale or solver,
  /// no such node, a matrix without a factor: see Step, or WorldDesc::idle_systems is 0),
  /// kUnsupported (a static mesh), kOutOfMemory.
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

  /// What happened to bodies in the last Step, and between the Step before and it: at most
  /// WorldDesc::max_events events, in the order of the bodies' slots. Valid until the next Step or
  /// successful LoadState; bodies may have been removed since.
  std::span<const BodyEvent> body_events() const;

  /// What bodies with BodyDesc::report_contacts touched in the last Step: at most
  /// WorldDesc::max_contact_events events, in the order of the bodies' slots, then of the
  /// colliders' slots. At most one per body and collider, but a collider that replaced a removed
  /// one in its slot follows that one's end. Valid as body_events().
  /// - A sleeping body reports no kStayed, but what sensors do to it. A disabled body's touches
  ///   end. Those of bodies that were removed since the Step before end, too, and come first, in
  ///   the order of the calls; their ids are stale.
  /// - Sensors are tested at the end of the step, against the triangles of the collision surface,
  ///   or the nodes of cages without one; height fields and meshes against vertices only. A sensor
  ///   wholly inside a body touches nothing, nor does one that a body passes within a step.
  /// - Pairs of bodies follow, by ascending slots: each once, with the smaller slot as `body`, if
  ///   one of them reports.
  /// - Of colliders, nothing but sensors is reported with a ContactMethod.
  std::span<const ContactEvent> contact_events() const;

  /// The places where bodies pressed on each other in the last Step, sleeping ones when they last
  /// did, by pairs with ascending slots. Writes as many as `points` has room for, and their number
  /// to `*out_count`. Errors: kInvalidArgument (null output).
  Status BodyContacts(std::span<BodyContactPoint> points, uint32_t* out_count) const;

  /// Finds how two bodies overlap as they are now: the curves in which their collision surfaces
  /// intersect, curve by curve, and the regions of either surface inside the other body, those of
  /// the body with the smaller slot first. Writes as many as there is room for; `*out` counts all.
  /// Takes as long as a step's search of the pair; does not allocate. Errors: kInvalidArgument (one
  /// body, null output, WorldDesc::max_pairs is 0), and those of ids.
  Status FindIntersection(BodyId a, BodyId b, std::span<IntersectionSegment> segments,
                          std::span<IntersectionRegion> regions, Intersection* out) const;

  // What steps have in common. Changes take effect in the next step.

  /// Changes the gravity [m/s^2]. Wakes all bodies if it differs. Errors: kInvalidArgument (not
  /// finite).
  Status SetGravity(const Vec3& gravity);
  Vec3 gravity() const;  ///< [m/s^2]

  /// Changes the settings of contact, clamped to their ranges. Wakes no body. A larger max_substeps
  /// takes effect with factors made later.
  void SetContact(const ContactSettings& settings);
  const ContactSettings& contact() const;

  /// Changes when bodies fall asleep, clamped to the settings' ranges. Wakes no body.
  void SetSleep(const SleepSettings& settings);
  const SleepSettings& sleep() const;

  // Colliders. Bodies touch them with their collision surfaces, or the nodes of cages without one;
  // with a ContactMethod, with nodes always.

  /// Adds a collider. A body inside it comes out slowly, see ContactSettings::push_out_time: to the
  /// side of a plane's normal, above a height field, or to the nearest side of a convex shape; of a
  /// mesh only if it is less than a quarter of an edge deep. Wakes all bodies that may touch it.
  /// Allocates memory for the contacts of each body. Errors: kInvalidArgument (a description out of
  /// range), kUnsupported (a mesh of a body without a collision surface or of more than 2^30
  /// triangles, an open mesh as a sensor), kOutOfMemory.
  Status AddCollider(const ColliderDesc& desc, ColliderId* out_id);

  /// Takes a collider out; its id becomes stale. Forgets its contacts. Wakes the bodies that touch
  /// it. Errors: only those of ids.
  Status RemoveCollider(ColliderId id);

  /// The collider as it is now: with its present pose and velocities. Errors: only those of ids.
  Status GetCollider(ColliderId id, ColliderDesc* out_desc) const;

  /// What all bodies together exerted on the collider in the last step: the impulses of contacts,
  /// with friction and restitution, over the step's length. Sleeping bodies count as in the last
  /// step in which they were awake. Sensors and worlds with a ContactMethod report zeros. Costs a
  /// look at every body. Errors: only those of ids.
  Status ColliderReaction(ColliderId id, Reaction* out_reaction) const;

  /// Puts a collider somewhere at once and forgets its MoveCollider. It keeps its velocities.
  /// Bodies that it then holds come out slowly, see AddCollider. Forgets its contacts. Wakes the
  /// bodies that touch it before or after. Errors: kInvalidArgument (a position beyond
  /// kMostCoordinate, a rotation that is zero or not finite).
  Status SetColliderPose(ColliderId id, const Pose& pose);

  /// Lets a collider reach `target` at the end of the next step. In that step it moves at the
  /// velocities of this way, not at its own; after it, its velocities are zero. It pushes and drags
  /// what it touches on its way. If it is not there yet, wakes the bodies that it touches or
  /// reaches. Errors: those of SetColliderPose.
  Status MoveCollider(ColliderId id, const Pose& target);

  /// Lets a collider move at these velocities [m/s], [rad/s] in every step from now on, and forgets
  /// its MoveCollider. It rests in a step that would take it beyond kMostCoordinate. A step turns
  /// it by 2 atan(omega dt / 2), which falls short of omega dt by 1% at 0.35 rad and never exceeds
  /// half a turn. If it moves, wakes the bodies that it touches, and in each step those that it
  /// reaches. Errors: kInvalidArgument (not finite).
  Status SetColliderVelocity(ColliderId id, const Vec3& velocity, const Vec3& angular_velocity);

  /// Changes ColliderDesc::surface_velocity [m/s]. If it runs, wakes the bodies that may touch it.
  /// Errors: kInvalidArgument (not finite).
  Status SetColliderSurfaceVelocity(ColliderId id, const Vec3& velocity);

  /// Changes ColliderDesc::friction. Wakes the bodies that may touch it. Errors: kInvalidArgument.
  Status SetColliderFriction(ColliderId id, float friction);

  /// Changes ColliderDesc::restitution. Wakes nothing. Errors: kInvalidArgument.
  Status SetColliderRestitution(ColliderId id, float restitution);

  /// Changes what touches what: bodies touch colliders, not each other. Forgets contacts; wakes the
  /// body, or all bodies. Errors: only those of ids.
  Status SetFilter(BodyId id, const Filter& filter);
  Status SetFilter(ColliderId id, const Filter& filter);
  Status GetFilter(BodyId id, Filter* out_filter) const;  ///< Errors: only those of ids.

  // Attachments: springs that hold bodies. Their forces go to the nodes by weight [Civ, Eq. 3.24 to
  // 3.26]. Equal bodies keep stepping in crowds, unless a spring joins two of them. Bodies that
  // springs join are solved together, in one job, and fall asleep and wake together.

  /// Attaches a point of a body to a target. Wakes the bodies. Allocates memory for it in the
  /// bodies. Errors: kInvalidArgument (a number of the description out of range, a fixed body,
  /// `other_body` equal to `body` or together with `other_collider`), kOutOfMemory; ids of the
  /// description give kNullId, kForeignId and kStaleId with the name of their field.
  Status Attach(const AttachmentDesc& desc, AttachmentId* out_id);
  /// The same at a point that a query found, in place of the description's body, nodes and weights.
  /// Errors: also kInvalidArgument (not valid(), or on a collider).
  Status Attach(const SurfacePoint& at, const AttachmentDesc& desc, AttachmentId* out_id);

  /// Lets the target reach `target` [m] at the end of the next step, on a straight line in its
  /// coordinates, and stay there. Wakes the body if it moves. Errors: kInvalidArgument (beyond
  /// kMostCoordinate, an attachment to another body).
  Status MoveAttachment(AttachmentId id, const Vec3& target);

  /// The mean force of the last step on `body` [N]; the target feels the opposite. Zero before the
  /// first step and while a body is disabled or frozen; of a sleeping body, that of the last step
  /// in which it was awake. Errors: only those of ids.
  Status AttachmentForce(AttachmentId id, Vec3* out_force) const;

  /// The attachment as it is now, with its present target. Errors: only those of ids.
  Status GetAttachment(AttachmentId id, AttachmentDesc* out_desc) const;

  /// Takes an attachment out; its id becomes stale. Wakes its bodies. Removing a body or a collider
  /// takes out its attachments. Errors: only those of ids.
  Status Detach(AttachmentId id);

  uint32_t num_attachments() const;     ///< those attached and not detached
  bool IsValid(AttachmentId id) const;  ///< whether it names one that has not been detached

  /// Attachments that broke in the last Step: at most WorldDesc::max_events, in the order of their
  /// slots. Valid as body_events() are.
  std::span<const AttachmentEvent> attachment_events() const;

  // Constraints: they hold points of bodies in place, on a line or in a plane [Civ, Eq. 3.40 to
  // 3.42]. Equal bodies keep stepping in crowds. Both solvers hold them exactly: splitting as rows
  // of its solves without compliance, the implicit solver by the projector S = I - H^T (H H^T)^-1 H
  // of all their gradients H [Civ, Eq. 3.44, 3.45, which leave out the inverse].

  /// Holds a point of a body. Wakes it. Allocates memory for it in the body: with c constraints
  /// about 4 bytes per node and 1.1 kB for each, and 550 c^2 bytes. Errors: kInvalidArgument (a
  /// number of the description out of range, a fixed body), kOutOfMemory; the body's id gives
  /// kNullId, kForeignId and kStaleId with the name of its field.
  Status AddConstraint(const ConstraintDesc& desc, ConstraintId* out_id);
  /// The same at a point that a query found, in place of the description's body, nodes and weights.
  /// Errors: also kInvalidArgument (not valid(), or on a collider).
  Status AddConstraint(const SurfacePoint& at, const ConstraintDesc& desc, ConstraintId* out_id);

  /// Lets the target reach `target` [m] at the end of the next step, on a straight line, and stay
  /// there. The point follows in the directions in which it is held [Civ, Eq. 3.54, 3.55]. Wakes
  /// the body if the target moves. Errors: kInvalidArgument (beyond kMostCoordinate).
  Status MoveConstraint(ConstraintId id, const Vec3& target);

  /// The mean force of the last step on the body [N]. Zero of constraints that others imply; else
  /// as AttachmentForce. Errors: only those of ids.
  Status ConstraintForce(ConstraintId id, Vec3* out_force) const;

  /// The constraint as it is now, with its present target and unit direction. Errors: only those of
  /// ids.
  Status GetConstraint(ConstraintId id, ConstraintDesc* out_desc) const;

  /// Takes a constraint out; its id becomes stale. Wakes the body. Removing a body takes out its
  /// constraints. Errors: kInvalidArgument (without it, a quasistatic body could move rigidly),
  /// kOutOfMemory (of a quasistatic body).
  Status RemoveConstraint(ConstraintId id);

  uint32_t num_constraints() const;     ///< those added and not removed
  bool IsValid(ConstraintId id) const;  ///< whether it names one that has not been removed

  // Enumeration and user data.

  uint32_t num_bodies() const;     ///< those added and not removed
  uint32_t num_colliders() const;  ///< those added and not removed

  /// Writes the ids of all bodies, disabled ones too, or as many as fit, in the order of their
  /// slots. `out_count` gets the number of all. Errors: none but a null output.
  Status Bodies(std::span<BodyId> ids, uint32_t* out_count) const;
  /// The same for colliders.
  Status Colliders(std::span<ColliderId> ids, uint32_t* out_count) const;

  bool IsValid(BodyId id) const;      ///< whether it names a body that has not been removed
  bool IsValid(ColliderId id) const;  ///< whether it names a collider that has not been removed

  /// A number that the game keeps with an object. Wakes nothing. Errors: only those of ids.
  Status SetUserData(BodyId id, uint64_t user_data);
  Status GetUserData(BodyId id, uint64_t* out_user_data) const;
  Status SetUserData(ColliderId id, uint64_t user_data);
  Status GetUserData(ColliderId id, uint64_t* out_user_data) const;

  // Reading a body.

  /// Writes the render surface: world positions, unit normals, unit tangents. The cofactor of each
  /// tet's F transforms normals, F transforms tangents. `alpha` in [0, 1] picks the state between
  /// the one before the last step (0) and the current one (1): the positions of the nodes are mixed
  /// linearly. If the body did not move in the last step, or was moved by a call since, or without
  /// WorldDesc::keep_previous, every alpha gives the current state. Errors: kInvalidArgument
  /// (another number of vertices, a stride too small or not a multiple of 4, alpha out of range,
  /// tangents of an asset without them).
  Status Skin(BodyId id, float alpha, const SkinTarget& target) const;

  /// World positions of the cage's nodes [m] (num_nodes x 1) at `alpha`, as in Skin. Errors:
  /// kInvalidArgument (wrong size, alpha out of range).
  Status NodePositions(BodyId id, float alpha, std::span<Vec3> positions) const;

  /// The box around the cage's nodes as they are now; the render surface lies inside it if the
  /// cage is proved (see the findings of the bake). Errors: only those of ids.
  Status GetBounds(BodyId id, Bounds* out_bounds) const;

  /// Velocities of the cage's nodes [m/s] (num_nodes x 1). Errors: kInvalidArgument (wrong size).
  Status NodeVelocities(BodyId id, std::span<Vec3> velocities) const;

  // Moving a body.

  /// Sets velocities [m/s] (num_nodes x 1); pinned nodes keep theirs. Wakes the body. Errors:
  /// kInvalidArgument (wrong size, non-finite value, a velocity beyond float's range once divided
  /// by the scale).
  Status SetNodeVelocities(BodyId id, std::span<const Vec3> velocities);

  /// Pushes the nodes by impulses, force times duration [N s] (num_nodes x 1). Pinned nodes stay.
  /// Wakes the body. Errors: kInvalidArgument (fixed body, wrong size, non-finite value,
  /// a velocity beyond float's range).
  Status AddImpulses(BodyId id, std::span<const Vec3> impulses);

  /// Pushes a body at a point of its surface by an impulse [N s]. The point is one that a query
  /// found; its node weights share out the impulse [Civ, Eq. 3.27]. A force that acts through one
  /// step is an impulse of force times dt. Wakes the body. Errors: kInvalidArgument (not valid(), a
  /// point on a collider: nothing pushes those, nodes or weights that the body's surface does not
  /// have, non-finite impulse, fixed body, a velocity beyond float's range).
  Status AddImpulse(const SurfacePoint& at, const Vec3& impulse);

  /// Changes the velocity of a point of a body's surface by exactly `change` [m/s], as an impulse
  /// there would [Civ, Eq. 3.33]. Wakes the body. Errors: those of AddImpulse, and
  /// kInvalidArgument if pinned nodes carry three quarters of the point or more.
  Status AddVelocity(const SurfacePoint& at, const Vec3& change);

  /// Moves a point of a body's surface by exactly `change` [m]: its nodes by mass, as by an impulse
  /// there [Civ, Eq. 3.34]. The centre of mass moves, too. Keeps velocities and contacts. Wakes the
  /// body. Errors: those of AddVelocity, frozen body, a position beyond kMostCoordinate.
  Status AddDisplacement(const SurfacePoint& at, const Vec3& change);

  /// Adds a force field to the next step, for all bodies or for one whose category passes its mask.
  /// Several ones add up. Wakes nobody unless ForceField::wake says so. May allocate. Errors:
  /// kInvalidArgument (a number not finite or out of range), kOutOfMemory.
  Status AddForce(const ForceField& field);
  Status AddForce(BodyId id, const ForceField& field);

  /// Sets world positions [m] (num_nodes x 1), those of pinned nodes too. Keeps velocities and the
  /// targets of pins, which they now reach on straight lines; forgets contacts, wakes the body and
  /// lets a frozen one move again. Errors: kInvalidArgument (wrong
  /// size, a coordinate beyond kMostCoordinate).
  Status SetNodePositions(BodyId id, std::span<const Vec3> positions);

  /// Moves the body as it is, pins and velocities included, so that `pose` becomes its best fit:
  /// every node by pose * inverse(BestFitPose). Fixed bodies move too. Forgets contacts and targets
  /// of pins; wakes the body. Errors: kInvalidArgument (a position beyond kMostCoordinate, a
  /// rotation that is zero or not finite, frozen body).
  Status Teleport(BodyId id, const Pose& pose);

  /// Puts the body's rest shape, times its scale, at `pose`, at rest: pinned nodes and fixed bodies
  /// too. Forgets contacts and targets of pins, wakes the body and lets a frozen one move again.
  /// Errors: those of Teleport, but frozen bodies are welcome.
  Status ResetBody(BodyId id, const Pose& pose);

  // Moving pins. Targets hold for one step. Nodes without a target in a step stay. All nodes of a
  // fixed body are pinned, so these calls move it.

  /// Lets the pinned nodes of a region of the asset (FindRegion) reach
  /// target * inverse(RegionView::rest) * X at the end of the next step: X are their rest
  /// positions, times the body's scale. Substeps turn about the pose on the shortest way from the
  /// region's last target; to its first one, they are straight. For regions of joints, `target` is
  /// the joint's pose in the world. Wakes the body if a pin moves. The body's first call allocates.
  /// Errors: kInvalidArgument (no such region, a node of it that is not pinned: `index` names it, a
  /// position beyond kMostCoordinate, a rotation that is zero or not finite, frozen body),
  /// kOutOfMemory.
  Status MovePins(BodyId id, uint32_t region, const Pose& target);

  /// Lets pinned nodes (indices below num_nodes) reach `targets` [m] (as many) on straight lines at
  /// the end of the next step. Wakes the body if a pin moves. The body's first call allocates.
  /// Errors: kInvalidArgument (different sizes, a node that does not exist or is not pinned:
  /// `index` is its place in `nodes`, a position beyond kMostCoordinate, frozen body),
  /// kOutOfMemory.
  Status MovePins(BodyId id, std::span<const uint32_t> nodes, std::span<const Vec3> targets);

  /// The mean force and torque of the last step on a region's target. Zeros before the body's first
  /// step; of a sleeping body, those of the last step in which it was awake. Approximate in a step
  /// in which the body also touches a collider; without what restitution adds. Errors:
  /// kInvalidArgument (no such region, a body without BodyDesc::report_reactions).
  Status RegionReaction(BodyId id, uint32_t region, Reaction* out_reaction) const;

  /// The same per node [N] (num_nodes x 1); zeros for nodes that are not pinned. Errors:
  /// kInvalidArgument (wrong size, a body without BodyDesc::report_reactions).
  Status NodeReactions(BodyId id, std::span<Vec3> forces) const;

  // Measuring a body.

  /// Elastic forces on the nodes at the current positions [N] (num_nodes x 1): minus the gradient
  /// of WorldMeasures::elastic_j, with converged rotations. Errors: kInvalidArgument (wrong size).
  Status ElasticForces(BodyId id, std::span<Vec3> forces) const;

  /// Mass, momenta, volume and energies of one body. Errors: only those of ids.
  Status Moments(BodyId id, BodyMoments* out_moments) const;

  /// The rotation and translation that best map the rest shape, times the body's scale, to the
  /// current one (least squares, weighted by mass). Errors: only those of ids.
  Status BestFitPose(BodyId id, Pose* out_pose) const;

  // Changing a body.

  /// Pins these cage nodes at their current positions (indices below num_nodes, duplicates allowed)
  /// and releases all others, which lose their targets. Makes the factors for the last time step
  /// and its fractions unless they exist: this allocates and takes about a millisecond for some
  /// thousand tets. Changes nothing on failure. Wakes the body. Errors: kInvalidArgument (fixed
  /// body, no such node, a matrix without a factor: see Step, a quasistatic body that is no longer
  /// held), kOutOfMemory.
  Status SetPinnedNodes(BodyId id, std::span<const uint32_t> pinned_nodes);
  /// Writes the pinned nodes, of a fixed body all nodes, in ascending order, or as many as fit.
  /// `out_count` gets the number of all. Errors: only those of ids.
  Status GetPinnedNodes(BodyId id, std::span<uint32_t> nodes, uint32_t* out_count) const;

  /// Changes the material, as BodyDesc::material does, at the cost of SetPinnedNodes. Errors: those
  /// of SetPinnedNodes; kInvalidArgument (out-of-range material).
  Status SetMaterial(BodyId id, const MaterialOverride& material);
  /// The material as an override that gives it again. `young` and `poisson` are negative if they
  /// are the baked ones. `density` and `damping` are always those of the body; `density` may differ
  /// in its last digit from the one that was set. Errors: only those of ids.
  Status GetMaterial(BodyId id, MaterialOverride* out_material) const;

  /// Changes BodyDesc::gravity_factor and wakes the body. Errors: kInvalidArgument (not finite).
  Status SetGravityFactor(BodyId id, float factor);
  Status GetGravityFactor(BodyId id, float* out_factor) const;  ///< Errors: only those of ids.
  /// Changes BodyDesc::max_speed [m/s], > 0, infinity allowed, and wakes the body. Errors:
  /// kInvalidArgument.
  Status SetMaxSpeed(BodyId id, float max_speed);
  Status GetMaxSpeed(BodyId id, float* out_max_speed) const;  ///< Errors: only those of ids.

  /// Changes BodyDesc::splitting and wakes the body. It then steps in crowds with bodies of the
  /// same settings; if they differ from before, that may allocate. Errors: kInvalidArgument (out of
  /// range).
  Status SetSplitting(BodyId id, const SplittingSettings& settings);
  Status GetSplitting(BodyId id, SplittingSettings* out_settings) const;  ///< Errors: those of ids.

  /// Changes BodyDesc::solver, and BodyDesc::splitting to the solver's, and wakes the body. May
  /// allocate. With another ImplicitSettings::mass_damping it makes factors, as SetMaterial does,
  /// unless they exist (PrepareSystem). ImplicitSettings::quasistatic is refused unless the body's
  /// pins and constraints stop every rigid motion of each connected part of its tets: three points
  /// off one line do: add the body with another solver, then its constraints, and call this last.
  /// Errors: kInvalidArgument (out of range, not held), kOutOfMemory.
  Status SetSolver(BodyId id, const BodySolver& solver);
  Status GetSolver(BodyId id, BodySolver* out_solver) const;  ///< Errors: those of ids.

  /// Changes BodyDesc::report_contacts; see contact_events(). What the body touches then begins, or
  /// is forgotten without an event, in the next step. Wakes nothing. Errors: only those of ids.
  Status SetReportContacts(BodyId id, bool report);
  bool ReportsContacts(BodyId id) const;  ///< false for ids that name no body

  /// BodyDesc::scale, which stays as it was when the body was added. Errors: only those of ids.
  Status GetScale(BodyId id, float* out_scale) const;

  /// Takes a body out of steps, queries and drawing (kDrawSleep excepted), or puts it back as it
  /// was, awake. Its memory stays, and all other calls work on it. Disabling forgets contacts and
  /// targets of pins. Errors: only those of ids.
  Status SetEnabled(BodyId id, bool enabled);
  bool IsEnabled(BodyId id) const;  ///< false for ids that name no body

  /// Wakes a sleeping body. Sleeping bodies do not move and cost nothing. All calls that change a
  /// body wake it, unless they say otherwise, and so do colliders that move where the body may
  /// touch them. Errors: only those of ids.
  Status Wake(BodyId id);

  /// Whether the body sleeps, see SleepSettings. False for ids that name no body.
  bool IsAsleep(BodyId id) const;

  /// Whether the body's state became non-finite (kStepBodyFrozen). It does not move until ResetBody
  /// or SetNodePositions. Colliders no longer act on it: its contacts with them end in the step in
  /// which it freezes, and ColliderReaction leaves it out. Sensors still find it, and other bodies
  /// touch it as they touch a fixed one. False for ids that name no body.
  bool IsFrozen(BodyId id) const;

  // Saving and loading.

  /// Size of the world's state [bytes]. Grows with bodies and contacts. Uses memory of the world:
  /// no other call may run beside it.
  size_t StateBytes() const;

  /// Saves everything that later steps depend on: bodies, colliders, ids, gravity, settings,
  /// prepared time steps, pending forces and targets, stats(). A world that loads it
  /// continues bit for bit, in this process or another one of the same build, if it has the same
  /// WorldDesc::mix_friction and mix_restitution. `out_bytes` gets the
  /// size. Does not allocate. Uses memory of the world: no other call may run beside it. Errors:
  /// kInvalidArgument (fewer than StateBytes() bytes).
  Status SaveState(std::span<std::byte> state, size_t* out_bytes) const;

  /// Loads a state; `state` has exactly its bytes.
  /// - `assets` are the opened assets of its bodies, in any order. They are found by content hash
  ///   and size, and must outlive their bodies. If the saved world had opened a file twice, this
  ///   one needs it twice. Null pointers are skipped.
  /// - Height fields and meshes are not in a state: this world must have colliders with them, in
  ///   any place.
  /// - Ids are those of the saved world; body_events() is empty. All else that SaveState saves is
  ///   replaced. The rest of the world's description stays, and so do its prepared time steps.
  /// - If the world has the bodies of the state (in the same slots, with equal assets, materials,
  ///   scales and pins, in as many crowds), their factors and its hulls, this copies and allocates
  ///   nothing.
  ///   Otherwise it makes all bodies anew beside the old ones, and the factors that the world does
  ///   not have.
  /// - Trusts no byte of `state`. If it fails, the world goes on as if this call had not been made:
  ///   with its bodies, ids, colliders and body_events(). A state made by others may move bodies
  ///   absurdly, but no step of it is undefined.
  /// - `solvers` are the methods that bodies of the state may have besides splitting, in any order.
  /// Errors: kTruncated, kBadMagic, kForeignVersion (of another version or build), kCorrupt (a
  /// number, index or count is wrong), kMismatch (an asset, height field, mesh or solver is
  /// missing; the
  /// state is of a world with another tag or keep_previous; it is of a world with a ContactMethod,
  /// and the settings of this one do not name it; a body has more contacts than this world's
  /// max_contacts), kOutOfMemory.
  Status LoadState(std::span<const std::byte> state, std::span<const Asset* const> assets,
                   std::span<const SolverMethod* const> solvers = {});

  // Queries see the collision surfaces of bodies in their current shape and, if
  // QueryFilter::targets has kQueryColliders, colliders at their current pose:
  // - They do not find disabled bodies, nor bodies whose asset has no collision surface.
  // - Of a body and a collider at the same distance, the body comes first. Colliders come in the
  //   order of their slots.
  // - Positions on colliders have the accuracy of floats relative to their size, or to the distance
  //   of the queried point.
  // - They allocate nothing, and their results do not depend on earlier queries.
  // - The first query after a body has moved refits its search trees (tens of microseconds for
  //   hundreds of tets). Like a step, it is not thread-safe.
  // - After PrepareQueries, and until a body is added, removed, enabled or moves, any number of
  // threads may query.

  /// Refits the search trees of all bodies, in parallel through WorldDesc::jobs.
  void PrepareQueries() const;

  /// Finds the nearest surface along a ray, from outside or inside; the lowest (slot of the body's
  /// id, triangle) if several are equally far. `out_hit` is not valid() if there is none. Tests
  /// every body in turn. Errors: kInvalidArgument (origin or direction not finite, zero direction,
  /// a distance that is negative or not a number; infinity is allowed).
  Status Raycast(const Ray& ray, const QueryFilter& filter, SurfacePoint* out_hit) const;
  /// The same for one body.
  Status Raycast(BodyId id, const Ray& ray, SurfacePoint* out_hit) const;

  /// Finds all surfaces along a ray. `hits` gets the nearest ones, ordered by
  /// distance, then slot of the body's id, then triangle; `out_count` gets the number of all, which
  /// may exceed hits.size(). A ray that starts and ends outside a closed surface meets it an even
  /// number of times. It meets a solid collider twice: as it enters and as it leaves. Errors: those
  /// of Raycast.
  Status RaycastAll(const Ray& ray, const QueryFilter& filter, std::span<SurfacePoint> hits,
                    uint32_t* out_count) const;
  /// The same for one body.
  Status RaycastAll(BodyId id, const Ray& ray, std::span<SurfacePoint> hits,
                    uint32_t* out_count) const;

  /// Finds the nearest place of each triangle and of each collider's surface within `radius` [m] of
  /// `centre` [m]. Fills `touching` and `out_count` as RaycastAll does. Only the surface counts: a
  /// sphere deep inside a body touches nothing. Errors: kInvalidArgument (centre not finite, a
  /// radius that is negative or not a number; infinity is allowed).
  Status OverlapSphere(const Vec3& centre, float radius, const QueryFilter& filter,
                       std::span<SurfacePoint> touching, uint32_t* out_count) const;
  /// The same for one body.
  Status OverlapSphere(BodyId id, const Vec3& centre, float radius,
                       std::span<SurfacePoint> touching, uint32_t* out_count) const;

  /// Finds the place of any surface nearest to `point` [m], at most `max_distance` [m] away; the
  /// lowest (slot of the body's id, triangle) if several are equally near. `out_point` is not
  /// valid() if there is none. Errors: kInvalidArgument (point not finite, a distance that is
  /// negative or not a number; infinity is allowed).
  Status ClosestPoint(const Vec3& point, float max_distance, const QueryFilter& filter,
                      SurfacePoint* out_point) const;
  /// The same for one body.
  Status ClosestPoint(BodyId id, const Vec3& point, float max_distance,
                      SurfacePoint* out_point) const;

  /// Computes patch number `patch` of a body's CollisionView in its current shape, in constant
  /// time. Errors: kInvalidArgument (no such patch).
  Status PatchOf(BodyId id, uint32_t patch, DeformedPatch* out_patch) const;

  // Looking at a world.

  /// Draws bodies, then colliders, by the game's functions, each in the order of slots. Does not
  /// allocate. Drawing a cage costs a pass over its tets for every thousand faces.
  void Draw(const DebugDraw& draw) const;

  /// FNV-1a 64 over the float bits of every node's position and velocity, in the order of the
  /// slots of the bodies' ids, then of nodes.
  uint64_t StateHash() const;

 private:
  struct Impl;
  Impl* impl_;
};

}  // namespace plush
