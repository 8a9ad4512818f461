// SPDX-License-Identifier: MIT
// The scenes of samples/scenes/contact, with coarse cages and short: bodies touch, part and rest as
// the scenes say, with equal hashes for any number of threads. Those with bodies of test models,
// and funnel_320, are in contact_models_test.cpp.

#include "scenes/scene_measures.h"
#include "simulate/scene.h"
#include "simulate/scene_world.h"
#include "simulate/simulation_run.h"
#include "skip.h"
#include "sweep.h"
#include "tools/simulate/built_scene.h"
#include "tools/simulate/contact_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace plush::tests::contact_scenes_test {
namespace {

SceneMeasures Run(const tools::Scene& scene, const MeasureSettings& settings) {
  auto measures = MeasureScene(scene, settings);
  if (!measures.ok()) FAIL(measures.error().message);
  return std::move(measures.value());
}

// Largest speed of a node from a time on [m/s].
float FastestFrom(const SceneMeasures& measures, size_t step) {
  float fastest = 0.0f;
  for (size_t i = step; i < measures.record.steps.size(); ++i)
    fastest = std::max(fastest, measures.record.steps[i].stats.max_speed);
  return fastest;
}

// Largest overlap from a step on, of the smaller body's size.
float DeepestFrom(const SceneMeasures& measures, uint32_t step) {
  float deepest = 0.0f;
  for (const MeasuredStep& of : measures.overlaps) {
    if (of.step >= step) deepest = std::max(deepest, of.overlap.depth_share);
  }
  return deepest;
}

struct Expected {
  const char* name;
  uint32_t steps;   // here; PLUSH_TEST_FULL=1 makes 10,000
  uint32_t every;   // steps between measures of overlaps
  float depth;      // at most: of a vertex of a body inside another one, of the smaller one's size
  float end_depth;  // at most, at the end
  bool is_stack = false;  // kept awake: it shall stand still without sleep
};

constexpr Expected kScenes[] = {
    {"nest", 300, 10, 0.02f, 0.01f},
    {"ride", 300, 100, 0.02f, 0.01f},
    {"ring", 300, 20, 0.04f, 0.005f},
    {"slide", 300, 100, 0.03f, 0.02f},
    {"stack", 300, 100, 0.01f, 0.002f, true},
    {"heavy_stack", 1000, 100, 0.01f, 0.002f, true},  // 2.5 s
    {"squeeze", 300, 50, 0.03f, 0.01f},
    {"box", 300, 150, 0.04f, 0.04f},
    {"funnel", 300, 300, 0.04f, 0.04f},
};

// Two bears that meet head on, each at `speed` [m/s].
std::string MeetingOf(double speed) {
  const std::string v = std::to_string(speed);
  return R"({"steps": 120, "dt": 0.016666667, "gravity": [0, 0, 0], "bodies_touch": true, "bodies": [
    {"asset": "bear.plush", "position": [-0.5, 0, 0], "velocity": [)" +
         v + R"(, 0, 0]},
    {"asset": "bear.plush", "position": [0.5, 0, 0.02], "velocity": [-)" +
         v + R"(, 0, 0]}]})";
}

// A bear that falls on another one's head between four slippery walls, one of them implicit.
std::string BearOnBear(bool lower_is_implicit) {
  const std::string implicit = R"("solver": {"name": "implicit"})";
  const std::string splitting = R"("solver": {"name": "splitting"})";
  return R"({"steps": 260, "bodies_touch": true, "bodies": [
    {"asset": "bear.plush", "position": [0, 0.02, 0], )" +
         (lower_is_implicit ? implicit : splitting) + R"(},
    {"asset": "bear.plush", "position": [0, 0.55, 0], )" +
         (lower_is_implicit ? splitting : implicit) + R"(}],
    "colliders": [
    {"plane": {"normal": [0, 1, 0], "offset": 0}, "friction": 0.8},
    {"plane": {"normal": [1, 0, 0], "offset": -0.26}, "friction": 0},
    {"plane": {"normal": [-1, 0, 0], "offset": -0.26}, "friction": 0},
    {"plane": {"normal": [0, 0, 1], "offset": -0.18}, "friction": 0},
    {"plane": {"normal": [0, 0, -1], "offset": -0.25}, "friction": 0}]})";
}

}  // namespace

