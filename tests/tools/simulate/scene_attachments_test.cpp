// SPDX-License-Identifier: MIT
// Attachments of scenes: their keys, where they hold, what they carry, and which break.
#include "simulate/scene_attachments.h"

#include "simulate/draw_layers.h"
#include "simulate/run_statistics.h"
#include "simulate/scene_state.h"
#include "simulate/simulation_run.h"
#include "tools/simulate/ball_asset.h"
#include "tools/simulate/built_scene.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>

namespace plush::tools::scene_attachments_test {
namespace {

using Catch::Matchers::Contains;

// One body of `asset` with these keys. Springs hold its cage's boundary.
Scene SceneOf(const std::string& asset, const std::string& attachments, const std::string& body) {
  const auto scene = ParseScene(R"({"bodies":[{"asset":")" + asset + "\"" + body +
                                    R"(}], "attachments":)" + attachments + "}",
                                "");
  if (!scene.ok()) FAIL(scene.error().message);
  return scene.value();
}

// The error of an attachment in a scene of three bodies (the second has copies, the third is
// static) and a collider.
Error ErrorOf(const std::string& members) {
  const auto scene = ParseScene(R"({"bodies":[{"asset":"a"},{"asset":"a","count":3},
    {"asset":"a","static":true}], "colliders":[{"plane":{}}], "attachments":[{)" +
                                    members + "}]}",
                                "");
  INFO(members);
  REQUIRE_FALSE(scene.ok());
  return scene.error();
}

Vec3 ForceOf(const SceneWorld& built, size_t attachment) {
  Vec3 force;
  REQUIRE(built.world->AttachmentForce(built.attachments[attachment].id, &force).ok());
  return force;
}

}  // namespace

TEST_CASE("Every key of an attachment reaches its setting") {
  const auto scene = ParseScene(R"({"bodies":[{"asset":"a"},{"asset":"b"}],
    "colliders":[{"plane":{}}], "attachments":[
    {"body":1,"at":[1,2,3],"target":[4,5,6],"rest_length":0.5,"stiffness":300,"damping":2,
     "max_force":40,"break_force":90},
    {"body":0,"at":[0,0,0],"other_body":1,"target":[0,1,0]},
    {"body":0,"at":[0,0,0],"other_collider":0,"target":[0,1,0]},
    {"body":0,"at":[0,0,0],"motion":[{"t":1,"position":[0,7,0]},{"t":2,"position":[0,8,0]}]}]})",
                                "");
  if (!scene.ok()) FAIL(scene.error().message);
  const auto& a = scene.value().attachments;
  REQUIRE(a.size() == 4);
  CHECK(a[0].body == 1);
  CHECK(a[0].at.z == 3.0f);
  CHECK(a[0].target.y == 5.0f);
  CHECK(a[0].desc.rest_length == 0.5f);
  CHECK(a[0].desc.stiffness == 300.0f);
  CHECK(a[0].desc.damping == 2.0f);
  CHECK(a[0].desc.max_force == 40.0f);
  CHECK(a[0].desc.break_force == 90.0f);
  CHECK(std::isinf(a[1].desc.break_force));
  CHECK(a[1].other_body == 1u);
  CHECK_FALSE(a[1].other_collider.has_value());
  CHECK(a[2].other_collider == 0u);
  CHECK(a[3].target.y == 7.0f);
  CHECK(a[3].motion.keys.size() == 2);
}

