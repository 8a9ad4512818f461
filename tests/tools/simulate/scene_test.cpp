// SPDX-License-Identifier: MIT
// Scene texts: defaults, every key, and every kind of mistake with its place.
#include "simulate/scene.h"

#include "plush/format/tet_block.h"

#include "base/files.h"
#include "simulate/open_asset.h"
#include "tools/paths.h"
#include "tools/simulate/ball_asset.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <utility>

namespace plush::tools::scene_test {
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
  CHECK(s.bodies[0].scale == 1.0f);
  CHECK(s.bodies[0].gravity_factor == 1.0f);
  CHECK(std::isinf(s.bodies[0].max_speed));
  CHECK(s.bodies[0].filter == Filter{});
  CHECK(s.forces.empty());
  CHECK(s.contact.method == nullptr);
}

TEST_CASE("Every key of a scene reaches its setting") {
  const auto scene = ParseScene(R"({
    "gravity":[1,2,3], "dt":0.005, "steps":7, "threads":4,
    "bodies":[{"asset":"/abs/x.plush", "position":[1,2,3], "rotation":[0,0.6,0,0.8],
      "velocity":[4,5,6], "count":9, "material":{"young":5e4,"poisson":0.3,"density":500,
        "friction":0.7,"restitution":0.2},
      "static":true, "scale":0.5, "gravity_factor":-2, "max_speed":30,
      "filter":{"category":6, "mask":4294967295, "group":-3},
      "pins":[{"region":"feet"}, {"box":[[0,1,2],[3,4,5]]},
              {"sphere":{"centre":[1,1,1],"radius":0.5}}]}],
    "colliders":[{"plane":{"normal":[0,0,2],"offset":-1},"friction":0.25,"restitution":0.5,
      "pose":{"position":[1,0,0],"rotation":[1,0,0,0]}, "velocity":[0,1,0],
      "angular_velocity":[0,0,2], "surface_velocity":[0,3,0], "sensor":true,
      "filter":{"mask":2}}],
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
  CHECK(body.material.friction == 0.7f);
  CHECK(body.material.restitution == 0.2f);
  REQUIRE(body.pins.size() == 3);
  CHECK(std::get<RegionPin>(body.pins[0].nodes).name == "feet");
  CHECK(std::get<BoxPin>(body.pins[1].nodes).low.z == 2.0f);
  CHECK(std::get<BoxPin>(body.pins[1].nodes).high.x == 3.0f);
  CHECK(std::get<SpherePin>(body.pins[2].nodes).radius == 0.5f);
  REQUIRE(s.colliders.size() == 1);
  CHECK(s.colliders[0].desc.plane.normal.z == 2.0f);
  CHECK(s.colliders[0].desc.plane.offset == -1.0f);
  CHECK(s.colliders[0].desc.friction == 0.25f);
  CHECK(s.colliders[0].desc.restitution == 0.5f);
  CHECK(body.scale == 0.5f);
  CHECK(body.gravity_factor == -2.0f);
  CHECK(body.max_speed == 30.0f);
  CHECK(body.filter == Filter{6, UINT32_MAX, -3});
  CHECK(s.colliders[0].desc.pose.position.x == 1.0f);
  CHECK(s.colliders[0].desc.pose.rotation.x == 1.0f);
  CHECK(s.colliders[0].desc.velocity.y == 1.0f);
  CHECK(s.colliders[0].desc.angular_velocity.z == 2.0f);
  CHECK(s.colliders[0].desc.surface_velocity.y == 3.0f);
  CHECK(s.colliders[0].desc.sensor);
  CHECK(s.colliders[0].desc.filter == Filter{1, 2, 0});
  CHECK(s.colliders[0].motion.keys.empty());
  CHECK(body.solver.splitting.outer_iterations == 3);
  CHECK(body.solver.splitting.volume_sweeps == 2);
  CHECK(s.contact.method == &kPenaltyContact);
}

TEST_CASE("A collider's place is position and rotation, or both as a pose") {
  const auto collider = [](const std::string& members) {
    const auto scene = ParseScene(
        R"({"bodies":[{"asset":"a"}],"colliders":[{"sphere":{"radius":1},)" + members + "}]}", "");
    if (!scene.ok()) FAIL(scene.error().message);
    return scene.value().colliders[0].desc.pose;
  };
  for (const char* members : {R"("position":[1,2,3],"rotation":[0,0.6,0,0.8])",
                              R"("pose":{"position":[1,2,3],"rotation":[0,0.6,0,0.8]})"}) {
    const Pose pose = collider(members);
    CHECK(pose.position.x == 1.0f);
    CHECK(pose.position.z == 3.0f);
    CHECK(pose.rotation.y == Approx(0.6));
    CHECK(pose.rotation.w == Approx(0.8));
  }
  CHECK(collider(R"("rotation":[1,0,0,0])").position.y == 0.0f);
  CHECK(collider(R"("position":[0,5,0])").rotation.w == 1.0f);
}

TEST_CASE("A scene's shapes have all sizes that colliders may have") {
  const auto scene = ParseScene(R"({"bodies":[{"asset":"a"}], "colliders":[
    {"capsule":{"half_height":0,"radius":1e-9}}, {"capsule":{"half_height":1e-9,"radius":1e6}},
    {"sphere":{"radius":1e-9}}, {"box":{"half_extents":[1e-9,1,1e6]}}]})",
                                "");
  if (!scene.ok()) FAIL(scene.error().message);
  const std::vector<SceneCollider>& colliders = scene.value().colliders;
  CHECK(colliders[0].desc.capsule.half_height == 0.0f);
  CHECK(colliders[0].desc.capsule.radius == 1.0e-9f);
  CHECK(colliders[1].desc.capsule.half_height == 1.0e-9f);
  World world;
  for (const SceneCollider& collider : colliders) {
    ColliderId id;
    CHECK(world.AddCollider(collider.desc, &id).ok());
  }
}

