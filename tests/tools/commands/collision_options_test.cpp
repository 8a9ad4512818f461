// SPDX-License-Identifier: MIT
// `plush bake --collision-triangles` as a process: reports, exit codes, validation.

#include "plush/asset.h"

#include "shapes/tet_shapes.h"
#include "tools/import/tet_file_texts.h"
#include "tools/procedural_meshes.h"
#include "tools/run_plush.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>

namespace plush::tests::collision_options_test {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;

}  // namespace

TEST_CASE("plush bake --collision-triangles reports the copy, and its file is valid", "[long]") {
  const TemporaryFolder folder;
  const std::string ball = folder / "ball.obj", out = folder / "ball.plush";
  WriteObj(MakeSphere(0.5, 32, 48), ball);
  const auto bake = [&](const std::string& output, std::vector<std::string> more) {
    more.insert(more.begin(), {"bake", ball, "-o", output, "--json", "-v"});
    return RunPlush(more);
  };
  const PlushRun run = bake(out, {"--collision-triangles", "500"});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  const json document = json::parse(run.out);
  const json& collision = document["collision"];
  CHECK(collision["simplified_triangles"] == 500);
  CHECK(collision["simplified_distance_m"].get<double>() > 0.0);
  CHECK(collision["simplified_distance_m"].get<double>() < 0.01 * std::sqrt(3.0) + 1e-6);
  CHECK(collision["triangles"].get<size_t>() > 500);
  CHECK_THAT(run.err, Contains("500 triangles"));
  bool has_stage = false;
  for (const json& stage : document["stages"]) has_stage = has_stage || stage["name"] == "simplify";
  CHECK(has_stage);
  CHECK(RunPlush({"validate", out, "--source", ball}).exit_code == 0);
  const PlushRun info = RunPlush({"info", out, "--json"});
  CHECK(json::parse(info.out)["settings"]["collision_triangles"] == 500);
  CHECK(json::parse(info.out)["visual"]["triangles"] == 2 * 48 * 31);

  REQUIRE(
      bake(folder / "again.plush", {"--collision-triangles", "500", "--threads", "1"}).exit_code ==
      0);
  CHECK(Content(folder / "again.plush") == Content(out));
  const json whole = json::parse(bake(folder / "whole.plush", {}).out)["collision"];
  CHECK(whole["simplified_triangles"] == 0);
  CHECK(whole["simplified_distance_m"] == 0.0);
  CHECK(whole["triangles"].get<size_t>() > collision["triangles"].get<size_t>());

  // A warning that -W turns into a failure.
  const std::vector<std::string> hard = {"--collision-triangles", "4", "--collision-distance",
                                         "0.001", "-W"};
  const PlushRun tight = bake(folder / "tight.plush", hard);
  CHECK(tight.exit_code == 4);
  CHECK_THAT(tight.err, Contains("CDG_TRIANGLES_NOT_REACHED"));
}

TEST_CASE("plush bake refuses --collision-triangles where it makes no sense") {
  const TemporaryFolder folder;
  const std::string ball = folder / "ball.obj";
  WriteObj(MakeSphere(0.5, 12, 18), ball);
  WriteText(folder / "tets.vtk", Vtk3(test::TetBox(2, 2, 2, 0.5), false));
  WriteText(folder / "old.plush", "old");
  const struct {
    std::vector<std::string> arguments;
    const char* message;
  } cases[] = {
      {{ball, "--collision-triangles", "3"}, "--collision-triangles"},
      {{ball, "--collision-triangles", "-5"}, "--collision-triangles"},
      {{ball, "--collision-triangles", "many"}, "--collision-triangles"},
      {{ball, "--collision-distance", "0.01"}, "--collision-triangles"},
      {{ball, "--collision-triangles", "99", "--collision-distance", "0"}, "--collision-distance"},
      {{ball, "--collision-triangles", "99", "--collision-distance", "1"}, "--collision-distance"},
      {{ball, "--collision-triangles", "99", "--static"}, "leave out --static"},
      {{ball, "--collision-triangles", "99", "--mesher", "tetgen"}, "tetgen"},
      {{folder / "tets.vtk", "--collision-triangles", "99"}, "--mesher lattice"}};
  for (const auto& c : cases) {
    std::vector<std::string> arguments = {"bake", "-o", folder / "old.plush"};
    arguments.insert(arguments.end(), c.arguments.begin(), c.arguments.end());
    const PlushRun run = RunPlush(arguments);
    INFO(run.err);
    CHECK(run.exit_code == 1);
    CHECK_THAT(run.err, Contains(c.message));
    CHECK(Content(folder / "old.plush") == "old");
  }
}

}  // namespace plush::tests::collision_options_test
