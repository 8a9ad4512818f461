// SPDX-License-Identifier: MIT
// Bodies that touch each other gain no energy, in other time steps than their scenes' own, for
// which contact_scenes_test.cpp looks: kinetic, elastic and gravity's, less the work of colliders
// that move, stay below their start and 1% of the largest kinetic energy. The runtime does not
// tell the work of stabilisation, so here it counts as a gain: the bound is that much stricter.

#include "scenes/scene_measures.h"
#include "skip.h"
#include "sweep.h"
#include "tools/simulate/contact_folder.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace plush::tests::contact_energy_test {
namespace {

struct Run {
  const char* name;
  double seconds;                // PLUSH_TEST_FULL=1: 10 times as long, at most 20
  std::vector<double> of_steps;  // lengths of time steps [s]
};

// Pins that move do work in `ride`, which nothing measures.
const Run kRuns[] = {
    {"nest", 3.0, {0.005, 1.0 / 60.0}},
    {"ring", 3.0, {0.005, 1.0 / 60.0}},
    {"slide", 3.0, {0.005, 1.0 / 60.0}},
    {"stack", 3.0, {0.005, 1.0 / 60.0}},
    {"heavy_stack", 0.75, {0.00125, 0.005}},
    {"squeeze", 3.0, {0.005, 1.0 / 60.0}},
    {"box", 1.0, {1.0 / 60.0}},
    {"funnel", 1.0, {1.0 / 60.0}},
};

}  // namespace

TEST_CASE("Scenes of touching bodies gain no energy, whatever the time step", "[long]") {
  const ContactFolder folder;
  SweepCells cells;
  for (const Run& run : kRuns) {
    for (const double dt : run.of_steps) {
      if (!cells.TakesNext()) continue;
      CAPTURE(run.name, dt);
      tools::Scene scene = folder.Load(run.name);
      const double seconds = FullTests() ? std::fmin(10.0 * run.seconds, 20.0) : run.seconds;
      scene.dt = dt;
      scene.steps = static_cast<uint32_t>(std::lround(seconds / dt));
      const auto measures = MeasureScene(scene, {.every = 0, .drift_from = seconds});
      if (!measures.ok()) FAIL(measures.error().message);
      const SceneMeasures& m = measures.value();
      const double gain = m.MostGain(), kinetic = m.MostKinetic();
      CHECK(m.first_touch > 0);
      CHECK(gain < 0.01 * kinetic);
      if (std::string(run.name) == "squeeze") CHECK(m.work_j.back() > 1.0);
      if (!FullTests()) continue;
      std::printf("%s, dt %.5f s: %.3g J gained of %.3g J\n", run.name, dt, gain, kinetic);
    }
  }
}

}  // namespace plush::tests::contact_energy_test