TEST_CASE("A scene may have thousands of colliders") {
  std::string text = R"({"bodies":[{"asset":"a"}],"colliders":[)";
  for (int i = 0; i < 5000; ++i) {
    text += R"({"sphere":{"radius":1},"position":[)" + std::to_string(i) + ",0,0]},";
  }
  const auto scene = ParseScene(text + R"({"plane":{}}]})", "");
  if (!scene.ok()) FAIL(scene.error().message);
  REQUIRE(scene.value().colliders.size() == 5001);
  CHECK(scene.value().colliders[4999].desc.pose.position.x == 4999.0f);
}

TEST_CASE("At most a thousand colliders of a scene have files") {
  for (const int count : {1000, 1001}) {
    std::string colliders;
    for (int k = 0; k < count; ++k) {
      colliders += std::string(k > 0 ? ", " : "") + R"({"mesh": {"asset": "hills.plush"}})";
    }
    const auto scene =
        ParseScene(R"({"bodies": [{"asset": "a.plush"}], "colliders": [)" + colliders + "]}", "");
    CHECK(scene.ok() == (count == 1000));
    if (!scene.ok()) CHECK_THAT(scene.error().message, Contains("colliders: 1001"));
  }
}

TEST_CASE("A body's own solver keys replace those of the scene") {
  const auto scene = ParseScene(R"({"bodies":[{"asset":"a"},
    {"asset":"a","solver":{"newton_iterations":5}}, {"asset":"a","solver":{"volume_sweeps":1}}],
    "solver":{"newton_iterations":3}})",
                                "");
  if (!scene.ok()) FAIL(scene.error().message);
  const std::vector<SceneBody>& bodies = scene.value().bodies;
  CHECK(bodies[0].solver.splitting == SplittingSettings{3, 0, 4});
  CHECK(bodies[1].solver.splitting == SplittingSettings{5, 0, 4});
  CHECK(bodies[2].solver.splitting == SplittingSettings{3, 1, 4});
  CHECK_THAT(BodyErrorOf(R"("solver":{"contact":"snap"})").message,
             Contains("bodies[0].solver.contact: belongs to the scene's solver"));
}

