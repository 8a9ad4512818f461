// SPDX-License-Identifier: MIT
// Scenes that move pins and colliders and add forces, against closed forms.
#include "simulate/scene_driver.h"

#include "plush/format/tet_block.h"

#include "simulate/open_asset.h"
#include "simulate/simulation_run.h"
#include "tools/simulate/ball_asset.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>

namespace plush::tools::scene_driver_test {
namespace {

Quat AboutY(double angle) {
  return {0, static_cast<float>(std::sin(0.5 * angle)), 0,
          static_cast<float>(std::cos(0.5 * angle))};
}

// `p` turned about y through the origin.
Vec3d TurnedAboutY(double angle, const Vec3d& p) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {c * p.x + s * p.z, p.y, c * p.z - s * p.x};
}

Scene OneBall(const std::string& asset, uint32_t steps) {
  Scene scene = {.gravity = {}, .steps = steps};
  scene.bodies.resize(1);
  scene.bodies[0].asset = asset;
  return scene;
}

std::vector<Vec3> NodesOf(const SceneWorld& scene_world, size_t body) {
  std::vector<Vec3> nodes(scene_world.asset_of(scene_world.bodies[body]).simulation().nodes.size());
  REQUIRE(scene_world.world->NodePositions(scene_world.bodies[body].id, 1.0f, nodes).ok());
  return nodes;
}

// Runs `scene` and calls `check` after every step.
RunRecord RunWith(const Scene& scene,
                  const std::function<void(const SceneWorld&, uint32_t)>& check) {
  FindingList findings;
  auto built = BuildSceneWorld(scene, &findings);
  if (!built.ok()) FAIL(built.error().message);
  auto record = RunScene(scene, &built.value(), [&](const SceneWorld& world, uint32_t done) {
    check(world, done);
    return true;
  });
  if (!record.ok()) FAIL(record.error().message);
  return std::move(record.value());
}

// Largest distance of the nodes of `pin` from `expected(rest position)`.
double PinError(const SceneWorld& scene_world, size_t body, const PinSelection& pin,
                const std::function<Vec3d(const Vec3d&)>& expected) {
  const Asset& asset = scene_world.asset_of(scene_world.bodies[body]);
  const std::vector<Vec3> nodes = NodesOf(scene_world, body);
  const auto pinned = PinnedNodes(asset, pin);
  REQUIRE(pinned.ok());
  REQUIRE(!pinned.value().empty());
  double error = 0.0;
  for (const uint32_t node : pinned.value()) {
    const Vec3d target = expected(ToDouble(asset.simulation().nodes[node]));
    error = std::max(error, Length(ToDouble(nodes[node]) - target));
  }
  return error;
}

}  // namespace

TEST_CASE("Pins of a box follow their motion about their mean rest position, scaled") {
  const tests::TemporaryFolder folder;
  for (const float scale : {1.0f, 0.5f, 3.0f}) {
    INFO("scale " << scale);
    Scene scene = OneBall(tests::WriteBall(folder), 40);
    scene.bodies[0].scale = scale;
    const BoxPin box = {{0, 0, 0}, {1, 0, 1}};  // the lowest layer; its centre is (0.5, 0, 0.5)
    const Vec3d centre = {0.5, 0.0, 0.5};
    // Rests for 0.1 s, then turns by 0.6 rad and rises by 0.2 m in 0.2 s, then rests.
    const float s = scale;
    const Vec3 low = {0.5f * s, 0, 0.5f * s}, high = {0.5f * s, 0.2f, 0.5f * s};
    scene.bodies[0].pins = {{box, {{{0.1, {low, {}}}, {0.3, {high, AboutY(0.6)}}}}}};
    RunWith(scene, [&](const SceneWorld& world, uint32_t done) {
      const double t = std::clamp((0.01 * done - 0.1) / 0.2, 0.0, 1.0);
      const double error = PinError(world, 0, box, [&](const Vec3d& rest) {
        const Vec3d arm = TurnedAboutY(0.6 * t, static_cast<double>(scale) * (rest - centre));
        return ToDouble(low) + Vec3d{0, 0.2 * t, 0} + arm;
      });
      INFO("step " << done);
      CHECK(error < 1.0e-6 * std::max(1.0f, scale));
    });
  }
}

TEST_CASE("Pins of a region follow the region's rest pose, in every copy") {
  const tests::TemporaryFolder folder;
  Scene scene = OneBall(tests::WriteBall(folder), 30);
  SceneBody& body = scene.bodies[0];
  body.count = 3;
  body.pose.position = {0, 1, 0};
  const RegionPin region = {"low"};
  body.pins = {{region, {{{0.0, {{0, 1, 0}, {}}}, {0.25, {{0.1f, 1, 0.3f}, AboutY(-0.4)}}}}}};
  RunWith(scene, [&](const SceneWorld& world, uint32_t done) {
    const double t = std::min(0.01 * done / 0.25, 1.0);
    for (size_t copy = 0; copy < 3; ++copy) {
      // Painted regions have the identity as rest pose: their target is a pose of the body.
      const double error = PinError(world, copy, region, [&](const Vec3d& rest) {
        return TurnedAboutY(-0.4 * t, rest) + Vec3d{0.1 * t, 1.0, 0.3 * t} +
               ToDouble(world.bodies[copy].offset);
      });
      INFO("step " << done << ", copy " << copy);
      CHECK(error < 2.0e-6);
    }
    CHECK(world.bodies[1].offset.x > 0.5f);
  });
}