TEST_CASE("A bear rests on another one, each with its own solver, with its whole weight",
          "[long]") {
  const ContactFolder folder;
  for (const bool lower_is_implicit : {true}) {
    CAPTURE(lower_is_implicit);
    auto scene = tools::ParseScene(BearOnBear(lower_is_implicit), folder.path());
    if (!scene.ok()) FAIL(scene.error().message);
    tools::SceneWorld built = tools::BuildOrFail(scene.value());
    const tools::RunRecord record = tools::RunOrFail(scene.value(), &built);
    float fastest = 0.0f;
    for (size_t step = 200; step < record.steps.size(); ++step) {
      fastest = std::max(fastest, record.steps[step].stats.max_speed);
    }
    CHECK(fastest < 0.012f);
    std::vector<BodyContactPoint> points(1000);
    uint32_t count = 0;
    REQUIRE(built.world->BodyContacts(points, &count).ok());
    double force = 0.0;
    for (uint32_t i = 0; i < count; ++i) force += double(points[i].force.y);
    BodyMoments upper;
    REQUIRE(built.world->Moments(built.bodies[1].id, &upper).ok());
    CHECK(std::fabs(force) == Approx(9.81 * upper.mass).epsilon(0.01));
  }
}

TEST_CASE("Scenes of touching bodies: small overlaps, finite", "[long]") {
  const ContactFolder folder;
  const bool is_full = FullTests();
  SweepCells cells;
  for (const Expected& expected : kScenes) {
    if (!cells.TakesNext()) continue;
    CAPTURE(expected.name);
    tools::Scene scene = folder.Load(expected.name);
    scene.steps = is_full ? 10000 : expected.steps;
    const std::string name = expected.name;
    const uint32_t every = is_full && name != "nest" ? 500 : expected.every;
    const SceneMeasures measures =
        Run(scene, {.every = every, .drift_from = 2.0, .may_sleep = !expected.is_stack});
    CHECK(measures.finite);
    CHECK((measures.record.flags & ~uint32_t{kStepBodiesFast}) == kStepOk);
    CHECK(measures.first_touch > 0);
    CHECK(measures.deepest().overlap.depth_share < expected.depth);
    CHECK(measures.overlaps.back().overlap.depth_share < expected.end_depth);
    CHECK(measures.record.steps.back().measures.inverted_tets == 0);
    // The moving pins of `ride` do work that nothing measures.
    if (name != "ride") CHECK(measures.MostGain() < 0.01 * measures.MostKinetic());
    if (expected.is_stack) {
      const auto settled = static_cast<size_t>(std::lround(2.0 / scene.dt));
      REQUIRE(scene.steps >= settled + 100);
      CHECK(measures.record.steps.back().stats.asleep == 0);
      CHECK(FastestFrom(measures, settled) < 0.01f);
      CHECK(measures.drift_m < 0.01 * 0.2);  // of an edge
    } else if (name == "nest") {
      const auto second = static_cast<uint32_t>(1.0f / scene.dt);
      CAPTURE(measures.first_touch);
      CHECK(DeepestFrom(measures, measures.first_touch + second) < 0.01f);
    }
    if (name == "nest" || name == "ring") {
      CHECK(measures.record.steps.back().stats.max_speed < 0.05f);
    }
  }
}

TEST_CASE("Two bears that meet at 10 m/s each at 60 Hz never swap sides", "[long]") {
  const ContactFolder folder;
  for (const double speed : {0.5, 5.0, 10.0}) {
    CAPTURE(speed);
    auto scene = tools::ParseScene(MeetingOf(speed), folder.path());
    if (!scene.ok()) FAIL(scene.error().message);
    tools::FindingList findings;
    auto built = tools::BuildSceneWorld(scene.value(), &findings);
    if (!built.ok()) FAIL(built.error().message);
    double nearest = 1.0;
    const auto record =
        tools::RunScene(scene.value(), &built.value(), [&](const tools::SceneWorld& of, uint32_t) {
          double x[2] = {};
          for (size_t i = 0; i < 2; ++i) {
            BodyMoments moments;
            REQUIRE(of.world->Moments(of.bodies[i].id, &moments).ok());
            x[i] = moments.centre[0];
          }
          nearest = std::min(nearest, x[1] - x[0]);
          return true;
        });
    if (!record.ok()) FAIL(record.error().message);
    CHECK(nearest > 0.1);
    CHECK(nearest < 0.9);
    uint32_t pairs = 0;
    for (const tools::StepRecord& step : record.value().steps) {
      pairs = std::max(pairs, step.stats.body_pairs);
    }
    CHECK(pairs == 1);
    // The step says when they are too fast for their thinnest parts.
    const bool is_flagged = (record.value().flags & kStepBodiesFast) != 0;
    if (speed == 10.0) CHECK(is_flagged);
    if (speed == 0.5) CHECK_FALSE(is_flagged);
  }
}

}  // namespace plush::tests::contact_scenes_test