TEST_CASE("Wrong attachments name their place") {
  const std::pair<const char*, const char*> cases[] = {
      {R"("at":[0,0,0],"target":[0,0,0])", "attachments[0].body: is missing"},
      {R"("body":0,"target":[0,0,0])", "attachments[0].at: is missing"},
      {R"("body":0,"at":[0,0,0])", "attachments[0].target: is missing"},
      {R"("body":3,"at":[0,0,0],"target":[0,0,0])", "attachments[0].body: 3 is outside [0, 2]"},
      {R"("body":-1,"at":[0,0,0],"target":[0,0,0])", "attachments[0].body: -1 is outside"},
      {R"("body":"a","at":[0,0,0],"target":[0,0,0])", "attachments[0].body: expected a number"},
      {R"("body":2,"at":[0,0,0],"target":[0,0,0])", "attachments[0].body: is static"},
      {R"("body":0,"other_body":2,"at":[0,0,0],"target":[0,0,0])", "other_body: is static"},
      {R"("body":0,"other_body":0,"at":[0,0,0],"target":[0,0,0])", "is the body itself"},
      {R"("body":0,"other_body":1,"at":[0,0,0],"target":[0,0,0])",
       "attachments[0].other_body: has 3 copies, the body 1"},
      {R"("body":0,"other_body":1,"other_collider":0,"at":[0,0,0],"target":[0,0,0])",
       "does not go with other_collider"},
      {R"("body":0,"other_collider":1,"at":[0,0,0],"target":[0,0,0])",
       "other_collider: 1 is outside [0, 0]"},
      {R"("body":0,"at":[0,0],"target":[0,0,0])", "attachments[0].at: expected 3 numbers"},
      {R"("body":0,"at":[0,0,1e10],"target":[0,0,0])", "attachments[0].at: element 2"},
      {R"("body":0,"at":[0,0,0],"target":[0,0,0],"stiffness":-1)", "stiffness: -1 is outside"},
      {R"("body":0,"at":[0,0,0],"target":[0,0,0],"stiffness":1e13)", "stiffness"},
      {R"("body":0,"at":[0,0,0],"target":[0,0,0],"damping":1e13)", "damping"},
      {R"("body":0,"at":[0,0,0],"target":[0,0,0],"rest_length":-1)", "rest_length: -1"},
      {R"("body":0,"at":[0,0,0],"target":[0,0,0],"max_force":0)", "max_force: 0 is outside (0, "},
      {R"("body":0,"at":[0,0,0],"target":[0,0,0],"break_force":0)", "break_force: 0 is outside"},
      {R"("body":0,"at":[0,0,0],"target":[0,0,0],"motion":[{"t":0,"position":[0,0,0]}])",
       "attachments[0].target: does not go with motion"},
      {R"("body":0,"at":[0,0,0],"other_collider":0,"motion":[{"t":0,"position":[0,0,0]}])",
       "attachments[0].motion: is of places in the world only"},
      {R"("body":0,"at":[0,0,0],"motion":[{"t":0,"position":[0,0,0],"rotation":[1,0,0,0]}])",
       "a point does not turn"},
      {R"("body":0,"at":[0,0,0],"tarjet":[0,0,0])",
       "attachments[0]: unknown key 'tarjet'; did you mean 'target'?"},
  };
  for (const auto& [members, message] : cases) {
    const Error error = ErrorOf(members);
    CHECK(error.exit_code == ExitCode::kUsage);
    CHECK_THAT(error.message, Contains(message));
  }
  const std::string one = R"({"body":0,"at":[0,0,0],"target":[0,0,0]})";
  const auto none =
      ParseScene(R"({"bodies":[{"asset":"a"}],"attachments":[{"body":0,"other_collider":0}]})", "");
  REQUIRE_FALSE(none.ok());
  CHECK_THAT(none.error().message, Contains("other_collider: the scene has none"));
  const auto many = ParseScene(
      R"({"bodies":[{"asset":"a","count":6000}],"attachments":[)" + one + "," + one + "]}", "");
  REQUIRE_FALSE(many.ok());
  CHECK(many.error().exit_code == ExitCode::kLimit);
  CHECK_THAT(many.error().message, Contains("12000 attachments"));
}

TEST_CASE("Springs hold the points nearest to where a scene says, copy by copy") {
  const tests::TemporaryFolder folder;
  const std::string ball = tests::WriteBall(folder);
  Scene scene = SceneOf(ball, R"([{"body":0,"at":[0.3,3,0.4],"target":[0.3,4,0.4]}])",
                        R"(,"count":3,"position":[0,1,0])");
  scene.bodies.push_back(scene.bodies[0]);
  scene.bodies[1].pose.position.x = 20.0f;
  SceneCollider& turned = scene.colliders.emplace_back();
  turned.desc.pose = {{1, 2, 3}, {0, 0.6f, 0, 0.8f}};
  scene.attachments.push_back({{}, 0, {0.3f, 3, 0.4f}, 1, {}, {20.5f, 0, 0.5f}, {}});
  scene.attachments.push_back({{}, 0, {0.3f, 3, 0.4f}, {}, 0, {7, 8, 9}, {}});
  const SceneWorld built = BuildOrFail(scene);
  REQUIRE(built.attachments.size() == 9);
  CHECK(built.world->num_attachments() == 9);
  for (size_t i = 0; i < 9; ++i) {
    INFO(i);
    const SceneWorldBody& body = built.bodies[i % 3];
    AttachmentDesc desc;
    REQUIRE(built.world->GetAttachment(built.attachments[i].id, &desc).ok());
    CHECK(built.attachments[i].body == i % 3);
    CHECK(desc.body.value == body.id.value);
    const std::vector<LineLayer> drawn = DrawLayers(*built.world, kDrawAttachments);
    REQUIRE(drawn.size() == 1);
    REQUIRE(drawn[0].ends.size() == 9 * 14);  // two crosses and the line
    const Vec3 from = drawn[0].ends[14 * i + 12], to = drawn[0].ends[14 * i + 13];
    CHECK(from.x == Approx(0.3f + body.offset.x));  // straight above, on the cage's top
    CHECK(from.y == Approx(2.0f));
    CHECK(from.z == Approx(0.4f + body.offset.z));
    const Vec3 wanted = i < 3 ? Vec3{0.3f, 4, 0.4f} : i < 6 ? Vec3{20.5f, 1, 0.5f} : Vec3{7, 8, 9};
    CHECK(to.x == Approx(wanted.x + body.offset.x));
    CHECK(to.y == Approx(wanted.y + body.offset.y));
    CHECK(to.z == Approx(wanted.z + body.offset.z));
  }
}

