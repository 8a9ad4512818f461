// SPDX-License-Identifier: MIT
// Private state of a World.
#pragma once

#include "plush/world.h"

#include "base/array.h"
#include "base/slot_list.h"
#include "body/body.h"
#include "body/crowd.h"
#include "body/system_cache.h"
#include "collision/rest_mesh.h"
#include "world/touching_bodies.h"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>

namespace plush {

class StateReader;

/// All points within `radius` of a box, in a collider's coordinates.
struct ColliderExtent {
  Vec3 centre, half_extents;  ///< of the box [m]
  float radius = 0.0f;        ///< [m]
};

/// A collider in a world.
struct Collider {
  ColliderDesc desc;      ///< with the present pose and velocities; plane normal of unit length
  Hull* hull = nullptr;   ///< of kHull, else null; desc.hull.points are its own
  uint64_t id = 0;        ///< ColliderId::value
  TriangleSource mesh;    ///< of a height field or mesh
  ColliderExtent extent;  ///< of a solid or mesh
  bool has_target = false;
  Pose target;              ///< of the next step, if `has_target`
  WorldBox bounds;          ///< of a solid at its pose, if `has_bounds`
  bool has_bounds = false;  ///< whether `bounds` has been found for the present pose

  bool Moves() const;  ///< whether the next step moves it
};

/// Of the space in which the collider's shape may hold points.
ColliderExtent ExtentOf(const Collider& collider);
/// Of the triangles of a height field or mesh.
ColliderExtent SurfaceExtentOf(const Collider& collider);

/// The triangles of a height field or mesh whose description is valid, and none of other shapes.
/// `mesh` and `patches`: those of a mesh.
TriangleSource TrianglesOf(const ColliderDesc& desc, const StaticMeshView* mesh,
                           const FacePatches* patches);
/// The solid of a collider that is not a plane.
Solid SolidOf(const Collider& collider);

/// The collider at its present pose, at rest.
StepCollider ColliderNow(const Collider& collider);

/// An attachment in a world, or a constraint: they share slots and ids.
struct Attachment {
  AttachmentDesc desc;  ///< with the present target; of a constraint, its body, point and target
  // Of a constraint.
  bool is_constraint = false;
  ConstraintKind kind = ConstraintKind::kPoint;
  Vec3 direction;  ///< unit
  float correction = 1.0f;
  uint64_t id = 0;  ///< AttachmentId::value
  bool has_next = false;
  Vec3 next;  ///< target at the end of the next step, if `has_next`

  /// The directions in which a constraint holds its point, orthonormal; returns their number.
  uint32_t Directions(Vec3 (&directions)[3]) const;
  bool Holds(uint64_t body) const {
    return desc.body.value == body || desc.other_body.value == body;
  }
};

/// Puts the body's point that a query found into a description. Errors: kInvalidArgument (not
/// valid(), or on a collider).
template <class Desc>
Status PlaceAt(const SurfacePoint& at, Desc* desc) {
  const auto invalid = [](const char* reason) -> Status {
    return {StatusCode::kInvalidArgument, "at", reason, 0};
  };
  if (!at.valid()) return invalid("is not valid()");
  if (!at.body.valid()) return invalid("is on a collider");
  desc->body = at.body;
  std::copy(at.nodes, at.nodes + 4, desc->nodes);
  desc->weights = at.weights;
  return {};
}

/// A force field that waits for the next step.
struct PendingForce {
  ForceField field;
  uint64_t body = 0;  ///< BodyId::value, or 0: all bodies
};

/// What World::Impl::ForIntersections finds, in the world [m].
struct IntersectionVisitor {
  void (*segment)(void* user, const Vec3& from, const Vec3& to);
  void (*triangle)(void* user, const Vec3& a, const Vec3& b, const Vec3& c);
};

struct World::Impl {
  explicit Impl(const WorldDesc& world_desc)
      : desc(world_desc), cache(allocator, world_desc.idle_systems) {}

  // Makes room for one more element after `used` ones. Returns false if the allocator fails.
  template <class T>
  bool Reserve(Array<T>* array, uint32_t used) {
    if (used < array->size()) return true;
    const size_t size = std::max({size_t{8}, 2 * array->size(), size_t{used} + 1});
    Array<T> larger;
    if (!larger.Allocate(allocator, size)) return false;
    std::copy(array->begin(), array->end(), larger.begin());
    *array = std::move(larger);
    return true;
  }

