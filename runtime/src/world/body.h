// SPDX-License-Identifier: MIT
// One soft body: its state, and how it steps.
#pragma once

#include "plush/asset.h"
#include "plush/format/cdg_records.h"
#include "plush/format/tet_block.h"
#include "plush/world.h"

#include "base/array.h"
#include "base/node_vec.h"
#include "collision/collision_state.h"
#include "contact/plane_contacts.h"
#include "elasticity/elements.h"
#include "world/system_cache.h"

#include <chrono>
#include <cstdint>
#include <span>

namespace plush {

struct Crowd;

/// State of one body. Positions are relative to `origin`, which follows the body, so that float
/// keeps its precision far from the world's origin.
struct Body {
  // What the body shares.
  VisualView visual;
  SimulationView simulation;
  CollisionView surface;
  System* system = nullptr;
  float dt = 0.0f;  ///< of the last step, before it of the asset [s]; `system` has its factors
  // What it is.
  ElementView elements;
  float mass_scale = 1.0f;
  float size = 1.0f;  ///< diagonal of the rest bounding box [m]
  bool fixed = false;
  bool frozen = false;
  bool asleep = false;
  float still_time = 0.0f;  ///< for how long every node has been slower than sleep_speed [s]
  uint32_t index = 0;       ///< in the world
  // With whom it steps.
  Crowd* crowd = nullptr;
  size_t lane = 0;             ///< in the crowd
  bool in_lane = false;        ///< rotations and kappa are the lane's
  bool in_crowd_step = false;  ///< of the step in progress
  // Where it is.
  double origin[3] = {};   ///< world position of the body's coordinates [m]
  Array<NodeVec> x;        ///< node positions relative to origin [m], and inverse masses [1/kg], 0
                           ///< where pinned (num_nodes x 1)
  Array<NodeVec> v;        ///< node velocities [m/s], and 0 (num_nodes x 1)
  Array<float> rotations;  ///< of the tets, warm starts of APD, by blocks (4 x 16 num_blocks)
  Array<float> kappa;      ///< multipliers of the volume term by place, for substeps of kappa_dt
                           ///< [kg m^2] (16 num_blocks x 1)
  float kappa_dt = 0.0f;   ///< [s], or 0: no step yet
  ContactState contacts;
  // How queries see it.
  CollisionState collision;
  bool moved = true;  ///< since `collision` was brought to x
  // Memory of a step.
  Array<float> stretches;  ///< R^T F at the start of the substep, if damped, by blocks (9 x 16
                           ///< num_blocks)
  Array<NodeVec> y;        ///< positions of the current iterate [m], and inverse masses [1/kg], 0
                           ///< where a node is pinned or held (num_nodes + 1 x 1)
  Array<NodeVec> rhs;      ///< right-hand side [kg m], then the displacement of the outer iteration
                           ///< [m] (num_nodes + 1 x 1)
  Vec3 momentum;           ///< sum of rhs without elastic forces, which have none [kg m]
  Array<float> workspace;  ///< of solves (PanelWorkspaceSize x 1)
  // Memory of a step with planes; empty as long as the world has none.
  Array<NodeVec> d;             ///< displacement of the outer iteration [m] (num_nodes + 1 x 1)
  Array<NodeVec> held_normals;  ///< of nodes on planes, or zero (num_nodes + 1 x 1)
  FreeTurns turns;              ///< for solves while a node touches
  Array<LocalPlane> planes;     ///< of the world, in the body's coordinates; behind them there may
                                ///< be empty ones, without normal, which nothing touches

  const FactorSet& Factors() const { return *system->Find(dt); }
  float Mass(size_t node) const { return simulation.masses[node] * mass_scale; }
  bool IsPinned(size_t node) const { return x[node].w == 0.0f; }
  /// Of the body or in its lane. For reading also where the body is const: the view does not know.
  RotationView Rotations() const;
};

/// World position [m] of a point in the body's coordinates.
inline Vec3 WorldPosition(const Body& body, const Vec3& local) {
  return {static_cast<float>(body.origin[0] + double(local.x)),
          static_cast<float>(body.origin[1] + double(local.y)),
          static_cast<float>(body.origin[2] + double(local.z))};
}

/// What all bodies of a step share.
struct StepSettings {
  Vec3 gravity;
  SolverSettings solver;
  std::span<const PlaneDesc> planes;  ///< normals of unit length
  float dt = 0.0f;                    ///< [s]
  bool measure_energy = true;
  const JobSystem* jobs = nullptr;  ///< for the parts of one large body, or null
};

/// Adds the wall time of a scope to a phase.
class PhaseTimer {
 public:
  PhaseTimer(StepStats* stats, Phase phase)
      : seconds_(&stats->phase_s[static_cast<size_t>(phase)]),
        start_(std::chrono::steady_clock::now()) {}
  ~PhaseTimer() {
    *seconds_ += std::chrono::duration<float>(std::chrono::steady_clock::now() - start_).count();
  }
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;

 private:
  float* seconds_;
  std::chrono::steady_clock::time_point start_;
};

/// What multipliers of substeps of `from` seconds are multiplied with to serve ones of `to`
/// seconds: the pressure stays, if the time step does not grow too fast. Then it falls: the
/// pressure of a strained body, carried over a much longer substep, overshoots. With `from` = 0,
/// before the first step, they are 0 anyway.
float MultiplierScale(float from, float to);

/// Blocks from which on a body's elements are worth several threads.
inline constexpr size_t kBlocksForJobs = 512;

/// Advances one body by settings.dt with the factors in `body->factors`; writes its part of the
/// statistics. Does not allocate.
void StepBody(const StepSettings& settings, Body* body, StepStats* stats);

/// Takes the positions `body->y` over as the result of a substep of `h` seconds, after lifting flat
/// tets where there may be some; freezes the body where they are not finite.
void FinishSubstep(const StepSettings& settings, float h, bool may_be_flat, Body* body,
                   StepStats* stats);

/// The statistics of a body after its last substep.
void EndStep(const StepSettings& settings, Body* body, StepStats* stats);

/// Makes room for `num_planes` planes and keeps the contacts there are. Returns false, with nothing
/// that a step would notice changed, where the allocator fails.
bool ReservePlanes(const Allocator& allocator, size_t num_planes, Body* body);

/// Moves `origin` so that the coordinates of the body's nodes stay near zero.
void FollowOrigin(Body* body);

}  // namespace plush
