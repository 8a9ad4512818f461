// SPDX-License-Identifier: MIT
// Steps a crowd of up to 16 equal bodies, one per vector lane, by the method of body_step.cpp
// [Kug]. A body that meets a plane or flies too far leaves its lane and steps by itself.
#include "body/attachment_step.h"
#include "body/body_colliders.h"
#include "body/coarse_correction.h"
#include "body/crowd.h"
#include "body/crowd_correction.h"
#include "body/pin_motion.h"
#include "body/substep.h"
#include "solver/panel_solve.h"
#include "solver/volume_sweep.h"

#include <algorithm>
#include <limits>

namespace plush {
namespace {

CrowdStepping FindStepping(const Crowd& crowd) {
  CrowdStepping stepping;
  for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
    Body* body = crowd.bodies[lane];
    if (body == nullptr || !body->in_crowd_step) continue;
    stepping.bodies[lane] = body;
    stepping.active[lane] = 1.0f;
    const bool is_free = body->system->num_pinned == 0 && !body->attached.any();
    stepping.is_free[lane] = is_free ? 1.0f : 0.0f;
    stepping.has_free = stepping.has_free || is_free;
    stepping.has_pins = stepping.has_pins || body->system->base != nullptr;
    if (stepping.first == nullptr) stepping.first = body;
  }
  for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
    const Body* body = stepping.bodies[lane] != nullptr ? stepping.bodies[lane] : stepping.first;
    stepping.nodes.x[lane] = body->x.data();
    stepping.nodes.v[lane] = body->v.data();
    stepping.nodes.weight[lane] = body->gravity_factor / body->scale;
  }
  stepping.nodes.num_nodes = stepping.first->x.size();
  return stepping;
}

void EnterLane(Crowd* crowd, Body* body) {
  if (body->in_lane) return;
  const RotationView own = body->Rotations();
  body->in_lane = true;
  const RotationView lane = body->Rotations();
  for (uint32_t slot = 0; slot < body->kappa.size(); ++slot) lane.Set(slot, own.Get(slot));
  const float scale = MultiplierScale(body->kappa_dt, crowd->kappa_dt);
  for (size_t slot = 0; slot < body->kappa.size(); ++slot) {
    crowd->kappa[kCrowdLanes * slot + body->lane] = body->kappa[slot] * scale;
  }
}

// Gives a lane the rotations and multipliers with which the step began.
void RestoreLane(Crowd* crowd, const Body* body) {
  const RotationView now = body->Rotations();
  const RotationView before(crowd->start_rotations.span(), body->lane);
  for (uint32_t slot = 0; slot < body->kappa.size(); ++slot) {
    const size_t at = kCrowdLanes * slot + body->lane;
    now.Set(slot, before.Get(slot));
    crowd->kappa[at] = crowd->start_kappa[at];
  }
}

// The pins of a lane's body beyond those of the factor, or null.
const PinSchur* PinsOf(const CrowdStepping& stepping, size_t lane) {
  const Body* body = stepping.bodies[lane];
  return body != nullptr ? body->Factors().factors[0].pins : nullptr;
}

// Corrects the solve of bodies with more pins than the factor: their pinned nodes stay put.
void HoldPins(const CrowdStepping& stepping, const PanelFactor& factor, Crowd* crowd) {
  std::fill(crowd->more.begin(), crowd->more.end(), 0.0f);
  for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
    const PinSchur* pins = PinsOf(stepping, lane);
    if (pins == nullptr) continue;
    Vec3 impulses[kMaxExtraPins];
    const size_t count = pins->nodes.size();
    for (size_t k = 0; k < count; ++k) {
      const float* at = &crowd->rhs[kCrowdVector * pins->nodes[k] + lane];
      impulses[k] = {at[0], at[kCrowdLanes], at[2 * kCrowdLanes]};
    }
    SolvePinImpulses(*pins, {impulses, count});
    for (size_t k = 0; k < count; ++k) {
      float* at = &crowd->more[kCrowdVector * pins->nodes[k] + lane];
      at[0] = impulses[k].x;
      at[kCrowdLanes] = impulses[k].y;
      at[2 * kCrowdLanes] = impulses[k].z;
    }
  }
  SolveCrowd(factor, crowd->more.data());
  for (size_t i = 0; i < crowd->rhs.size(); ++i) crowd->rhs[i] += crowd->more[i];
  for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
    const PinSchur* pins = PinsOf(stepping, lane);
    for (size_t k = 0; pins != nullptr && k < pins->nodes.size(); ++k) {
      float* at = &crowd->rhs[kCrowdVector * pins->nodes[k] + lane];
      at[0] = at[kCrowdLanes] = at[2 * kCrowdLanes] = 0.0f;
    }
  }
}

// body->y := the positions in the lane.
void CopyLane(const Crowd& crowd, Body* body) {
  const float* at = &crowd.positions[body->lane];
  for (size_t i = 0; i < body->x.size(); ++i, at += kCrowdPosition) {
    body->y[i] = NodeVec({at[0], at[kCrowdLanes], at[2 * kCrowdLanes]}, at[3 * kCrowdLanes]);
  }
}