  // The same for `size` elements in all.
  template <class T>
  bool Grow(Array<T>* array, size_t size) {
    return size <= array->size() || Reserve(array, static_cast<uint32_t>(size - 1));
  }

  /// Finds a body of `impl`, which may be null: a world without memory. Errors: kNullId,
  /// kForeignId, kStaleId.
  static Status FindBody(const Impl* impl, BodyId id, Body** out_body);
  /// The same for a point of its surface, as calls that push it do. Errors: those, and
  /// kInvalidArgument (no place on the surface, fixed body).
  static Status FindPushed(Impl* impl, const SurfacePoint& at, Body** out_body);
  /// The same for colliders.
  static Status FindCollider(const Impl* impl, ColliderId id, Collider** out_collider);
  /// The same for calls that change a collider.
  static Status FindToChange(Impl* impl, ColliderId id, Collider** out_collider);
  /// The same for calls that read: empties their output first. A null one gives kNoOutput.
  template <class Output>
  static Status FindBody(const Impl* impl, BodyId id, Output* output, Body** out_body);
  template <class Output>
  static Status FindCollider(const Impl* impl, ColliderId id, Output* output,
                             Collider** out_collider);

  /// Memory that WorldDesc asks for. What the allocator refuses is missing until it is needed.
  void ReserveCapacity();
  bool ReserveBodyArrays(uint32_t slot);
  Status ReserveBody();
  bool ReserveColliderArrays(uint32_t slot);
  /// Makes room for a body that may touch those with a SolverMethod, or that springs join to them:
  /// `method`, which is of a new body or solver, or null, or that of any body before.
  bool ReserveTouching(const SolverMethod* method, Body* body);
  /// The same for the bodies that an attachment joins.
  bool ReserveJoined(const SolverMethod* method, const AttachmentDesc& of);
  bool HasMeshes() const;  ///< or height fields
  Status ReserveCollider();
  /// The triangles of a mesh and their patches, null for few. Makes what no collider has already.
  Status FindTriangles(const MeshShape& mesh, const StaticMeshView** out_triangles,
                       const FacePatches** out_patches);
  /// Frees the rest_meshes and face_patches that no collider has.
  void FreeUnusedMeshes();
  /// The number of colliders that bodies must have room for.
  size_t MostColliders() const {
    return std::max<size_t>(collider_slots.num_slots(), desc.reserve_colliders);
  }
  void Remove(Body* body);

  static Status FindAttachment(const Impl* impl, AttachmentId id, Attachment** out_attachment);
  static Status FindConstraint(const Impl* impl, ConstraintId id, Attachment** out_attachment);
  static Status FindHold(const Impl* impl, uint64_t id, Attachment** out_attachment);
  Status CheckSide(const char* const (&fields)[3], BodyId id, const uint32_t (&nodes)[4],
                   const Vec4& weights, Body** out_body) const;
  Status CheckAttachment(const AttachmentDesc& of) const;
  Status CheckConstraint(const ConstraintDesc& of) const;
  Status ReserveAttachment(const Attachment& of);
  /// Adds an attachment or constraint, whose description is valid.
  Status AddHold(Attachment added, uint64_t* out_id);
  void MoveTarget(const Vec3& target, Attachment* attachment);
  /// CheckSolverPins with the body's constraints, but for those in slot `without`.
  Status CheckHeld(const BodySolver& solver, const Body& body, std::span<const uint8_t> pinned,
                   uint32_t without = UINT32_MAX) const;
  uint32_t CountHolds(bool constraints) const;
  bool GrowAttachments(size_t size) {
    return Grow(&attachments, size) && Grow(&rows, size) && Grow(&step_targets, size);
  }
  /// Wakes the attachment's bodies and lets the next step find their points anew.
  void WakeSides(const AttachmentDesc& desc);
  void Detach(uint32_t slot);
  template <class Goes>
  void DetachIf(const Goes& goes);
  void DetachBody(uint64_t body);
  void DetachCollider(uint64_t collider);
  void WakeAttachedTo(uint64_t collider);
  void WakeJoinedTo(BodyId id);  // by attachments
  void DrawAttachments(const DebugDraw& draw) const;
  bool IsAttachedToMoving(const Body& body) const;
  /// Fills the rows and the bodies' points, and finds islands, if attachments have changed.
  void LinkAttachments();
  void LinkIslands();
  Status PrepareFactors(float new_dt, bool* out_made);
  Status PrepareSystem(float body_dt, System* system);
  Status ChangeSystem(const Asset& asset, const BodyMaterial& material,
                      std::span<const uint8_t> pinned, Body* body);
  // Gives the body the system of a solver with this drag. On failure nothing has changed.
  Status ChangeDrag(float drag, Body* body);
  void PlaceInCrowd(Body* body);
  void MakeCrowd(const SplittingSettings& splitting, System* system);
  void RemoveIfEmpty(Crowd* crowd);
  void TakeFromCrowd(Body* body);

