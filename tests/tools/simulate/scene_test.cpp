// SPDX-License-Identifier: MIT
// Scene texts: defaults, every key, and every kind of mistake with its place.
#include "simulate/scene.h"

#include "plush/format/tet_block.h"

#include "simulate/open_asset.h"
#include "tools/simulate/ball_asset.h"

#include <catch2/catch.hpp>

namespace plush::tools {
namespace {

using Catch::Matchers::Contains;

constexpr char kMinimal[] = R"({"bodies":[{"asset":"duck.plush"}]})";

// The error of a wrong scene text; the test fails if the text parses.
Error ErrorOf(const std::string& text) {
  const auto scene = ParseScene(text, "");
  INFO(text);
  REQUIRE_FALSE(scene.ok());
  return scene.error();
}

// The error of a scene whose only body has `members` beside its asset.
Error BodyErrorOf(const std::string& members) {
  return ErrorOf(R"({"bodies":[{"asset":"a.plush",)" + members + "}]}");
}

}  // namespace

TEST_CASE("A minimal scene has the documented defaults") {
  const auto scene = ParseScene(kMinimal, "levels/one");
  REQUIRE(scene.ok());
  const Scene& s = scene.value();
  CHECK(s.gravity.y == -9.81f);
  CHECK(s.dt == 0.01);
  CHECK(s.steps == 300);
  CHECK(s.threads == 1);
  CHECK(s.colliders.empty());
  REQUIRE(s.bodies.size() == 1);
  CHECK(s.bodies[0].asset == "levels/one/duck.plush");
  CHECK(s.bodies[0].count == 1);
  CHECK_FALSE(s.bodies[0].fixed);
  CHECK(s.bodies[0].material.young < 0.0f);
  CHECK(s.solver.response == ContactResponse::kHold);
}

TEST_CASE("Every key of a scene reaches its setting") {
  const auto scene = ParseScene(R"({
    "gravity":[1,2,3], "dt":0.005, "steps":7, "threads":4,
    "bodies":[{"asset":"/abs/x.plush", "position":[1,2,3], "rotation":[0,0.6,0,0.8],
      "velocity":[4,5,6], "count":9, "material":{"young":5e4,"poisson":0.3,"density":500},
      "static":true,
      "pins":[{"region":"feet"}, {"box":[[0,1,2],[3,4,5]]},
              {"sphere":{"centre":[1,1,1],"radius":0.5}}]}],
    "colliders":[{"plane":{"normal":[0,0,2],"offset":-1},"friction":0.25}],
    "solver":{"name":"splitting","newton_iterations":3,"volume_sweeps":2,"contact":"penalty"}})",
                                "/scenes");
  if (!scene.ok()) FAIL(scene.error().message);
  const Scene& s = scene.value();
  CHECK(s.gravity.x == 1.0f);
  CHECK(s.gravity.z == 3.0f);
  CHECK(s.dt == 0.005);
  CHECK(s.steps == 7);
  CHECK(s.threads == 4);
  const SceneBody& body = s.bodies[0];
  CHECK(body.asset == "/abs/x.plush");
  CHECK(body.pose.position.y == 2.0f);
  CHECK(body.pose.rotation.y == Approx(0.6));
  CHECK(body.pose.rotation.w == Approx(0.8));
  CHECK(body.velocity.z == 6.0f);
  CHECK(body.count == 9);
  CHECK(body.fixed);
  CHECK(body.material.young == 5.0e4f);
  CHECK(body.material.poisson == 0.3f);
  CHECK(body.material.density == 500.0f);
  REQUIRE(body.pins.size() == 3);
  CHECK(std::get<RegionPin>(body.pins[0].nodes).name == "feet");
  CHECK(std::get<BoxPin>(body.pins[1].nodes).low.z == 2.0f);
  CHECK(std::get<BoxPin>(body.pins[1].nodes).high.x == 3.0f);
  CHECK(std::get<SpherePin>(body.pins[2].nodes).radius == 0.5f);
  REQUIRE(s.colliders.size() == 1);
  CHECK(s.colliders[0].desc.plane.normal.z == 2.0f);
  CHECK(s.colliders[0].desc.plane.offset == -1.0f);
  CHECK(s.colliders[0].desc.friction == 0.25f);
  CHECK(s.solver.outer_iterations == 3);
  CHECK(s.solver.volume_sweeps == 2);
  CHECK(s.solver.response == ContactResponse::kPenalty);
}

