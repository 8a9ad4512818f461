// SPDX-License-Identifier: MIT
// What a scene of touching bodies does, as numbers: contacts, overlaps, times, and how still it
// ends.
#pragma once

#include "base/result.h"
#include "scenes/body_overlap.h"
#include "simulate/scene.h"
#include "simulate/simulation_run.h"

#include <cstdint>
#include <vector>

namespace plush::tests {

/// The overlaps after a step.
struct MeasuredStep {
  uint32_t step = 0;  ///< steps done
  Overlap overlap;
};

struct SceneMeasures {
  tools::RunRecord record;
  size_t bodies = 0;
  uint64_t triangles = 0;              ///< of all collision surfaces
  std::vector<MeasuredStep> overlaps;  ///< every so many steps, and after the last one
  uint32_t first_touch = 0;    ///< first step in which bodies pressed on each other; 0: none
  uint32_t all_asleep = 0;     ///< steps after which all bodies slept to the end; 0: they do not
  double drift_m = 0.0;        ///< longest way of a body since `drift_from` seconds, at the end: of
                               ///< the origin of its best fit [m]
  bool finite = true;          ///< all nodes, at the end
  std::vector<double> work_j;  ///< of colliders on bodies from the start to each step's end, but
                               ///< for their turns [J]

  /// The measured step with the largest depth.
  const MeasuredStep& deepest() const;
  /// The most by which kinetic, elastic and gravity's energy, less the colliders' work, exceeded
  /// the start [J].
  double MostGain() const;
  /// The largest kinetic energy after a step [J].
  double MostKinetic() const;
};

struct MeasureSettings {
  uint32_t every = 10;      ///< steps between two measures of overlaps; 0: none
  double drift_from = 2.0;  ///< [s]; at most the scene's length
  bool may_sleep = true;    ///< false: bodies stay awake
};

/// Runs a scene. Errors: those of BuildSceneWorld and RunScene.
tools::Result<SceneMeasures> MeasureScene(const tools::Scene& scene,
                                          const MeasureSettings& settings);

}  // namespace plush::tests