  void ListLiveBodies();
  /// As last listed; valid until a body is added or removed.
  std::span<Body* const> live_bodies() const { return {live.data(), slots.num_live()}; }

  // The phases of Step, in order.
  void BeginStep(float new_dt);
  void PlaceColliders();
  void FindPlaces();
  void WakeByColliders();
  void PlaceAttachments();
  bool WakeIslands();  ///< returns whether one woke
  void ApplyForces();
  void ApplyForcesTo(Body* body) const;
  void FindBodyContacts();
  void FindNearPairs();
  bool WakeOnCarried(const TouchingPair& pair);
  bool WakeOnLeaving();
  uint32_t ListWantedPairs(uint32_t first);
  void SearchWantedPairs();
  void SearchAtOnce();
  void SearchContacts(SearchMemory* memory, WantedPair* wanted);
  void AddContactsOf(WantedPair* wanted);
  void AddFoundContacts(const WantedPair& wanted);
  void Keep(const PastContact& old, TouchingPair* pair);
  bool MakeBodyContact(const TouchingPair& pair, const uint32_t (&triangles)[2],
                       const float (&u)[2], const float (&v)[2], const Vec3& normal,
                       BodyContact* contact);
  void AddBodyContact(TouchingPair* pair, BodyContact* contact);
  void ListSides();
  PairContactCount Intersect(Body* first, Body* second);
  /// Whether a piece of one body may be wholly inside the other one, as their boxes say.
  bool MayEnclose(const Body& a, const Body& b) const;
  /// Whether a pair leaves out a search, because it was searched in the step before.
  bool Waits(const TouchingPair& before, const Body& a, const Body& b) const;
  /// At how many times within the step the surfaces of two bodies are intersected.
  uint32_t SearchTimes(const Body& a, const Body& b) const;
  /// Finds the contacts of two bodies at several times within the step, in memory->found. Both end
  /// as RefitSearched leaves them.
  PairContactCount FindWithin(uint32_t times, Body* const (&of)[2], const LastNormal& last,
                              SearchMemory* memory);
  void ForIntersections(void* user, const IntersectionVisitor& visit);
  /// Wakes the bodies that touch the one in this slot.
  void WakeTouching(uint32_t slot);
  /// Forgets what belongs to a body's old positions, and wakes the bodies that it touched.
  void ForgetPast(Body* body);
  /// Forgets a body that goes, and wakes those that it touched.
  void ForgetPairs(uint32_t slot);
  void EndBodyContacts();
  void NoteTouching();
  void ReportRestingPairs();
  bool IsToReport(const TouchingPair& pair) const;
  void ReportPairs(std::span<TouchingPair> pairs);
  BodyContactPoint PlaceOfContact(const TouchingPair& pair, const PastContact& contact) const;
  ContactEvent PairEvent(const TouchingPair& pair, ContactEvent event) const;
  bool AnyBodySteps() const;
  void DecideCrowdSteps();
  void ChooseUnits();
  void StepUnits();
  void StepSharedIsland();
  void StepCarriedBodies();
  void EndStep();
  void EndAttachments();
  void MayFallAsleep(Body* first);
  void FallAsleep(Body* body);
  bool TouchesMovingCollider(const Body& body) const;
  void MoveColliders();
  void RecordEvent(const Body& body, BodyEventType type);
  void FindTouches();
  void ReportTouches(Body* body);
  void RecordEvent(const ContactEvent& event);
  /// Keeps the ends of a body's contacts for the next step: the body goes.
  void KeepEndsOf(const Body& body);
  void ReportKeptEnds();
  void SumStats();

