// SPDX-License-Identifier: MIT
#include "simulate/simulation_run.h"

#include "simulate/run_statistics.h"
#include "tools/simulate/ball_asset.h"

#include <catch2/catch.hpp>

#include <cmath>

namespace plush::tools {
namespace {

Scene DropOrFail(const std::string& asset) {
  auto scene = DropScene(asset);
  if (!scene.ok()) FAIL(scene.error().message);
  return std::move(scene.value());
}

SceneWorld BuildOrFail(const Scene& scene) {
  FindingList findings;
  auto built = BuildSceneWorld(scene, &findings);
  if (!built.ok()) FAIL(built.error().message);
  return std::move(built.value());
}

RunRecord RunOrFail(const Scene& scene) {
  SceneWorld scene_world = BuildOrFail(scene);
  auto record = RunScene(scene, &scene_world, [](const SceneWorld&, uint32_t) { return true; });
  if (!record.ok()) FAIL(record.error().message);
  return std::move(record.value());
}

}  // namespace

TEST_CASE("The state hash is the same for every number of threads") {
  const tests::TemporaryFolder folder;
  Scene scene = DropOrFail(tests::WriteBall(folder));
  scene.bodies[0].count = 6;
  scene.bodies[0].velocity = {0.3f, -1.0f, 0.2f};
  scene.steps = 60;
  const uint64_t one = RunOrFail(scene).state_hash;
  for (const uint32_t threads : {2u, 3u, 4u, 8u}) {
    INFO(threads << " threads");
    scene.threads = threads;
    CHECK(RunOrFail(scene).state_hash == one);
  }
  scene.threads = 1;
  scene.bodies[0].velocity.x += 1.0e-6f;
  CHECK(RunOrFail(scene).state_hash != one);
}

TEST_CASE("A run observes its start and every step, and ends where the observer says") {
  const tests::TemporaryFolder folder;
  const Scene scene = DropOrFail(tests::WriteBall(folder));
  SceneWorld scene_world = BuildOrFail(scene);
  std::vector<uint32_t> seen;
  const auto record = RunScene(scene, &scene_world, [&](const SceneWorld&, uint32_t done) {
    seen.push_back(done);
    return done < 3;
  });
  REQUIRE(record.ok());
  CHECK(seen == std::vector<uint32_t>{0, 1, 2, 3});
  CHECK(record.value().steps.size() == 3);
}

TEST_CASE("Energies, heights and volumes of a fall are those of free fall") {
  const tests::TemporaryFolder folder;
  Scene scene = DropOrFail(tests::WriteBall(folder));
  scene.steps = 15;
  const double start_height = 0.3 * 0.8;
  const RunRecord record = RunOrFail(scene);
  const double m = record.mass_kg;
  CHECK(m == Approx(1000.0 * record.rest_volume_m3));
  CHECK(record.start.kinetic == 0.0);
  CHECK(std::fabs(record.start.elastic) < 1.0e-6);
  CHECK(record.start.gravity == Approx(m * 9.81 * (start_height + 0.5)).epsilon(1.0e-4));
  double height = start_height;
  double speed = 0.0;
  for (const StepRecord& step : record.steps) {  // backward Euler's own path
    speed += 9.81 * scene.dt;
    height -= speed * scene.dt;
    if (height < 0.02) break;
    CHECK(step.cages.lowest_m == Approx(height).margin(1.0e-5));
    CHECK(step.stats.kinetic_j == Approx(0.5 * m * speed * speed).epsilon(1.0e-4));
    CHECK(step.stats.max_speed == Approx(speed).epsilon(1.0e-4));
    CHECK(step.cages.min_volume_ratio == Approx(1.0).margin(1.0e-5));
    CHECK(step.stats.contacts == 0);
  }
}

TEST_CASE("Statistics have the documented keys, one number per step in each array") {
  const tests::TemporaryFolder folder;
  Scene scene = DropOrFail(tests::WriteBall(folder));
  scene.steps = 40;
  SceneWorld scene_world = BuildOrFail(scene);
  const auto record =
      RunScene(scene, &scene_world, [](const SceneWorld&, uint32_t) { return true; });
  REQUIRE(record.ok());
  const nlohmann::json stats = StatisticsJson(scene, scene_world, record.value());
  for (const char* key :
       {"steps", "dt", "solver", "bodies", "tets", "step_ms", "phase_ms", "energy_j",
        "max_penetration_m", "contacts", "degenerate_tets", "state_hash"}) {
    INFO(key);
    CHECK(stats.contains(key));
  }
  CHECK(stats["steps"] == 40);
  CHECK(stats["dt"] == 0.01);
  CHECK(stats["tets"] == 320);
  for (const char* name : {"kinetic", "elastic", "gravity"}) {
    CHECK(stats["energy_j"][name].size() == 40);
  }
  for (const auto& [key, column] : stats["per_step"].items()) {
    INFO(key);
    CHECK(column.size() == 40);
  }
  CHECK(stats["step_ms"]["median"] <= stats["step_ms"]["p95"]);
  CHECK(stats["step_ms"]["p95"] <= stats["step_ms"]["max"]);
  CHECK(stats["contacts"]["max"] > 0);
  CHECK(stats["state_hash"].get<std::string>().size() == 16);
  const std::string text = StatisticsText(scene, scene_world, record.value());
  CHECK(text.find(stats["state_hash"].get<std::string>()) != std::string::npos);
}

TEST_CASE("Quantiles are by nearest rank") {
  CHECK(Quantile({}, 0.5) == 0.0);
  CHECK(Quantile({3, 1, 2}, 0.5) == 2.0);
  CHECK(Quantile({4, 3, 1, 2}, 0.5) == 2.0);
  CHECK(Quantile({3, 1, 2}, 1.0) == 3.0);
  CHECK(Quantile({3, 1, 2}, 0.0) == 1.0);
}

}  // namespace plush::tools