TEST_CASE("A scene and its bodies may have the implicit solver") {
  const auto scene = ParseScene(R"({"bodies":[{"asset":"a"},
    {"asset":"a","solver":{"name":"splitting","volume_sweeps":1}},
    {"asset":"a","solver":{"linear_iterations":9}}],
    "solver":{"name":"implicit","newton_iterations":3,"linear_iterations":20,
      "newton_tolerance":1e-3,"linear_tolerance":1e-5,"mass_damping":0.5,"differential":"exact"}})",
                                "");
  if (!scene.ok()) FAIL(scene.error().message);
  const std::vector<SceneBody>& bodies = scene.value().bodies;
  CHECK(bodies[0].solver.method == &kImplicitMethod);
  CHECK(bodies[0].solver.implicit == ImplicitSettings{.newton_iterations = 3,
                                                      .linear_iterations = 20,
                                                      .newton_tolerance = 1.0e-3f,
                                                      .linear_tolerance = 1.0e-5f,
                                                      .differential = StressDifferential::kExact,
                                                      .mass_damping = 0.5f});
  CHECK(bodies[1].solver.method == nullptr);
  CHECK(bodies[1].solver.splitting.volume_sweeps == 1);
  CHECK(bodies[2].solver.implicit.linear_iterations == 9);
  using enum StressDifferential;
  for (const auto& [name, differential] :
       {std::pair("exact", kExact), std::pair("constant_rotation", kConstantRotation),
        std::pair("warped", kWarped), std::pair("hybrid", kHybrid)}) {
    const auto named =
        ParseScene(R"({"bodies":[{"asset":"a"}],"solver":{"name":"implicit","differential":")" +
                       std::string(name) + R"("}})",
                   "");
    if (!named.ok()) FAIL(named.error().message);
    CHECK(named.value().bodies[0].solver.implicit.differential == differential);
  }
  CHECK_THAT(BodyErrorOf(R"("solver":{"name":"implicit","differential":"hybird"})").message,
             Contains("did you mean 'hybrid'?"));
}

TEST_CASE("Bodies of the implicit solver may have material models and rotation methods") {
  const auto scene = ParseScene(R"({"bodies":[{"asset":"a","material":{"model":"neo_hookean"}}],
    "solver":{"name":"implicit","linear_method":"minimum_residuals","preconditioner":"none",
      "line_search":false,"assembled":true,"quasistatic":true,"rotation":"degeneration_aware","alpha":0.2,
      "beta":2,"exact_degenerate_stress":true}})",
                                "");
  if (!scene.ok()) FAIL(scene.error().message);
  CHECK(scene.value().bodies[0].solver.implicit ==
        ImplicitSettings{.preconditioner = Preconditioner::kNone,
                         .line_search = false,
                         .assembled = true,
                         .linear_method = LinearMethod::kMinimumResiduals,
                         .quasistatic = true,
                         .model = MaterialModel::kNeoHookean,
                         .rotation = RotationMethod::kDegenerationAware,
                         .alpha = 0.2f,
                         .beta = 2.0f,
                         .exact_degenerate_stress = true});
  CHECK_THAT(BodyErrorOf(R"("material":{"model":"corotated"})").message,
             Contains("needs the solver 'implicit'"));
  CHECK_THAT(
      BodyErrorOf(R"("solver":{"name":"implicit"},"material":{"model":"neo_hokean"})").message,
      Contains("did you mean 'neo_hookean'?"));
  CHECK_THAT(BodyErrorOf(R"("solver":{"name":"implicit","rotation":"polr"})").message,
             Contains("did you mean 'polar'?"));
  CHECK_THAT(BodyErrorOf(R"("solver":{"rotation":"polar"})").message,
             Contains("needs the solver 'implicit'"));
}

