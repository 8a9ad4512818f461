// SPDX-License-Identifier: MIT
// The loop of `plush simulate`: steps a scene and keeps what each step did.
#pragma once

#include "plush/world.h"

#include "base/result.h"
#include "simulate/scene.h"
#include "simulate/scene_world.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace plush::tools {

/// Energies of all bodies [J].
struct Energies {
  double kinetic = 0.0;
  double elastic = 0.0;
  double gravity = 0.0;  ///< -sum m dot(g, x): zero at the world's origin
};

/// How the cages stand, measured from their nodes.
struct CageMeasures {
  double lowest_m = 0.0;          ///< least signed distance of a moving body's node to a plane; 0
                                  ///< without planes or without moving bodies
  double min_volume_ratio = 1.0;  ///< least deformed / rest volume of a body's cage
  double max_volume_ratio = 1.0;  ///< largest of them
};

/// One step.
struct StepRecord {
  StepStats stats;
  CageMeasures cages;
  double step_ms = 0.0;  ///< wall time of World::Step alone
};

/// A whole run.
struct RunRecord {
  std::vector<StepRecord> steps;  ///< those done
  Energies start;                 ///< before the first step
  double mass_kg = 0.0;           ///< of all bodies
  double rest_volume_m3 = 0.0;    ///< of all cages
  uint32_t flags = kStepOk;       ///< StepFlags of all steps
  uint64_t state_hash = 0;        ///< after the last step done
};

/// Called before the first step (with 0) and after each (with its number, from 1). Returning false
/// ends the run there.
using StepObserver = std::function<bool(const SceneWorld&, uint32_t steps_done)>;

/// Steps `scene_world` (built from `scene`) scene.steps times. Errors: kLimit (a step ran out of
/// memory).
Result<RunRecord> RunScene(const Scene& scene, SceneWorld* scene_world,
                           const StepObserver& observer);

}  // namespace plush::tools
