// SPDX-License-Identifier: MIT
// One soft body: its state and its step.
#pragma once

#include "plush/asset.h"
#include "plush/body.h"
#include "plush/collider.h"
#include "plush/format/cdg_records.h"
#include "plush/format/tet_block.h"
#include "plush/jobs.h"
#include "plush/pose.h"
#include "plush/solver.h"
#include "plush/step.h"

#include "base/array.h"
#include "base/linked_list.h"
#include "base/node_vec.h"
#include "body/energy_guard.h"
#include "body/step_settings.h"
#include "body/system_cache.h"
#include "body/touches.h"
#include "collision/collision_state.h"
#include "collision/near_boxes.h"
#include "contact/attached_points.h"
#include "contact/coarse_contacts.h"
#include "elasticity/block_matrix.h"
#include "elasticity/elements.h"
#include "elasticity/stiffness_product.h"
#include "materials/model_pass.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <span>

namespace plush {

struct Crowd;

/// How the pins of one region move, if MovePins gives it poses.
struct RegionMotion {
  Pose from;  ///< the last target, in the world; valid if `known`
  Pose to;    ///< the target of the next step, in the world; valid if `moves`
  bool known = false;
  bool moves = false;  ///< whether a node still has the target `to`
};

/// Targets of pinned nodes for the next step, and forces on them in the last one. Its arrays are
/// empty until MovePins needs them, or if the body reports no reactions.
struct PinMotion {
  bool rests = true;       ///< whether all pins were still in the last step, and in calls since
  bool moves = false;      ///< whether any pinned node has a target
  Array<NodeVec> targets;  ///< in the body's coordinates (num_nodes x 1)
  Array<int32_t> regions;  ///< of each node's target: a region that moves by its pose, kStays, or
                           ///< kStraight (num_nodes x 1)
  Array<RegionMotion> motions;  ///< by region of the asset
  Array<Vec3> reactions;  ///< mean force on the target of each pinned node in the last step [N],
                          ///< world (num_nodes x 1), or empty
  // Scratch memory of a step for `reactions`.
  Array<Vec3> impulses;  ///< on pinned nodes, times dt [kg m]; any value for others (num_nodes x 1)
  Array<float> swept;    ///< kappa before the volume sweeps (16 num_blocks x 1)

  static constexpr int32_t kStays = -2;
  static constexpr int32_t kStraight = -1;

  /// Forgets all targets, and the poses that regions come from.
  void Forget() {
    moves = false;
    for (int32_t& region : regions) region = kStays;
    for (RegionMotion& motion : motions) motion.known = motion.moves = false;
  }
};

/// What restitution asks for after a substep.
struct ThrowBack {
  bool any = false;   ///< whether it asks for anything
  Vec3 frame;         ///< the plane's velocity where the fastest point touches [m/s]
  double most = 0.0;  ///< kinetic energy in this frame and elastic energy that it may leave [J]
};

/// Where a body was when contacts with other bodies were last searched.
struct SearchedShape {
  Array<NodeVec> y;  ///< from `origin`, in the world's scale [m] (num_nodes x 1), or empty
  double origin[3] = {};
  bool is_known = false;
  double travel[3] = {};  ///< of the body as a whole, the mean of its nodes, until then [m]
  double way = 0.0;       ///< bound of how far any node had gone beside the whole, summed from
                          ///< search to search [m]
  // In the current step, since then.
  Vec3 shift;         ///< of the whole [m]
  float away = 0.0f;  ///< the farthest that a node has gone beside it [m]

  double TravelNow(int k) const {
    const float since[3] = {shift.x, shift.y, shift.z};
    return travel[k] + double(since[k]);
  }
  double WayNow() const { return way + double(away); }
};

/// Where a body's nodes were when it last moved on. It falls asleep once they have stayed there for
/// long enough.
struct RestingPlace {
  Array<Vec3> x;          ///< as Body::x (num_nodes x 1)
  bool is_known = false;  ///< whether the body may be at rest there
  float time = 0.0f;      ///< how long [s]
  bool is_tried = false;  ///< whether the step begins without velocities, to see if it stays