TEST_CASE("A body falls asleep after the motion of its pins has ended") {
  const tests::TemporaryFolder folder;
  Scene scene = OneBall(tests::WriteBall(folder), 300);
  scene.bodies[0].material.damping = 0.1f;
  scene.bodies[0].pins = {{RegionPin{"low"}, {{{0.0, {}}, {0.2, {{0, 0.1f, 0}, {}}}}}}};
  const RunRecord record = RunWith(scene, [](const SceneWorld&, uint32_t) {});
  CHECK(record.steps[19].stats.asleep == 0);
  CHECK(record.steps.back().stats.asleep == 1);
  CHECK(record.driven);
  CHECK(record.energy_gain.step == 0);
}

TEST_CASE("A collider reaches the poses of its motion at their times, then rests") {
  const tests::TemporaryFolder folder;
  Scene scene = OneBall(tests::WriteBall(folder), 30);
  scene.bodies[0].pose.position = {0, 5, 0};
  SceneCollider& lift = scene.colliders.emplace_back();
  lift.motion = {{{0.1, {{0, -1, 0}, {}}}, {0.2, {{0, 1, 0}, AboutY(0.5)}}}};
  lift.desc.pose = lift.motion.At(0.0);
  RunWith(scene, [&](const SceneWorld& world, uint32_t done) {
    ColliderDesc now;
    REQUIRE(world.world->GetCollider(world.colliders[0], &now).ok());
    const double t = std::clamp((0.01 * done - 0.1) / 0.1, 0.0, 1.0);
    INFO("step " << done);
    CHECK(now.pose.position.y == Approx(-1.0 + 2.0 * t).margin(1.0e-6));
    CHECK(now.pose.rotation.y == Approx(std::sin(0.25 * t)).margin(1.0e-6));
  });
}

TEST_CASE("A rising plane lifts a body with it") {
  const tests::TemporaryFolder folder;
  Scene scene = OneBall(tests::WriteBall(folder), 200);
  scene.gravity = {0, -9.81f, 0};
  scene.bodies[0].material.young = 2.0e6f;  // sags by 2 mm only
  scene.bodies[0].material.damping = 0.1f;
  SceneCollider& lift = scene.colliders.emplace_back();
  lift.motion = {{{0.2, {}}, {1.2, {{0, 0.5f, 0}, {}}}}};
  const RunRecord record = RunWith(scene, [](const SceneWorld&, uint32_t) {});
  for (const StepRecord& step : record.steps) CHECK(std::fabs(step.cages.lowest_m) < 0.02);
  const double gained =
      record.steps.back().measures.gravity_j - record.steps[10].measures.gravity_j;
  const double risen = gained / (9.81 * record.mass_kg);
  CHECK(risen == Approx(0.5).margin(0.02));
}

TEST_CASE("A uniform force acts from its start to its end, on the bodies of its mask") {
  const tests::TemporaryFolder folder;
  Scene scene = OneBall(tests::WriteBall(folder), 30);
  scene.bodies.push_back(scene.bodies[0]);
  scene.bodies[1].pose.position = {5, 0, 0};
  scene.bodies[1].filter.category = 2;
  scene.forces.push_back({{.vector = {3, 0, 0}, .mask = 1, .wake = true}, 0.1, 0.2});
  RunWith(scene, [](const SceneWorld& world, uint32_t done) {
    BodyMoments pushed;
    BodyMoments other;
    REQUIRE(world.world->Moments(world.bodies[0].id, &pushed).ok());
    REQUIRE(world.world->Moments(world.bodies[1].id, &other).ok());
    const double speed = 3.0 * std::clamp(0.01 * done - 0.1, 0.0, 0.1);
    INFO("step " << done);
    CHECK(pushed.linear_momentum[0] / pushed.mass == Approx(speed).margin(1.0e-6));
    CHECK(std::fabs(other.linear_momentum[0]) < 1e-6 * other.mass);
  });
}

TEST_CASE("A body of a scene takes its scale, gravity factor and largest speed") {
  const tests::TemporaryFolder folder;
  Scene scene = OneBall(tests::WriteBall(folder), 20);
  scene.gravity = {0, -10, 0};
  scene.bodies[0].count = 2;
  scene.bodies[0].scale = 2.0f;
  scene.bodies[0].gravity_factor = 0.5f;
  scene.bodies[0].max_speed = 0.8f;
  const RunRecord record = RunWith(scene, [](const SceneWorld& world, uint32_t done) {
    const Box3 box = BoundsOf(NodesOf(world, 0));
    CHECK(box.Extent().y == Approx(2.0));
    CHECK(world.bodies[1].offset.x == Approx(1.2 * 2.0 * 0.8).epsilon(0.01));
    BodyMoments moments;
    REQUIRE(world.world->Moments(world.bodies[0].id, &moments).ok());
    CHECK(moments.mass == Approx(8000.0));
    const double speed = std::min(0.01 * done * 5.0, 0.8);
    CHECK(-moments.linear_momentum[1] / moments.mass == Approx(speed).margin(1.0e-5));
  });
  CHECK(record.rest_volume_m3 == Approx(16.0));
  CHECK(record.steps.back().cages.max_volume_ratio == Approx(1.0).margin(1.0e-5));
  CHECK_FALSE(record.driven);
  CHECK(record.energy_gain.step == 0);
}

}  // namespace plush::tools::scene_driver_test
