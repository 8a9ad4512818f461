// SPDX-License-Identifier: MIT
#include "simulate/scene_constraints.h"

#include "plush/format/tet_block.h"

#include "simulate/scene_state.h"
#include "simulate/simulation_run.h"
#include "tools/simulate/ball_asset.h"
#include "tools/simulate/built_scene.h"

#include <catch2/catch.hpp>

#include <cmath>

namespace plush::tools::scene_constraints_test {
namespace {

using Catch::Matchers::Contains;

// The error of a constraint in a scene of two bodies; the second is static.
Error ErrorOf(const std::string& members) {
  const auto scene = ParseScene(R"({"bodies":[{"asset":"a"},{"asset":"a","static":true}],
    "constraints":[{)" + members + "}]}",
                                "");
  INFO(members);
  REQUIRE_FALSE(scene.ok());
  return scene.error();
}

// Where the point of a constraint is.
Vec3 PointOf(const SceneWorld& built, size_t constraint) {
  const SceneWorldConstraint& of = built.constraints[constraint];
  ConstraintDesc desc;
  REQUIRE(built.world->GetConstraint(of.id, &desc).ok());
  std::vector<Vec3> x(built.asset_of(built.bodies[of.body]).simulation().nodes.size());
  REQUIRE(built.world->NodePositions(desc.body, 1.0f, x).ok());
  const float weights[4] = {desc.weights.x, desc.weights.y, desc.weights.z, desc.weights.w};
  Vec3 at;
  for (int k = 0; k < 4; ++k) {
    const Vec3& node = x[desc.nodes[k]];
    at = {at.x + weights[k] * node.x, at.y + weights[k] * node.y, at.z + weights[k] * node.z};
  }
  return at;
}

}  // namespace

TEST_CASE("Wrong constraints name their place") {
  const std::pair<const char*, const char*> cases[] = {
      {R"("at":[0,0,0])", "constraints[0].body: is missing"},
      {R"("body":0)", "constraints[0].at: is missing"},
      {R"("body":2,"at":[0,0,0])", "constraints[0].body: 2 is outside [0, 1]"},
      {R"("body":1,"at":[0,0,0])", "constraints[0].body: is static"},
      {R"("body":0,"at":[0,0,0],"kind":"curve")", "constraints[0].kind: 'curve' is not 'point'"},
      {R"("body":0,"at":[0,0,0],"kind":"line")", "constraints[0].direction: is missing"},
      {R"("body":0,"at":[0,0,0],"kind":"plane","direction":[0,0,0])", "direction: has no length"},
      {R"("body":0,"at":[0,0,0],"direction":[0,1,0])", "direction: is of lines and planes only"},
      {R"("body":0,"at":[0,0,0],"correction":0)", "correction: 0 is outside (0, 1]"},
      {R"("body":0,"at":[0,0,0],"correction":2)", "correction: 2 is outside (0, 1]"},
      {R"("body":0,"at":[0,0,0],"target":[0,0,0],"motion":[{"t":0,"position":[0,0,0]}])",
       "constraints[0].target: does not go with motion"},
      {R"("body":0,"at":[0,0,0],"knd":"line")", "unknown key 'knd'; did you mean 'kind'?"},
  };
  for (const auto& [members, message] : cases) {
    const Error error = ErrorOf(members);
    CHECK(error.exit_code == ExitCode::kUsage);
    CHECK_THAT(error.message, Contains(message));
  }
}

TEST_CASE("A scene's constraints hold, copy by copy, also after a state") {
  const tests::TemporaryFolder folder;
  const std::string solver = GENERATE("splitting", "implicit");
  const auto parsed = ParseScene(R"({"bodies":[{"asset":")" + tests::WriteBall(folder) +
                                     R"(","count":2,"position":[0,1,0],"material":{"young":1e6}}],
    "solver":{"name":")" + solver + R"("}, "steps":60, "constraints":[
    {"body":0,"at":[0.5,3,0.5],"motion":[{"t":0,"position":[0.5,2,0.5]},
                                         {"t":0.4,"position":[0.7,2.1,0.5]}]},
    {"body":0,"at":[-1,1.5,0.5],"kind":"plane","direction":[2,0,0],"correction":0.5,
     "target":[0.1,0,0]},
    {"body":0,"at":[3,1.5,0.5],"kind":"line","direction":[0,1,1]}]})",
                                 "");
  if (!parsed.ok()) FAIL(parsed.error().message);
  Scene scene = parsed.value();
  SceneWorld built = BuildOrFail(scene);
  CHECK(built.world->num_constraints() == 6);
  const Vec3 start = PointOf(built, 4);
  CHECK(start.x == Approx(1.0f + built.bodies[0].offset.x));  // on the cage's side
  const RunRecord record = RunOrFail(scene, &built);
  CHECK(record.driven);
  for (size_t copy = 0; copy < 2; ++copy) {
    const Vec3 offset = built.bodies[copy].offset;
    const Vec3 moved = PointOf(built, copy), slid = PointOf(built, 4 + copy);
    CHECK(moved.x == Approx(0.7f + offset.x));
    CHECK(moved.y == Approx(2.1f));
    CHECK(PointOf(built, 2 + copy).x == Approx(0.1f + offset.x));
    CHECK(slid.x == Approx(1.0f + offset.x));
    CHECK(slid.y - start.y == Approx(slid.z - 0.5f - offset.z).margin(1e-5));
    CHECK(std::fabs(slid.y - start.y) > 1e-3f);
  }
  scene.steps = 30;
  SceneWorld before = BuildOrFail(scene), after = BuildOrFail(scene);
  RunOrFail(scene, &before);
  const auto state = SaveSceneState(before, scene.dt);
  REQUIRE(state.ok());
  REQUIRE(LoadSceneState(state.value(), scene.dt, &after).ok());
  CHECK(RunOrFail(scene, &after).state_hash == record.state_hash);
  Scene fewer = scene;
  fewer.constraints.pop_back();
  SceneWorld other = BuildOrFail(fewer);
  const auto loaded = LoadSceneState(state.value(), scene.dt, &other);
  REQUIRE_FALSE(loaded.ok());
  CHECK_THAT(loaded.error().message, Contains("constraints"));
}