  void Forget() {
    is_known = is_tried = false;
    time = 0.0f;
  }
};

/// State of one body.
/// - Positions are relative to `origin`, which follows the body: far from the world's origin,
/// floats
///   are too coarse.
/// - They are also divided by `scale`: a body of scale s moves like the unscaled one under gravity
///   g / s, with Young's modulus E / s^2 (which `system` has) and the baked masses. World position:
///   origin + scale x. Velocities are divided by `scale` too.
struct Body : Links<Body> {  // of System::waiting
  // Shared with other bodies.
  VisualView visual;
  SimulationView simulation;
  CollisionView surface;
  System* system = nullptr;
  float dt = 0.0f;  ///< of the last step, or the baked one before the first step [s]; `system` has
                    ///< its factors
  // Material and status.
  ElementView elements;
  float mass_scale = 1.0f;
  float size = 1.0f;  ///< diagonal of the rest bounding box [m]
  float scale = 1.0f;
  float gravity_factor = 1.0f;
  float max_speed = std::numeric_limits<float>::infinity();  ///< [m/s], in the world
  Filter filter;
  SplittingSettings splitting;
  BodySolver solver;               ///< `splitting` above counts instead of its own
  TuningView tuning;               ///< of the asset
  Coefficients coefficients;       ///< of MaterialOverride
  Array<Coefficients> baked;       ///< by material, or empty: none gives any
  Array<uint16_t> node_materials;  ///< see TouchingSurface
  uint64_t user_data = 0;
  bool fixed = false;
  bool frozen = false;
  bool asleep = false;
  bool enabled = true;
  bool was_asleep = false;    ///< after the last step; to report who woke
  bool falls_asleep = false;  ///< at the end of the current step
  RestingPlace resting;
  uint64_t id = 0;    ///< BodyId::value
  uint32_t slot = 0;  ///< of the id
  // The crowd it steps with.
  Crowd* crowd = nullptr;
  size_t lane = 0;             ///< in the crowd
  bool in_lane = false;        ///< whether rotations and kappa are in the crowd's lane
  bool in_crowd_step = false;  ///< whether it takes part in its crowd's current step
  // Motion.
  double origin[3] = {};  ///< world position of the body's coordinates [m]
  Array<NodeVec> x;       ///< node positions relative to origin [m] and inverse masses [1/kg], 0 if
                          ///< pinned (num_nodes x 1)
  Array<NodeVec> v;       ///< node velocities [m/s] and 0 (num_nodes x 1)
  Array<float> rotations;  ///< of the tets by block; the next step starts from them (4 x 16
                           ///< num_blocks)
  Array<float> kappa;      ///< multipliers of the volume term by place, for substeps of kappa_dt
                           ///< [kg m^2] (16 num_blocks x 1)
  float kappa_dt = 0.0f;   ///< [s], or 0 before the first step
  uint32_t last_substeps = 0;  ///< of the step before, or 0; set when a step begins
  ContactState contacts;
  AttachedPoints attached;
  Body* next_of_island = nullptr;  ///< the next body of those that springs join, by slots, or null
  bool leads_island = true;        ///< whether it is the first one
  uint32_t island = 0;             ///< slot of the first one. Scratch memory of World::Impl
  Body* last_of_island = nullptr;  ///< of a first one. Scratch memory of World::Impl
  PinMotion pins;
  Array<NodeVec> previous;  ///< x before the last step (num_nodes x 1), or empty: not kept
  double previous_origin[3] = {};
  bool has_previous = false;  ///< whether the body moved in the last step and in no call since
  // Queries.
  CollisionState collision;
  bool moved = true;  ///< whether x has changed since `collision` was refitted
  // Scratch memory of a step.
  Array<float> stretches;  ///< R^T F at the start of the substep by block, if damped (9 x 16
                           ///< num_blocks)
  Array<NodeVec> y;        ///< positions of the current iterate [m] and inverse masses [1/kg], 0 if
                           ///< pinned (num_nodes + 1 x 1)
  Array<NodeVec> rhs;  ///< right-hand side [kg m], then the displacement of the outer iteration [m]
                       ///< (num_nodes + 1 x 1)
  Vec3 momentum;       ///< sum of rhs without elastic forces, which sum to zero [kg m]
  Array<float> workspace;  ///< of solves (PanelWorkspaceSize x 1)
  CoarseMatrix coarse;     ///< of the substep
  /// Of an implicit step, else empty. A splitting body that may touch such bodies has d, p and q.
  struct Newton {
    Array<NodeVec> d, p, q;        ///< see ConjugateGradients (num_nodes + 1 x 1)
    double work = 0.0;             ///< see GradientPart
    ContactSolveStats solved;      ///< the same
    Array<float> masses;           ///< of nodes, times their share in A; below 0 for pinned nodes
                                   ///< and the spare one (num_nodes + 1 x 1)
    Array<float> stretches;        ///< see TetsAt (6 x 16 num_blocks)
    Array<ProductBlock> products;  ///< the same, if the settings use them (num_blocks x 1)
    BlockMatrix matrix;            ///< A, if the settings ask for it
    Array<Mat3> inverses;          ///< of A's diagonal blocks, if they precondition (num_nodes x 1)
    Array<NodeVec> v, w, last_w;   ///< of MINRES (num_nodes + 1 x 1)
    Array<ModelTet> tets;          ///< if the settings use a model (num_tets x 1)
  } newton;
  /// How far a substep has got.
  EnergyGuard guard;
  struct Progress {
    int volume_sweeps = 0;     ///< those of the substep
    int least_iterations = 0;  ///< outer ones
    bool is_soft = false;      ///< see IterationPlan
    bool is_stiff = false;     ///< the same
    int iterations = 0;        ///< done
    float longest = 0.0f;      ///< component of a displacement in the last one [m]
    float lowest = 1.0f;       ///< det F of any iterate
    bool may_be_flat = false;
    bool is_owed = false;       ///< a coarse correction
    bool has_matrix = false;    ///< of the coarse level, not from before a turn
    bool is_corrected = false;  ///< it takes part in a joint coarse correction
    bool is_done = false;       ///< by the body's own SolverMethod
    bool is_static = false;     ///< the substep leaves no velocities
    float static_speed = 0.0f;  ///< of its fastest node, then [m/s, divided by the scale]
    bool is_slow = false;       ///< it touches only colliders, near rest
    bool is_put_back = false;   ///< the first iterate is not the prediction
    ThrowBack rebound;
  } progress;
  // Scratch memory of a step with planes or attachments; empty until the world has any.
  ContactSolve solve;              ///< its part in a solve of bodies that touch each other
  CoarseContacts coarse_solve;     ///< the same on the coarse level
  Array<NodeVec> d;                ///< displacement of the outer iteration [m] (num_nodes + 1 x 1)
  CoarseResponses responses;       ///< of `coarse`
  Array<LocalCollider> colliders;  ///< the first num_near: those near the body in this step, by
                                   ///< ascending slots
  uint32_t num_near = 0;
  // What it touches; with room for as many as `colliders`, of fixed bodies too.
  bool report_contacts = false;
  Array<Touch> touches;  ///< the first num_touches: of the last step in which the body was awake;
                         ///< sensors of the last step, if it reports; ascending slots
  uint32_t num_touches = 0;
  bool touches_body = false;  ///< whether it touched another body in its last step
  SearchedShape searched;
  uint32_t num_sides = 0;  ///< of contacts.between. Scratch memory of World::Impl
  Array<Touch> found;      ///< the first num_found: of the current step
  uint32_t num_found = 0;
  bool lost_sensors = false;  ///< whether some of the current step had no room
  Array<TouchSums> sums;      ///< of the near colliders in the current step