TEST_CASE("Every key of a motion and of a force reaches its setting") {
  const auto scene = ParseScene(R"({
    "bodies":[{"asset":"x", "pins":[{"region":"hand", "motion":[
      {"t":0.5,"position":[1,2,3]}, {"t":2,"position":[4,5,6],"rotation":[0,0,1,0]}]}]}],
    "colliders":[{"plane":{}, "motion":[{"t":1,"position":[0,7,0]}]}],
    "forces":[{"type":"uniform","acceleration":[1,2,3]},
      {"type":"radial","centre":[1,0,0],"radius":2,"strength":-5,"from":1,"to":3,"mask":6},
      {"type":"wind","velocity":[9,0,0],"air_density":1.1,"drag":0.5,"wake":true}]})",
                                "");
  if (!scene.ok()) FAIL(scene.error().message);
  const Motion& hand = scene.value().bodies[0].pins[0].motion;
  REQUIRE(hand.keys.size() == 2);
  CHECK(hand.keys[0].time == 0.5);
  CHECK(hand.keys[0].pose.rotation.w == 1.0f);
  CHECK(hand.keys[1].pose.position.y == 5.0f);
  CHECK(hand.keys[1].pose.rotation.z == 1.0f);
  const SceneCollider& lift = scene.value().colliders[0];
  REQUIRE(lift.motion.keys.size() == 1);
  CHECK(lift.desc.pose.position.y == 7.0f);  // it starts at its first pose
  const auto& forces = scene.value().forces;
  REQUIRE(forces.size() == 3);
  CHECK(forces[0].field.type == FieldType::kUniform);
  CHECK(forces[0].field.vector.z == 3.0f);
  CHECK(forces[0].from == 0.0);
  CHECK(std::isinf(forces[0].to));
  CHECK(forces[1].field.type == FieldType::kRadial);
  CHECK(forces[1].field.centre.x == 1.0f);
  CHECK(forces[1].field.radius == 2.0f);
  CHECK(forces[1].field.strength == -5.0f);
  CHECK(forces[1].field.mask == 6);
  CHECK(forces[1].from == 1.0);
  CHECK(forces[1].to == 3.0);
  CHECK_FALSE(forces[1].field.wake);
  CHECK(forces[2].field.type == FieldType::kWind);
  CHECK(forces[2].field.vector.x == 9.0f);
  CHECK(forces[2].field.air_density == 1.1f);
  CHECK(forces[2].field.drag == 0.5f);
  CHECK(forces[2].field.wake);
}