// Turns the predictions of bodies that spin.
void TurnLane(const StepSettings& settings, Crowd* crowd, Body* body) {
  CopyLane(*crowd, body);
  TurnPrediction(settings, settings.dt, body);
  float* at = &crowd->positions[body->lane];
  for (size_t i = 0; i < body->x.size(); ++i, at += kCrowdPosition) {
    const Vec3& y = body->y[i];
    at[0] = y.x, at[kCrowdLanes] = y.y, at[2 * kCrowdLanes] = y.z;
  }
}

// Notes how far the solve moved nodes, of which `d` are the displacements.
void NoteLongest(const CrowdStepping& stepping, const float* d) {
  float longest[kCrowdLanes] = {};
  RaiseCrowdReach(stepping.nodes.num_nodes, kCrowdVector, d, longest);
  for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
    Body* body = stepping.bodies[lane];
    if (body != nullptr) body->progress.longest = longest[lane];
  }
}

void OuterIterations(const StepSettings& settings, const CrowdStepping& stepping, Crowd* crowd,
                     CrowdWarnings* warnings, StepStats* stats) {
  const System& system = *crowd->system;
  const ElementView& elements = system.view.elements;
  const float h = settings.dt;
  const PanelFactor& factor = stepping.first->Factors().factors[0];
  float* positions = crowd->positions.data();
  float* rhs = crowd->rhs.data();
  const size_t num_nodes = stepping.nodes.num_nodes;
  const bool has_coarse = settings.splitting.volume_sweeps == 0 && system.coarse.num_clusters() > 0;
  // If clusters follow the solves, they keep the momentum.
  const bool solves_keep_momentum = stepping.has_free && !has_coarse;
  const IterationPlan plan = PlanIterations(settings.splitting, *stepping.first, h);
  bool any_turns = false, all_free = true;
  for (Body* body : stepping.bodies) {
    if (body == nullptr) continue;
    const IterationPlan own = PlanIterations(settings.splitting, *body, h);
    all_free = all_free && stepping.is_free[body->lane] > 0.0f;
    body->progress = {.is_soft = own.is_soft, .is_stiff = own.is_stiff};
    if (!TurnsPrediction(settings, h, *body)) continue;
    TurnLane(settings, crowd, body);
    any_turns = true;
  }
  for (int k = 0; k < plan.outer_iterations; ++k) {
    {
      const PhaseTimer timer(stats, Phase::kElements);
      if (k == 0 && !any_turns && all_free) {
        std::fill(rhs, rhs + crowd->rhs.size(), 0.0f);  // positions are the predictions
      } else {
        MakeInertialCrowdRhs(stepping.nodes, settings.gravity, h, positions, rhs);
      }
      if (solves_keep_momentum) SumCrowd(num_nodes, rhs, crowd->momentum);
      AddCrowdImpulses(elements, positions,
                       {h, 0.0f, settings.splitting.polar_iterations, Relaxation(settings, k == 0),
                        kSplittingLaw},
                       crowd->kappa.data(), stepping.active, 0, elements.blocks.size(),
                       crowd->rotations.data(), rhs, warnings->lowest_det_f);
      for (size_t i = 0; i < num_nodes && system.num_pinned > 0; ++i) {
        if (system.pinned[i] == 0) continue;
        std::fill(rhs + kCrowdVector * i, rhs + kCrowdVector * (i + 1), 0.0f);
      }
    }
    {
      const PhaseTimer timer(stats, Phase::kSolve);
      for (Body* body : stepping.bodies) {
        if (body != nullptr) PushLane(crowd, body);
      }
      SolveCrowd(factor, rhs);
      if (stepping.has_pins) HoldPins(stepping, factor, crowd);
      for (Body* body : stepping.bodies) {
        if (body != nullptr) SolveLane(settings, crowd, body);
      }
      if (solves_keep_momentum) {
        KeepCrowdMomentum(num_nodes, positions, crowd->momentum, stepping.is_free, rhs);
      }
      if (k + 1 == plan.outer_iterations) NoteLongest(stepping, rhs);
      MoveCrowd(num_nodes, rhs, positions);
    }
    if (has_coarse) CorrectCrowdClusters(settings, stepping, crowd, warnings, stats);
    const PhaseTimer timer(stats, Phase::kVolume);
    for (int sweep = 0; sweep < settings.splitting.volume_sweeps; ++sweep) {
      SweepCrowdVolumes(elements, h, positions, crowd->kappa.data(), &warnings->last);
    }
    for (Body* body : stepping.bodies) {
      if (body != nullptr) HoldLane(crowd, body);
    }
  }
}