TEST_CASE("Unknown keys of a scene name their place and the nearest spelling") {
  CHECK_THAT(ErrorOf(R"({"bodeis":[]})").message, Contains("'bodeis'; did you mean 'bodies'?"));
  CHECK_THAT(BodyErrorOf(R"("ststic":true)").message,
             Contains("bodies[0]: unknown key 'ststic'; did you mean 'static'?"));
  CHECK_THAT(BodyErrorOf(R"("material":{"yuong":1})").message,
             Contains("bodies[0].material: unknown key 'yuong'; did you mean 'young'?"));
  CHECK_THAT(BodyErrorOf(R"("pins":[{"region":"a"},{"bx":[[0,0,0],[1,1,1]]}])").message,
             Contains("bodies[0].pins[1]: unknown key 'bx'; did you mean 'box'?"));
  CHECK_THAT(ErrorOf(R"({"bodies":[{"asset":"a"}],"colliders":[{"plain":{}}]})").message,
             Contains("colliders[0]: unknown key 'plain'; did you mean 'plane'?"));
  CHECK_THAT(ErrorOf(R"({"bodies":[{"asset":"a"}],"solver":{"nmae":"splitting"}})").message,
             Contains("solver: unknown key 'nmae'; did you mean 'name'?"));
}

TEST_CASE("Wrong values in a scene are command-line errors that name their place") {
  const std::pair<const char*, const char*> cases[] = {
      {R"("position":[1,2])", "bodies[0].position: expected 3 numbers"},
      {R"("position":[1,2,"3"])", "bodies[0].position: element 2"},
      {R"("position":5)", "bodies[0].position: expected an array"},
      {R"("rotation":[0,0,0,0])", "bodies[0].rotation"},
      {R"("rotation":[1,1,1,1])", "bodies[0].rotation"},
      {R"("count":0)", "bodies[0].count: 0 is outside [1, 10000]"},
      {R"("count":1.5)", "bodies[0].count: expected a whole number"},
      {R"("count":1e300)", "bodies[0].count"},
      {R"("static":1)", "bodies[0].static: expected true or false"},
      {R"("material":{"poisson":0.5})", "bodies[0].material.poisson: 0.5 is outside [0, 0.499]"},
      {R"("material":{"young":0})", "bodies[0].material.young"},
      {R"("material":[])", "bodies[0].material: expected an object"},
      {R"("pins":[{}])", "bodies[0].pins[0]: expected exactly one of region, box, sphere"},
      {R"("pins":[{"region":"a","box":[[0,0,0],[1,1,1]]}])", "exactly one"},
      {R"("pins":[{"box":[[0,0,0]]}])",
       "bodies[0].pins[0].box: expected a lower and an upper corner"},
      {R"("pins":[{"box":[[0,0,0],[1,-1,1]]}])", "lower one"},
      {R"("pins":[{"sphere":{"centre":[0,0,0]}}])", "pins[0].sphere.radius: is missing"},
      {R"("pins":[{"sphere":{"radius":1}}])", "pins[0].sphere.centre: is missing"},
      {R"("pins":[{"sphere":{"centre":[0,0,0],"radius":-1}}])", "radius: -1 is outside"},
  };
  for (const auto& [members, message] : cases) {
    const Error error = BodyErrorOf(members);
    CHECK(error.exit_code == ExitCode::kUsage);
    CHECK_THAT(error.message, Contains(message));
  }
  CHECK_THAT(ErrorOf("{}").message, Contains("at least one body"));
  CHECK_THAT(ErrorOf("[]").message, Contains("expected an object"));
  CHECK_THAT(ErrorOf(R"({"bodies":[{}]})").message, Contains("bodies[0].asset: is missing"));
  CHECK_THAT(ErrorOf(R"({"dt":0,"bodies":[{"asset":"a"}]})").message, Contains("dt: 0 is outside"));
  CHECK_THAT(
      ErrorOf(R"({"bodies":[{"asset":"a"}],"colliders":[{"plane":{"normal":[0,0,0]}}]})").message,
      Contains("colliders[0].desc.plane.normal: has no length"));
  CHECK_THAT(ErrorOf(R"({"bodies":[{"asset":"a"}],"colliders":[{"friction":0.5}]})").message,
             Contains("colliders[0].desc.plane: is missing"));
  CHECK_THAT(ErrorOf(R"({"bodies":[{"asset":"a"}],"solver":{"contact":"hlod"}})").message,
             Contains("did you mean 'hold'?"));
  // The splitting solver has no linear iterations; a key without effect would mislead.
  const Error without_effect =
      ErrorOf(R"({"bodies":[{"asset":"a"}],"solver":{"linear_iterations":10}})");
  CHECK(without_effect.exit_code == ExitCode::kUsage);
  CHECK_THAT(without_effect.message, Contains("linear_iterations"));
  CHECK_THAT(ErrorOf("{\"bodies\":").message, Contains("line 1"));
}