TEST_CASE("Constraints alone hold a quasistatic body of a scene, which goes to its equilibrium") {
  const tests::TemporaryFolder folder;
  const std::string start = R"({"bodies":[{"asset":")" + tests::WriteBall(folder) +
                            R"(","count":2,"position":[0,1,0],"material":{"young":1e5}}],
    "solver":{"name":"implicit","newton_iterations":30,"linear_iterations":200,"newton_tolerance":1e-6,
      "linear_tolerance":1e-6,"mass_damping":2,"quasistatic":true}, "steps":4, "constraints":[
    {"body":0,"at":[-3,1.75,0.5]}, {"body":0,"at":[3,1.75,0.5],"kind":"line","direction":[1,0,0]})";
  const std::string third = R"(,{"body":0,"at":[0.5,1.75,3]}]})";
  const auto parsed = ParseScene(start + third, "");
  if (!parsed.ok()) FAIL(parsed.error().message);
  const Scene& scene = parsed.value();
  SceneWorld built = BuildOrFail(scene);
  const World& world = *built.world;
  RunOrFail(scene, &built);
  const CageView& cage = built.asset_of(built.bodies[0]).cage();
  for (size_t copy = 0; copy < 2; ++copy) {
    const BodyId id = built.bodies[copy].id;
    BodySolver solver;
    REQUIRE(world.GetSolver(id, &solver).ok());
    CHECK(solver.implicit == scene.bodies[0].solver.implicit);
    std::vector<uint8_t> is_held(cage.nodes.size(), 0);
    double lift = 0.0;
    for (const SceneWorldConstraint& of : built.constraints) {
      if (of.body != copy) continue;
      ConstraintDesc desc;
      REQUIRE(world.GetConstraint(of.id, &desc).ok());
      for (const uint32_t node : desc.nodes) is_held[node] = 1;
      Vec3 force;
      REQUIRE(world.ConstraintForce(of.id, &force).ok());
      lift += double(force.y);
    }
    BodyMoments moments;
    REQUIRE(world.Moments(id, &moments).ok());
    CHECK(lift == Approx(9.81 * moments.mass).epsilon(1e-3));
    // All other nodes hang on their tets.
    std::vector<Vec3> forces(cage.nodes.size());
    REQUIRE(world.ElasticForces(id, forces).ok());
    double most = 0.0, heaviest = 0.0;
    for (size_t i = 0; i < forces.size(); ++i) {
      if (is_held[i] != 0) continue;
      const double weight = 9.81 * double(cage.masses[i]);
      const double missing[3] = {double(forces[i].x), double(forces[i].y) - weight,
                                 double(forces[i].z)};
      for (const double component : missing) most = std::fmax(most, std::fabs(component));
      heaviest = std::fmax(heaviest, weight);
    }
    CAPTURE(copy, most, heaviest);
    CHECK(most < 1e-3 * heaviest);
  }
  const auto state = SaveSceneState(built, scene.dt);
  REQUIRE(state.ok());
  SceneWorld other = BuildOrFail(scene);
  REQUIRE(LoadSceneState(state.value(), scene.dt, &other).ok());
  CHECK(RunOrFail(scene, &other).state_hash == RunOrFail(scene, &built).state_hash);

  const auto two = ParseScene(start + "]}", "");  // the body may turn about the line
  REQUIRE(two.ok());
  FindingList findings;
  const auto loose = BuildSceneWorld(two.value(), &findings);
  REQUIRE_FALSE(loose.ok());
  CHECK(loose.error().exit_code == ExitCode::kUsage);
  CHECK_THAT(loose.error().message,
             Contains("body 'ball.0': implicit.quasistatic needs pins or constraints"));
}

}  // namespace plush::tools::scene_constraints_test