  /// Whether the body takes part in steps now.
  bool Steps() const { return enabled && !asleep; }
  const FactorSet& Factors() const { return *system->Find(dt); }
  std::span<LocalCollider> NearColliders() { return colliders.span().first(num_near); }
  std::span<const LocalCollider> NearColliders() const { return colliders.span().first(num_near); }
  float Mass(size_t node) const { return simulation.masses[node] * mass_scale; }
  bool IsPinned(size_t node) const { return x[node].w == 0.0f; }
  /// The rotations, in the body's own memory or in its lane. The view does not enforce const.
  RotationView Rotations() const;
};

/// World position [m] of a point in the body's coordinates.
inline Vec3 WorldPosition(const Body& body, const Vec3& local) {
  const double s = body.scale;
  return {static_cast<float>(body.origin[0] + s * double(local.x)),
          static_cast<float>(body.origin[1] + s * double(local.y)),
          static_cast<float>(body.origin[2] + s * double(local.z))};
}

/// The same point in the body's coordinates.
inline Vec3 LocalPosition(const Body& body, const Vec3& world) {
  const double inverse = 1.0 / double(body.scale);
  return {static_cast<float>((double(world.x) - body.origin[0]) * inverse),
          static_cast<float>((double(world.y) - body.origin[1]) * inverse),
          static_cast<float>((double(world.z) - body.origin[2]) * inverse)};
}

/// Adds the wall time of a scope to phases. Reading the clock takes time: a scope with several
/// phases has one timer.
class PhaseTimer {
 public:
  using Clock = std::chrono::steady_clock;

  PhaseTimer(StepStats* stats, Phase phase) : stats_(stats), phase_(phase), start_(Clock::now()) {}
  ~PhaseTimer() { AddUntil(Clock::now()); }
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;

  /// From now on, the time is that of another phase.
  void Switch(Phase phase) {
    if (phase == phase_) return;
    const Clock::time_point now = Clock::now();
    AddUntil(now);
    start_ = now;
    phase_ = phase;
  }

 private:
  void AddUntil(Clock::time_point now) {
    stats_->phase_s[static_cast<size_t>(phase_)] +=
        std::chrono::duration<float>(now - start_).count();
  }