TEST_CASE("Solvers that this version lacks are unsupported, unknown ones are mistakes") {
  const auto with_solver = [](const std::string& name) {
    return R"({"bodies":[{"asset":"a"}],"solver":{"name":")" + name + "\"}}";
  };
  for (const char* name : {"implicit", "projective", "position"}) {
    CHECK(ErrorOf(with_solver(name)).exit_code == ExitCode::kUnsupported);
  }
  CHECK(ErrorOf(with_solver("spliting")).exit_code == ExitCode::kUsage);
  CHECK_THAT(ErrorOf(with_solver("spliting")).message, Contains("did you mean 'splitting'?"));
}

TEST_CASE("A scene has a limit of bodies, copies included") {
  const Error error =
      ErrorOf(R"({"bodies":[{"asset":"a","count":6000},{"asset":"b","count":6000}]})");
  CHECK(error.exit_code == ExitCode::kLimit);
  CHECK_THAT(error.message, Contains("12000 bodies"));
}

TEST_CASE("Any prefix of a scene file is refused without crashing") {
  const std::string text = R"({"gravity":[0,-9.81,0],"bodies":[{"asset":"x","pins":[{"box":
      [[0,0,0],[1,1,1]]}]}],"solver":{"name":"splitting"}})";
  for (size_t length = 0; length < text.size(); ++length) {
    CHECK_FALSE(ParseScene(std::string_view(text).substr(0, length), "").ok());
  }
  CHECK(ParseScene(text, "").ok());
}

TEST_CASE("A missing scene file and a folder are unreadable") {
  const tests::TemporaryFolder folder;
  CHECK(LoadScene(folder / "none.json").error().exit_code == ExitCode::kIo);
  CHECK(LoadScene(folder.path()).error().exit_code == ExitCode::kIo);
  tests::WriteText(folder / "bad.json", "{");
  CHECK_THAT(LoadScene(folder / "bad.json").error().message, Contains("bad.json: "));
}

TEST_CASE("A dropped body starts with its lowest node 0.3 of its height above the plane") {
  const tests::TemporaryFolder folder;
  const std::string path = tests::WriteBall(folder);
  const auto scene = DropScene(path);
  if (!scene.ok()) FAIL(scene.error().message);
  REQUIRE(scene.value().bodies.size() == 1);
  const Asset asset = tests::OpenOrFail(path);
  const double height = SurfaceBounds(asset).Extent().y;
  CHECK(height == Approx(0.8));
  const double lowest =
      BoundsOf(asset.simulation().nodes).low.y + scene.value().bodies[0].pose.position.y;
  CHECK(lowest == Approx(0.3 * height));
  REQUIRE(scene.value().colliders.size() == 1);
  CHECK(scene.value().colliders[0].desc.friction == 0.5f);
  CHECK(scene.value().colliders[0].desc.plane.normal.y == 1.0f);
}

}  // namespace plush::tools
