// SPDX-License-Identifier: MIT
// States of runs: a run that is saved and loaded ends as one that never stopped.
#include "simulate/scene_state.h"

#include "simulate/simulation_run.h"
#include "tools/simulate/ball_asset.h"
#include "tools/simulate/built_scene.h"

#include <catch2/catch.hpp>

#include <cstring>

namespace plush::tools::scene_state_test {
namespace {

using Catch::Matchers::Contains;

// A crowd on a plane that tilts, a ball on pins that move, and a gust.
Scene LivelyScene(const std::string& asset) {
  Scene scene = {.steps = 100};
  scene.bodies.resize(2);
  scene.bodies[0].asset = asset;
  scene.bodies[0].count = 3;
  scene.bodies[1].asset = asset;
  scene.bodies[1].pose.position = {-3, 1, 0};
  scene.bodies[1].pins = {
      {RegionPin{"high"}, {{{0.1, {{-3, 1, 0}, {}}}, {0.8, {{-3, 1.4f, 0}, {0, 0.6f, 0, 0.8f}}}}}}};
  SceneCollider& floor = scene.colliders.emplace_back();
  floor.motion = {{{0.3, {}}, {0.7, {{}, {0, 0, 0.05f, 0.99875f}}}}};
  SceneForce& gust = scene.forces.emplace_back();
  gust.field.type = FieldType::kWind;
  gust.field.vector = {20, 0, 0};
  gust.from = 0.35;
  gust.to = 0.65;
  return scene;
}

uint64_t RunOrFail(Scene scene, uint32_t steps, SceneWorld* scene_world) {
  scene.steps = steps;
  const auto record =
      RunScene(scene, scene_world, [](const SceneWorld&, uint32_t) { return true; });
  if (!record.ok()) FAIL(record.error().message);
  return record.value().state_hash;
}

std::vector<std::byte> SaveOrFail(const SceneWorld& scene_world, double dt) {
  auto state = SaveSceneState(scene_world, dt);
  if (!state.ok()) FAIL(state.error().message);
  return std::move(state.value());
}

}  // namespace

TEST_CASE("A loaded state goes on with another time step from its time") {
  const tests::TemporaryFolder folder;
  Scene scene = LivelyScene(tests::WriteBall(folder));
  SceneWorld before = BuildOrFail(scene);
  RunOrFail(scene, 20, &before);
  const auto state = SaveOrFail(before, scene.dt);
  scene.dt = 0.005;
  SceneWorld after = BuildOrFail(scene);
  REQUIRE(LoadSceneState(state, scene.dt, &after).ok());
  CHECK(after.clock.After(0, scene.dt) == Approx(0.2));
  RunOrFail(scene, 10, &after);
  CHECK(after.clock.After(0, scene.dt) == Approx(0.25));
  CHECK((after.world->stats().flags & kStepPreparedTimeStep) == 0);
}

TEST_CASE("States that are damaged, foreign or of another scene are refused") {
  const tests::TemporaryFolder folder;
  const Scene scene = LivelyScene(tests::WriteBall(folder));
  SceneWorld saved = BuildOrFail(scene);
  RunOrFail(scene, 3, &saved);
  const auto state = SaveOrFail(saved, scene.dt);
  const auto error_of = [&](const Scene& other, const std::vector<std::byte>& bytes) {
    SceneWorld scene_world = BuildOrFail(other);
    const auto loaded = LoadSceneState(bytes, scene.dt, &scene_world);
    REQUIRE_FALSE(loaded.ok());
    return loaded.error();
  };
  for (const size_t size : {size_t{0}, size_t{31}, size_t{32}, state.size() - 1}) {
    INFO(size << " bytes");
    const std::vector<std::byte> part(state.begin(), state.begin() + static_cast<ptrdiff_t>(size));
    CHECK(error_of(scene, part).exit_code == ExitCode::kInvalidInput);
  }
  auto changed = state;
  changed[0] = std::byte{'x'};
  CHECK_THAT(error_of(scene, changed).message, Contains("no state of plush simulate"));
  changed = state;
  changed[7] = std::byte{9};
  CHECK(error_of(scene, changed).exit_code == ExitCode::kUnsupported);
  changed = state;
  std::memset(changed.data() + 16, 0xff, 8);  // a start that is not a number
  CHECK(error_of(scene, changed).exit_code == ExitCode::kInvalidInput);

  Scene fewer = scene;
  fewer.bodies.pop_back();
  CHECK_THAT(error_of(fewer, state).message, Contains("other bodies"));
  Scene flying = scene;
  flying.colliders.clear();
  CHECK_THAT(error_of(flying, state).message, Contains("colliders"));
}

}  // namespace plush::tools::scene_state_test