TEST_CASE("A body hung by springs of a scene rests where statics say") {
  const tests::TemporaryFolder folder;
  // Two springs side by side carry the weight of the ball's cage, 1000 kg/m^3 of 1 m^3.
  const auto spring = [](const std::string& x) {
    return R"({"body":0,"at":[)" + x + R"(,3,0.5],"rest_length":1,"stiffness":5e4,"damping":2e4,
      "motion":[{"t":0,"position":[)" +
           x + R"(,3.5,0.5]},{"t":1,"position":[)" + x + ",4,0.5]}]}";
  };
  Scene scene = SceneOf(tests::WriteBall(folder), "[" + spring("0.25") + "," + spring("0.75") + "]",
                        R"(,"position":[0,2,0],"material":{"young":1e7,"damping":0.05})");
  scene.steps = 800;
  SceneWorld built = BuildOrFail(scene);
  const RunRecord record = RunOrFail(scene, &built);
  CHECK(record.steps.back().stats.max_speed < 1.0e-3f);
  const double weight = 9.81 * record.mass_kg;
  for (size_t i = 0; i < 2; ++i) {
    CHECK(double(ForceOf(built, i).y) == Approx(0.5 * weight).epsilon(5.0e-3));
    const std::vector<LineLayer> drawn = DrawLayers(*built.world, kDrawAttachments);
    const double length = double(drawn[0].ends[14 * i + 13].y) - drawn[0].ends[14 * i + 12].y;
    CHECK(length == Approx(1.0 + 0.5 * weight / 5.0e4).epsilon(2.0e-3));
    CHECK(drawn[0].ends[14 * i + 13].y == Approx(4.0));
  }
  CHECK(record.driven);
  const auto stats = StatisticsJson(scene, built, record);
  CHECK(stats["attachments"]["number"] == 2);
  CHECK(stats["attachments"]["broken"].empty());
}

TEST_CASE("A spring that breaks is reported with its time, also after a state") {
  const tests::TemporaryFolder folder;
  // The weight, 9810 N, breaks the second spring of each copy.
  Scene scene = SceneOf(tests::WriteBall(folder), R"([
    {"body":0,"at":[0.5,3,0.5],"target":[0.5,3,0.5],"stiffness":1e5,"damping":1e4},
    {"body":0,"at":[0.5,3,0.5],"target":[0.5,3,0.5],"stiffness":1e5,"damping":1e4,
     "break_force":2000}])",
                        R"(,"position":[0,2,0],"count":2,"material":{"young":1e7})");
  scene.steps = 60;
  SceneWorld built = BuildOrFail(scene);
  const RunRecord record = RunOrFail(scene, &built);
  REQUIRE(record.broken.size() == 2);  // of both copies
  CHECK(record.broken[0].attachment == 2);
  CHECK(record.broken[1].attachment == 3);
  const double time = record.broken[0].time_s;
  CHECK(time > scene.dt);
  CHECK(built.world->num_attachments() == 2);
  const auto stats = StatisticsJson(scene, built, record);
  CHECK(stats["attachments"]["number"] == 4);
  CHECK(stats["attachments"]["broken"][1]["attachment"] == 1);
  CHECK(stats["attachments"]["broken"][1]["body"] == "ball.1");
  CHECK(stats["attachments"]["broken"][1]["time_s"] == time);
  CHECK_THAT(StatisticsText(scene, built, record), Contains("4, of which 2 broke"));

  const auto steps_done = static_cast<uint32_t>(std::lround(time / scene.dt));
  for (const uint32_t first : {steps_done - 1, steps_done + 1}) {
    INFO(first);
    Scene part = scene;
    part.steps = first;
    SceneWorld before = BuildOrFail(part);
    RunOrFail(part, &before);
    const auto state = SaveSceneState(before, scene.dt);
    REQUIRE(state.ok());
    SceneWorld after = BuildOrFail(part);
    const auto loaded = LoadSceneState(state.value(), scene.dt, &after);
    if (!loaded.ok()) FAIL(loaded.error().message);
    part.steps = scene.steps - first;
    const RunRecord rest = RunOrFail(part, &after);
    CHECK(rest.state_hash == record.state_hash);
    CHECK(rest.broken.size() == (first < steps_done ? 2 : 0));
    for (const BrokenAttachment& broken : rest.broken) CHECK(broken.time_s == time);
  }
  Scene other = scene;
  other.attachments.pop_back();
  SceneWorld fewer = BuildOrFail(other);
  Scene part = scene;
  part.steps = 1;
  SceneWorld before = BuildOrFail(part);
  RunOrFail(part, &before);
  const auto loaded = LoadSceneState(SaveSceneState(before, scene.dt).value(), scene.dt, &fewer);
  REQUIRE_FALSE(loaded.ok());
  CHECK_THAT(loaded.error().message, Contains("attachments"));
}

}  // namespace plush::tools::scene_attachments_test
