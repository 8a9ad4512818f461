// SPDX-License-Identifier: MIT
// The loop of `plush simulate`: steps a scene, records each step and judges the run.
#pragma once

#include "plush/world.h"

#include "base/finding.h"
#include "base/result.h"
#include "simulate/scene.h"
#include "simulate/scene_world.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace plush::tools {

/// Energies [J].
struct Energies {
  double kinetic = 0.0;
  double elastic = 0.0;
  double gravity = 0.0;  ///< -sum m dot(g, x): zero at the world's origin

  double total() const { return kinetic + elastic + gravity; }
};

/// Volumes of the cages, and heights of the surfaces.
struct CageMeasures {
  double lowest_m = 0.0;  ///< least signed distance of a moving body's surface from a plane; 0
                          ///< without planes or without moving bodies. How deep bodies are in
                          ///< colliders of any shape is in WorldMeasures::max_penetration
  double min_volume_ratio = 1.0;  ///< least deformed / rest volume of a body's cage
  double max_volume_ratio = 1.0;  ///< largest of them
};

struct StepRecord {
  StepStats stats;
  WorldMeasures measures;  ///< after the step
  CageMeasures cages;
  double step_ms = 0.0;  ///< wall time of World::Step alone
  bool awake = true;     ///< whether a moving body was awake when the step began
};

struct RunEvent {
  uint32_t step = 0;    ///< from 1; 0: it did not happen
  std::string body;     ///< its name in SceneWorld, or empty if no single body can be named
  double gain_j = 0.0;  ///< total energy of all bodies over that at the start [J]
};

/// An attachment that broke.
struct BrokenAttachment {
  size_t attachment = 0;  ///< into SceneWorld::attachments
  double time_s = 0.0;    ///< at the end of the step
};

struct RunRecord {
  std::vector<StepRecord> steps;  ///< the steps that were done
  Energies start;                 ///< of all bodies, before the first step
  double mass_kg = 0.0;           ///< of all bodies
  double rest_volume_m3 = 0.0;    ///< of all cages
  bool driven = false;            ///< something supplied energy, so no gain of it is judged
  uint32_t flags = kStepOk;       ///< StepFlags of all steps
  uint64_t state_hash = 0;        ///< after the last step done
  RunEvent energy_gain;  ///< first step in which total energy exceeded AllowedEnergy, and the body
                         ///< that had gained most
  RunEvent freeze;       ///< first step in which a body froze
  std::vector<BrokenAttachment> broken;  ///< in this run, by time
};

/// Called before the first step (with 0) and after each (with its number, from 1). Returning false
/// ends the run there.
using StepObserver = std::function<bool(const SceneWorld&, uint32_t steps_done)>;

/// Steps `scene_world` (built from `scene`) scene.steps times, and drives it by SceneDriver before
/// each step, outside the step's time. Errors: kLimit (a step ran out of memory), those of
/// SceneDriver.
Result<RunRecord> RunScene(const Scene& scene, SceneWorld* scene_world,
                           const StepObserver& observer);

/// Total energy that the run may reach: its start, 1% of its largest kinetic energy, and what float
/// positions cannot resolve (1e-6 of the start's gravity energy, and motion of 1 mm/s).
double AllowedEnergy(const RunRecord& record);

/// Adds the findings SIM_ENERGY_GAINED and SIM_BODY_FROZEN. Errors: kGateFailed (a body froze).
Result<Done> JudgeRun(const RunRecord& record, FindingList* findings);

}  // namespace plush::tools