// Marks lanes whose bodies must step by themselves: a node is below a plane or too far out, a
// coarse correction overshot, or pins need more iterations.
void FindStrays(const StepSettings& settings, const CrowdStepping& stepping,
                const CrowdWarnings& warnings, const Crowd& crowd, bool (&stray)[kCrowdLanes]) {
  // Far below float's largest number, so that velocities are finite too.
  constexpr float kFarthest = 1.0e25f;
  const size_t num_nodes = stepping.nodes.num_nodes;
  float reach[kCrowdLanes] = {};
  RaiseCrowdReach(num_nodes, kCrowdPosition, crowd.positions.data(), reach);
  for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
    stray[lane] = !(reach[lane] < kFarthest) || warnings.overshot[lane];
  }
  const float tolerance = ContactTolerance(*stepping.first);
  for (uint32_t slot = 0; slot < settings.colliders.size(); ++slot) {
    // Bodies near solids are in no lane.
    if (!settings.colliders[slot].exists || settings.colliders[slot].is_solid) continue;
    CrowdPlane plane;
    float gap[kCrowdLanes];
    for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
      const Body* body = stepping.bodies[lane];
      gap[lane] = std::numeric_limits<float>::max();
      plane.offset[lane] = std::numeric_limits<float>::lowest();
      if (body == nullptr) continue;
      const std::span<const LocalCollider> near = body->NearColliders();
      const auto at = std::ranges::lower_bound(near, slot, {}, &LocalCollider::slot);
      if (at == near.end() || at->slot != slot) continue;
      plane.normal = at->normal;  // the same for all bodies that it touches
      plane.offset[lane] = at->offset;
    }
    LowerCrowdGap(num_nodes, crowd.positions.data(), plane, gap);
    for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
      stray[lane] = stray[lane] || gap[lane] < -tolerance;
    }
  }
}

// Writes the bodies' new states and statistics.
void Finish(const StepSettings& settings, const CrowdStepping& stepping,
            const CrowdWarnings& warnings, Crowd* crowd, StepStats* stats) {
  bool stray[kCrowdLanes];
  FindStrays(settings, stepping, warnings, *crowd, stray);
  const IterationPlan plan = PlanIterations(settings.splitting, *stepping.first, settings.dt);
  NodeVec* out_x[kCrowdLanes] = {};
  NodeVec* out_v[kCrowdLanes] = {};
  bool flat[kCrowdLanes] = {}, alone[kCrowdLanes] = {}, turns[kCrowdLanes] = {};
  for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
    Body* body = stepping.bodies[lane];
    if (body == nullptr || stray[lane]) continue;
    flat[lane] = warnings.MayBeFlat(settings, lane) || body->attached.block.any();
    alone[lane] = GuardLooks(settings, settings.dt, flat[lane], *body);
    if (!alone[lane]) {
      body->guard.is_known = false;
      turns[lane] = NoteVelocities(settings, settings.dt, body);
      out_x[lane] = KeepsPrevious(*body) ? body->previous.data() : body->x.data();
      out_v[lane] = body->v.data();
      continue;
    }
    CopyLane(*crowd, body);
  }
  FinishCrowd(stepping.nodes, crowd->positions.data(), settings.gravity, settings.dt, out_x, out_v);
  for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
    Body* body = stepping.bodies[lane];
    if (body == nullptr) continue;
    StepStats* own = &stats[body->slot];
    if (stray[lane]) {
      RestoreLane(crowd, body);
      LeaveLane(body);
      StepIsland(settings, body, stats);
      continue;
    }
    own->substeps = 1;
    own->outer_iterations = static_cast<uint32_t>(plan.outer_iterations);
    if (alone[lane]) {
      FinishSubstep(SubstepOf(settings, 0, 1, body), flat[lane], body, own);
    } else {
      if (KeepsPrevious(*body)) SwapPrevious(body);
      if (turns[lane]) KeepTurns(settings.dt, body);
      FollowOrigin(body);
    }
    EndAttachments(settings.dt, 1, body);
    EndStep(settings, body, own);
  }
}

}  // namespace

void StepCrowd(const StepSettings& of_world, Crowd* crowd, StepStats* stats) {
  StepSettings settings = of_world;
  settings.splitting = crowd->splitting;
  const CrowdStepping stepping = FindStepping(*crowd);
  StepStats* first = &stats[stepping.first->slot];
  CrowdWarnings warnings;
  {
    const PhaseTimer timer(first, Phase::kOther);
    ScaleMultipliers(settings.dt, &crowd->kappa, &crowd->kappa_dt);
    for (Body* body : stepping.bodies) {
      if (body != nullptr) EnterLane(crowd, body);
    }
    std::copy(crowd->rotations.begin(), crowd->rotations.end(), crowd->start_rotations.begin());
    std::copy(crowd->kappa.begin(), crowd->kappa.end(), crowd->start_kappa.begin());
    PredictCrowd(stepping.nodes, settings.gravity, stepping.is_free, settings.dt,
                 crowd->positions.data());
    for (Body* body : stepping.bodies) {
      if (body == nullptr) continue;
      if (body->pins.moves) PlaceCrowdPins(crowd, body, &stats[body->slot]);
      PrepareAttached(FactoredSystemOf(settings.dt, 1, body), body);
      BeginAttachments(settings, 0, 1, body);
    }
  }
  OuterIterations(settings, stepping, crowd, &warnings, first);
  const PhaseTimer timer(first, Phase::kOther);
  Finish(settings, stepping, warnings, crowd, stats);
}

}  // namespace plush