  float DeepestPoint(const Body& body) const;
  Status AddForce(const PendingForce& force);

  /// Wakes the sleeping bodies that the collider touches, or touches once it has its target.
  void WakeTouching(const Collider& collider);
  void WakeAll();
  /// Drops all contacts with the collider in this slot and wakes the bodies that had some.
  void ForgetContacts(uint32_t slot);

  // Saving and loading.
  size_t WriteState(std::byte* state);
  bool HasBodiesOf(const StateReader& state);
  bool HasHullsOf(const StateReader& state) const;
  Status MakeHulls(const StateReader& state);
  void ClearColliders();
  bool ArrangeCrowds(const StateReader& state);
  bool ReserveFor(const StateReader& state);
  bool ReserveContacts(const StateReader& state);
  bool ReserveMore(const StateReader& state);
  bool ReserveLike(const Impl& other);
  Status RestoreSets(const StateReader& state, System* system);
  Status BuildFrom(const StateReader& state, Impl* donor);
  void UnlinkCrowds();
  void LinkCrowds(const StateReader& state);
  void LoadAttachments(const StateReader& state);
  bool HasRoomForPairs(const StateReader& state) const;
  void LoadBodyContacts(const StateReader& state);
  void ApplyState(const StateReader& state);
  void SwapState(Impl* other);
  void ClearBodies();
  Status LoadState(const StateReader& state);

  // Calls job(this, i) for i < count, through the engine's jobs if it has any.
  void RunJobs(uint32_t count, JobFunction job) {
    if (desc.jobs.run != nullptr) {
      desc.jobs.run(desc.jobs.user, count, job, this);
    } else {
      for (uint32_t i = 0; i < count; ++i) job(this, i);
    }
  }

  // World's queries on the body `only`, or on all bodies that pass the filter if it is null.
  struct Targets {
    const BodyId* only = nullptr;
    QueryFilter filter;
  };
  template <class Visit>
  Status ForBodies(const Targets& targets, Visit visit) const;
  template <class Visit>
  void ForColliders(const Targets& targets, Visit visit) const;
  Status Raycast(const Targets& targets, const Ray& ray, SurfacePoint* out_hit) const;
  Status RaycastAll(const Targets& targets, const Ray& ray, std::span<SurfacePoint> hits,
                    uint32_t* out_count) const;
  Status OverlapSphere(const Targets& targets, const Vec3& centre, float radius,
                       std::span<SurfacePoint> touching, uint32_t* out_count) const;
  Status ClosestPoint(const Targets& targets, const Vec3& point, float max_distance,
                      SurfacePoint* out_point) const;

