// SPDX-License-Identifier: MIT
// Measured runs: free fall, hashes by thread count, statistics, energy gains.
#include "simulate/simulation_run.h"

#include "plush/format/tet_block.h"

#include "simulate/run_statistics.h"
#include "tools/simulate/ball_asset.h"
#include "tools/simulate/built_scene.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>

namespace plush::tools::simulation_run_test {
namespace {

Scene DropOrFail(const std::string& asset) {
  auto scene = DropScene(asset);
  if (!scene.ok()) FAIL(scene.error().message);
  return std::move(scene.value());
}

RunRecord RunOrFail(const Scene& scene) {
  SceneWorld built = BuildOrFail(scene);
  return RunOrFail(scene, &built);
}

}  // namespace

TEST_CASE("A run observes its start and every step, and ends when the observer asks") {
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
  double height = start_height, speed = 0.0;
  for (const StepRecord& step : record.steps) {  // the path of backward Euler
    speed += 9.81 * scene.dt;
    height -= speed * scene.dt;
    if (height < 0.02) break;
    CHECK(step.cages.lowest_m == Approx(height).margin(1.0e-5));
    CHECK(step.measures.kinetic_j == Approx(0.5 * m * speed * speed).epsilon(1.0e-4));
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
        "max_penetration_m", "contacts", "degenerate_tets", "state_hash", "awake_steps"}) {
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

TEST_CASE("Step times are those of the steps in which a body was awake, and are counted") {
  const tests::TemporaryFolder folder;
  const Scene scene = DropOrFail(tests::WriteBall(folder));
  const SceneWorld scene_world = BuildOrFail(scene);
  RunRecord record;
  for (int i = 0; i < 25; ++i) {
    StepRecord& step = record.steps.emplace_back();
    step.awake = i < 5;
    step.step_ms = step.awake ? 2.0 + i : 0.0;
    step.stats.phase_s[0] = step.awake ? 0.001f : 0.0f;
  }
  const nlohmann::json stats = StatisticsJson(scene, scene_world, record);
  CHECK(stats["steps"] == 25);
  CHECK(stats["awake_steps"] == 5);
  CHECK(stats["step_ms"]["median"] == 4.0);
  CHECK(stats["step_ms"]["p95"] == 6.0);
  CHECK(stats["phase_ms"]["elements"].get<double>() == Approx(1.0));
  const std::string text = StatisticsText(scene, scene_world, record);
  CHECK(text.find("median 4.000 ms, p95 6.000 ms, max 6.000 ms over 5 awake steps") !=
        std::string::npos);
}

TEST_CASE("A step counts as awake until the step after the one in which all bodies fell asleep") {
  const tests::TemporaryFolder folder;
  Scene scene = DropOrFail(tests::WriteBall(folder));
  scene.bodies.push_back(scene.bodies[0]);
  scene.bodies[1].pose.position.x = 3.0f;
  scene.bodies[1].fixed = true;  // never sleeps, and keeps nothing awake
  scene.gravity = {};
  scene.colliders.clear();
  scene.steps = 200;
  const RunRecord record = RunOrFail(scene);
  size_t awake = 0;
  for (size_t i = 0; i < record.steps.size(); ++i) {
    CHECK(record.steps[i].awake == (i == 0 || record.steps[i - 1].stats.asleep == 0));
    awake += record.steps[i].awake ? 1 : 0;
  }
  CHECK(awake > 0);
  CHECK(awake < 200);
  CHECK(record.energy_gain.step == 0);  // at rest, with no kinetic energy to compare with
}

TEST_CASE("A gain of energy is found at its first step beyond 1% of the largest kinetic energy") {
  const tests::TemporaryFolder folder;
  Scene scene = DropOrFail(tests::WriteBall(folder));
  scene.bodies[0].count = 2;
  scene.colliders.clear();
  scene.steps = 40;
  SceneWorld scene_world = BuildOrFail(scene);
  // Pushes the second ball upwards before step 11, and much harder before step 31.
  const BodyId id = scene_world.bodies[1].id;
  const size_t num_nodes = scene_world.assets[0]->simulation().nodes.size();
  const auto record = RunScene(scene, &scene_world, [&](const SceneWorld& world, uint32_t done) {
    if (done != 10 && done != 30) return true;
    const std::vector<Vec3> up(num_nodes, {0.0f, done == 10 ? 2.0f : 20.0f, 0.0f});
    CHECK(world.world->SetNodeVelocities(id, up).ok());
    return true;
  });
  REQUIRE(record.ok());
  const double start = record.value().start.total(), allowed = AllowedEnergy(record.value());
  CHECK(allowed > start);
  size_t first = 0;
  while (first < 40) {
    const WorldMeasures& measures = record.value().steps[first].measures;
    if (measures.kinetic_j + measures.elastic_j + measures.gravity_j > allowed) break;
    ++first;
  }
  CHECK(first == 30);  // the first push gave less than 1% of the kinetic energy after the second
  CHECK(record.value().energy_gain.step == 31);
  CHECK(record.value().energy_gain.body == "ball.1");
  CHECK(record.value().energy_gain.gain_j > allowed - start);
  FindingList findings;
  CHECK(JudgeRun(record.value(), &findings).ok());
  REQUIRE(findings.all().size() == 1);
  CHECK(findings.all()[0].code == "SIM_ENERGY_GAINED");
  CHECK(findings.all()[0].severity == Severity::kWarning);
  CHECK(findings.all()[0].message.find("step 31: body 'ball.1'") == 0);
}

TEST_CASE("Quantiles are by nearest rank") {
  CHECK(Quantile({}, 0.5) == 0.0);
  CHECK(Quantile({3, 1, 2}, 0.5) == 2.0);
  CHECK(Quantile({4, 3, 1, 2}, 0.5) == 2.0);
  CHECK(Quantile({3, 1, 2}, 1.0) == 3.0);
  CHECK(Quantile({3, 1, 2}, 0.0) == 1.0);
}

}  // namespace plush::tools::simulation_run_test