TEST_CASE("The scene of tools/README.md is one") {
  const auto bytes = ReadFile(std::string(plush::tests::kSamplesFolder) + "/../tools/README.md");
  REQUIRE(bytes.ok());
  const std::string text(reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size());
  const size_t begin = text.find("```json\n", text.find("\n## Scenes\n")) + 8;
  const auto scene = ParseScene(text.substr(begin, text.find("```", begin) - begin), "");
  if (!scene.ok()) FAIL(scene.error().message);
  CHECK(scene.value().bodies[0].pins[0].motion.keys.size() == 3);
  CHECK(scene.value().colliders[0].motion.keys.size() == 2);
  CHECK(scene.value().forces.size() == 1);
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
  CHECK_THAT(BodyErrorOf(R"("sclae":2)").message, Contains("did you mean 'scale'?"));
  CHECK_THAT(BodyErrorOf(R"("filter":{"maks":2})").message,
             Contains("bodies[0].filter: unknown key 'maks'; did you mean 'mask'?"));
  CHECK_THAT(
      BodyErrorOf(R"("pins":[{"region":"a","motion":[{"t":0,"position":[0,0,0],"rotaton":[]}]}])")
          .message,
      Contains("bodies[0].pins[0].motion[0]: unknown key 'rotaton'; did you mean 'rotation'?"));
  CHECK_THAT(ErrorOf(R"({"bodies":[{"asset":"a"}],"forces":[{"tpye":"wind"}]})").message,
             Contains("forces[0]: unknown key 'tpye'; did you mean 'type'?"));
  CHECK_THAT(ErrorOf(R"({"bodies":[{"asset":"a"}],"forces":[{"type":"widn"}]})").message,
             Contains("forces[0].type: unknown type of force 'widn'; did you mean 'wind'?"));
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
      {R"("scale":0)", "bodies[0].scale: 0 is outside [0.01, 100]"},
      {R"("scale":101)", "bodies[0].scale: 101 is outside"},
      {R"("gravity_factor":1e7)", "bodies[0].gravity_factor: 10000000 is outside"},
      {R"("max_speed":0)", "bodies[0].max_speed: 0 is outside (0, "},
      {R"("filter":{"mask":-1})", "bodies[0].filter.mask: -1 is outside"},
      {R"("filter":{"category":4294967296})",
       "bodies[0].filter.category: 4.2949673e+09 is outside"},
      {R"("filter":{"group":2147483648})", "bodies[0].filter.group"},
      {R"("filter":{"group":0.5})", "bodies[0].filter.group: expected a whole number"},
      {R"("pins":[{"region":"a","motion":[]}])", "bodies[0].pins[0].motion: has no key"},
      {R"("pins":[{"region":"a","motion":[{"position":[0,0,0]}]}])", "motion[0].t: is missing"},
      {R"("pins":[{"region":"a","motion":[{"t":0}]}])", "motion[0].position: is missing"},
      {R"("pins":[{"region":"a","motion":[{"t":-1,"position":[0,0,0]}]}])",
       "pins[0].motion[0].t: -1 is outside"},
      {R"("pins":[{"region":"a","motion":[{"t":1,"position":[0,0,0]},{"t":1,"position":[0,0,0]}]}])",
       "motion[1].t: is not later than that of the key before"},
      {R"("pins":[{"region":"a","motion":[{"t":0,"position":[0,0,0],"rotation":[1,1,0,0]}]}])",
       "motion[0].rotation: quaternion"},
      {R"("static":true,"pins":[{"region":"a","motion":[{"t":0,"position":[0,0,0]}]}])",
       "bodies[0].pins[0].motion: a static body does not move"},
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
      Contains("colliders[0].plane.normal: has no length"));
  CHECK_THAT(ErrorOf(R"({"bodies":[{"asset":"a"}],"colliders":[{"friction":0.5}]})").message,
             Contains("colliders[0].plane: is missing"));
  const auto hull_error = [](const std::string& hull) {
    return ErrorOf(R"({"bodies":[{"asset":"a"}],"colliders":[{"hull":)" + hull + "}]}").message;
  };
  CHECK_THAT(hull_error("{}"),
             Contains("colliders[0].hull: expected exactly one of points, asset"));
  CHECK_THAT(hull_error(R"({"points":[[0,0,0]],"asset":"b.plush"})"), Contains("exactly one of"));
  CHECK_THAT(hull_error(R"({"points":[[0,0,0],[0,1]]})"),
             Contains("colliders[0].hull.points[1]: expected three numbers"));
  CHECK_THAT(ErrorOf(R"({"bodies":[{"asset":"a"}],"colliders":[{"sphere":{"radius":0}}]})").message,
             Contains("colliders[0].sphere.radius: 0 is outside (0, "));
  CHECK_THAT(
      ErrorOf(R"({"bodies":[{"asset":"a"}],"colliders":[{"capsule":{"half_height":-1}}]})").message,
      Contains("colliders[0].capsule.half_height: -1 is outside [0, "));
  CHECK_THAT(ErrorOf(R"({"bodies":[{"asset":"a"}],"solver":{"contact":"hlod"}})").message,
             Contains("did you mean 'hold'?"));
  // The splitting solver has no linear iterations; a key without effect would mislead.
  const Error without_effect =
      ErrorOf(R"({"bodies":[{"asset":"a"}],"solver":{"linear_iterations":10}})");
  CHECK(without_effect.exit_code == ExitCode::kUsage);
  CHECK_THAT(without_effect.message, Contains("linear_iterations"));
  CHECK_THAT(ErrorOf("{\"bodies\":").message, Contains("line 1"));
}