  WorldDesc desc;
  const Allocator& allocator = desc.allocator;
  SystemCache cache;
  SlotList<> slots;
  Array<Body*> bodies;                            // by slot; valid if the slot is in use
  Array<StepStats> body_stats;                    // of the last step, by slot
  Array<Body*> live;                              // in the order of slots, as of ListLiveBodies
  Array<WorldMeasures> measured;                  // of `live`, in World::Measure
  const SolverMethod* touching_method = nullptr;  ///< see ReserveTouching
  TouchingBodies touching_bodies;
  Array<PredictedBody> predicted;  // by slot
  Array<uint8_t> is_refitted;      // to there, by slot
  NearBoxes near_boxes;            // of bodies, by their slots
  Array<Crowd*> crowds;
  uint32_t num_crowds = 0;
  Array<uint32_t> units;  // jobs of the current step: crowds, then slots of bodies that step alone
  uint32_t num_crowd_units = 0;
  uint32_t num_units = 0;
  Body* shared_island = nullptr;  // steps after all units, on all threads
  bool has_leavers = false;       // whether a body leaves the lane of a crowd that steps
  float dt = 0.0f;                // of the last step [s]; factors in use are for it, or kept
  std::mutex time_steps_mutex;    // held to change what PrepareSystem reads beside other calls: the
                                  // time steps and desc.contact
  Array<float> time_steps;        // those of PrepareTimeStep [s]
  uint32_t num_time_steps = 0;
  SlotList<> collider_slots;
  Array<Collider> colliders;            // by slot
  Array<StepCollider> step_colliders;   // of the current step, by slot
  RestMesh* rest_meshes = nullptr;      // of soft bodies that are meshes of colliders
  FacePatches* face_patches = nullptr;  // of meshes of colliders
  Array<TriangleSource> loaded_meshes;  // of a state's colliders, while it is loaded
  // Of the current step: half-spaces, then other colliders by the least coordinate of their boxes
  // along x, then sensors.
  Array<SweptCollider> swept;
  uint32_t num_half_spaces = 0, num_bounded = 0, num_sensors = 0;
  bool colliders_are_placed = false;  // none moves or has changed since the last step
  SlotList<> attachment_slots;
  Array<Attachment> attachments;   // by slot
  Array<AttachmentRow> rows;       // of steps, by slot
  Array<StepTarget> step_targets;  // of the current step, by slot
  bool islands_changed = false;
  Array<AttachmentEvent> attachment_events;  // of the last step (max_events x 1)
  uint32_t num_attachment_events = 0;
  Array<PendingForce> forces;  // of the next step
  uint32_t num_forces = 0;
  Array<BodyEvent> events;  // of the last step (max_events x 1)
  uint32_t num_events = 0;
  Array<ContactEvent> contact_events;  // of the last step (max_contact_events x 1)
  uint32_t num_contact_events = 0;
  bool lost_contact_events = false;  // whether the step had more
  Array<ContactEvent> kept_ends;     // since the last step (max_contact_events x 1)
  uint32_t num_kept_ends = 0;
  bool lost_kept_ends = false;  // whether there were more
  StepSettings settings;        // of the current step
  StepStats stats;
};

inline bool IsTimeStep(float dt) { return dt >= kLeastTimeStep && dt <= 1.0f; }

/// Whether these are weights of a point in a tet, within rounding.
inline bool AreWeights(const Vec4& w) {
  constexpr float kRounding = 1.0e-3f;
  const auto is_weight = [](float x) { return x >= -kRounding && x <= 1.0f + kRounding; };
  const float sum = w.x + w.y + w.z + w.w;
  return is_weight(w.x) && is_weight(w.y) && is_weight(w.z) && is_weight(w.w) &&
         sum >= 1.0f - kRounding && sum <= 1.0f + kRounding;
}

inline void WakeUp(Body* body) {
  body->asleep = false;
  body->resting.Forget();
  body->guard.is_known = false;
}

inline constexpr Status kNoTimeStep = {StatusCode::kInvalidArgument, "dt", "must lie in [1e-4, 1]",
                                       0};
inline constexpr Status kNoWorld = {StatusCode::kOutOfMemory, "world", "has no memory", 0};
inline constexpr Status kNoOutput = {StatusCode::kInvalidArgument, "output", "must not be null", 0};
inline constexpr Status kFrozen = {StatusCode::kInvalidArgument, "id",
                                   "is frozen; ResetBody or SetNodePositions revive it", 0};
inline constexpr Status kWrongSize = {StatusCode::kInvalidArgument, "span",
                                      "wrong number of elements", 0};
inline constexpr Status kFixed = {StatusCode::kInvalidArgument, "id",
                                  "is fixed scenery; its nodes cannot change", 0};

/// Empties the output of a call. Returns kNoOutput if it is null.
template <class Output>
Status Empty(Output* output) {
  if (output == nullptr) return kNoOutput;
  *output = {};
  return {};
}

template <class Output>
Status World::Impl::FindBody(const Impl* impl, BodyId id, Output* output, Body** out_body) {
  const Status emptied = Empty(output);
  return emptied.ok() ? FindBody(impl, id, out_body) : emptied;
}

template <class Output>
Status World::Impl::FindCollider(const Impl* impl, ColliderId id, Output* output,
                                 Collider** out_collider) {
  const Status emptied = Empty(output);
  return emptied.ok() ? FindCollider(impl, id, out_collider) : emptied;
}

}  // namespace plush