  StepStats* stats_;
  Phase phase_;
  Clock::time_point start_;
};

/// How many times as long as the one before a substep may be, if the time step has changed.
inline constexpr float kMostStepGrowth = 1.5f;

/// Converts multipliers of substeps of `from` seconds to substeps of `to` seconds: returns the
/// factor that keeps the pressure. If substeps grow more than twofold, the pressure falls: the full
/// pressure of a strained body would overshoot. Returns 1 if `from` is 0 (before the first step).
float MultiplierScale(float from, float to);

/// Scales multipliers for substeps of `*kappa_dt` seconds to substeps of `h` seconds.
void ScaleMultipliers(float h, Array<float>* kappa, float* kappa_dt);

/// The constant c of AddElasticImpulses in an outer iteration, or 0: sweeps find the multipliers.
/// - 1.5: A answers a multiplier's error in dilation by 1.5 lambda / mu times the error.
/// - 2.5 in a substep's first iteration, which sees the prediction: a vibrating body is then stable
///   for c above 2.25.
float Relaxation(const StepSettings& settings, bool is_first);

/// The volume term that the steps follow.
inline VolumeLaw LawOf(const SplittingSettings& splitting) {
  return splitting.volume_sweeps > 0 ? kUnboundedLaw : kSplittingLaw;
}
inline VolumeLaw LawOf(const ImplicitSettings& implicit) {
  return UsesModel(implicit) ? kUnboundedLaw : VolumeLaw();
}
inline VolumeLaw LawOf(const Body& body) {
  return body.solver.method != nullptr ? LawOf(body.solver.implicit) : LawOf(body.splitting);
}

/// Fewest outer iterations of a substep of `to` seconds after substeps of `from` seconds: five if
/// it is more than kMostStepGrowth times as long, one otherwise. After a single iteration, the
/// volume error of a longer substep becomes kinetic energy in the next short one (a body that
/// alternated between 1/30 s and 1/240 s gained 60 times its energy).
int LeastIterations(float from, float to);

/// Fewest blocks of a body whose rotations are shared between threads.
inline constexpr size_t kBlocksForJobs = 512;

/// The gravity that the body feels, in its coordinates [m/s^2].
inline Vec3 GravityOf(const StepSettings& settings, const Body& body) {
  return settings.gravity * (body.gravity_factor / body.scale);
}

/// Advances the bodies of an island, often a single one, by settings.dt, and writes their
/// statistics to stats[body->slot]. They take equal substeps, and outer iterations in turns. Does
/// not allocate.
void StepIsland(const StepSettings& settings, Body* first, StepStats* stats);

/// Writes the body's statistics after its last substep; places its planes for that.
void EndStep(const StepSettings& settings, Body* body, StepStats* stats);

/// Most colliders that can be near a body at once.
inline constexpr size_t kMostNearColliders = 64;

/// Makes room for what contacts and springs need in solves. Returns false if the allocator fails.
bool ReserveSolve(const Allocator& allocator, Body* body);

/// Makes room for a world with `num_colliders` and keeps existing contacts. If the allocator fails,
/// returns false, and later steps run as before.
bool ReserveColliders(const Allocator& allocator, size_t num_colliders, Body* body);

/// Makes room for contacts with other bodies. Returns false if the allocator fails.
bool ReserveBodyContacts(const Allocator& allocator, Body* body);

/// Makes room for what a solver needs. If the allocator fails, returns false, and the body goes on
/// as before.
bool ReserveSolver(const Allocator& allocator, const BodySolver& solver, Body* body);

/// Makes room for a list of a mesh near the body, see SunkPoints::ReserveMesh.
bool ReserveMesh(const Allocator& allocator, Body* body);

/// Moves `origin` so that the node coordinates stay near zero.
void FollowOrigin(Body* body);

/// Whether nothing but contacts, springs, constraints and pins about which it turns holds the body,
/// and it is of one piece (contact/free_turn.h). Finds the hinge for nodes at `at` (num_nodes x 1).
bool FindOnlyHinge(const Body& body, std::span<const NodeVec> at, Hinge* hinge);

/// Whether nothing but contacts holds the body, and it is of one piece (contact/free_turn.h).
inline bool TurnsFreely(const Body& body) {
  return body.system->num_pinned == 0 && !body.attached.any() && body.simulation.components <= 1;
}

/// Whether a step writes its positions to body->previous, for SwapPrevious: positions before the
/// last step are kept, and this is the step's first substep.
inline bool KeepsPrevious(const Body& body) {
  return body.previous.size() > 0 && !body.has_previous;
}

/// Copies the velocities that a substep of `h` seconds begins with to body->rhs, for KeepTurns.
/// Returns false if the body turns too little to need it, touches or hangs on something, or has
/// another step than splitting without volume sweeps.
bool NoteVelocities(const StepSettings& settings, float h, Body* body);
/// CoarseLevel::KeepTurns for body->x and body->v after such a substep. Uses body->rhs and body->y.
void KeepTurns(float h, Body* body);

/// Makes body->previous the positions, and the positions body->previous.
void SwapPrevious(Body* body);

}  // namespace plush