TEST_CASE("Wrong forces and colliders name their place") {
  const std::pair<const char*, const char*> forces[] = {
      {R"({})", "forces[0].type: is missing"},
      {R"({"type":"uniform"})", "forces[0].acceleration: is missing"},
      {R"({"type":"uniform","acceleration":[1,2]})", "forces[0].acceleration: expected 3 numbers"},
      {R"({"type":"uniform","acceleration":[0,0,0],"drag":1})",
       "forces[0].drag: belongs to forces of type wind"},
      {R"({"type":"wind","velocity":[0,0,0],"centre":[0,0,0]})",
       "belongs to forces of type radial"},
      {R"({"type":"radial","centre":[0,0,0],"strength":1})", "forces[0].radius: is missing"},
      {R"({"type":"radial","centre":[0,0,0],"radius":0,"strength":1})", "radius: 0 is outside"},
      {R"({"type":"radial","centre":[0,0,0],"radius":1})", "forces[0].strength: is missing"},
      {R"({"type":"wind"})", "forces[0].velocity: is missing"},
      {R"({"type":"wind","velocity":[0,0,0],"drag":-1})", "forces[0].drag: -1 is outside"},
      {R"({"type":"wind","velocity":[0,0,0],"air_density":-1})", "air_density: -1 is outside"},
      {R"({"type":"wind","velocity":[0,0,0],"from":2,"to":2})", "to: is not later than from"},
      {R"({"type":"wind","velocity":[0,0,0],"from":-1})", "forces[0].from: -1 is outside"},
      {R"({"type":"wind","velocity":[0,0,0],"wake":1})", "wake: expected true or false"},
  };
  for (const auto& [force, message] : forces) {
    const Error error =
        ErrorOf(std::string(R"({"bodies":[{"asset":"a"}],"forces":[)") + force + "]}");
    CHECK(error.exit_code == ExitCode::kUsage);
    CHECK_THAT(error.message, Contains(message));
  }
  const std::pair<const char*, const char*> colliders[] = {
      {R"("friction":-1)", "colliders[0].friction: -1 is outside"},
      {R"("restitution":1.5)", "colliders[0].restitution: 1.5 is outside"},
      {R"("pose":{"positon":[0,0,0]})", "unknown key 'positon'; did you mean 'position'?"},
      {R"("pose":{"rotation":[0,0,0,2]})", "colliders[0].pose.rotation: quaternion"},
      {R"("velocity":[0,1])", "colliders[0].velocity: expected 3 numbers"},
      {R"("motion":[{"t":0,"position":[0,0,0]}],"velocity":[0,1,0])",
       "colliders[0].velocity: does not go with motion"},
      {R"("motion":[{"t":0,"position":[0,0,0]}],"pose":{})",
       "colliders[0].pose: does not go with motion"},
      {R"("motion":[{"t":0,"position":[0,0,0]}],"position":[0,0,0])",
       "colliders[0].position: does not go with motion"},
      {R"("motion":[{"t":0,"position":[0,0,0]}],"rotation":[0,0,0,1])",
       "colliders[0].rotation: does not go with motion"},
      {R"("pose":{},"position":[0,0,0])", "colliders[0].position: does not go with pose"},
      {R"("pose":{"position":[0,0,0]},"rotation":[0,0,0,1])",
       "colliders[0].rotation: does not go with pose"},
      {R"("position":[0,0])", "colliders[0].position: expected 3 numbers"},
      {R"("rotation":[0,0,0,2])", "colliders[0].rotation: quaternion"},
  };
  for (const auto& [members, message] : colliders) {
    const Error error = ErrorOf(
        std::string(R"({"bodies":[{"asset":"a"}],"colliders":[{"plane":{},)") + members + "}]}");
    CHECK(error.exit_code == ExitCode::kUsage);
    CHECK_THAT(error.message, Contains(message));
  }
}

TEST_CASE("Solvers that this version lacks are unsupported, unknown ones are mistakes") {
  const auto with_solver = [](const std::string& name) {
    return R"({"bodies":[{"asset":"a"}],"solver":{"name":")" + name + "\"}}";
  };
  for (const char* name : {"projective", "position"}) {
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

TEST_CASE("A dropped body starts with what touches 0.3 of its height above the plane") {
  const tests::TemporaryFolder folder;
  const std::string path = tests::WriteBall(folder);
  const auto scene = DropScene(path);
  if (!scene.ok()) FAIL(scene.error().message);
  REQUIRE(scene.value().bodies.size() == 1);
  const Asset asset = tests::OpenOrFail(path);
  const double height = SurfaceBounds(asset).Extent().y;
  CHECK(height == Approx(0.8));
  // The ball's collision surface is the boundary of its cage.
  const double lowest =
      BoundsOf(asset.simulation().nodes).low.y + scene.value().bodies[0].pose.position.y;
  CHECK(lowest == Approx(0.3 * height));
  REQUIRE(scene.value().colliders.size() == 1);
  CHECK(scene.value().colliders[0].desc.friction == -1.0f);  // not given
  CHECK(scene.value().colliders[0].desc.plane.normal.y == 1.0f);
}

}  // namespace plush::tools::scene_test
