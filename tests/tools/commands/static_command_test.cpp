// SPDX-License-Identifier: MIT
// `plush bake --static` and what the other verbs say of its output, as processes.
#include "base/files.h"
#include "tools/procedural_meshes.h"
#include "tools/run_plush.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>

using Catch::Matchers::Contains;
using nlohmann::json;
using plush::tests::MakeGridBox;
using plush::tests::MakeOpenBox;
using plush::tests::PlushRun;
using plush::tests::RunPlush;
using plush::tests::SurfaceMesh;
using plush::tests::TemporaryFolder;
using plush::tests::WriteObj;
using plush::tests::WriteText;

namespace static_command_test {

std::string Written(const TemporaryFolder& folder, const SurfaceMesh& mesh) {
  WriteObj(mesh, folder / "mesh.obj");
  return folder / "mesh.obj";
}

SurfaceMesh Box() { return MakeGridBox({0.0, 0.0, 0.0}, {1.0, 1.0, 1.0}, 4); }

json Parsed(const PlushRun& run) {
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  return json::parse(run.out);
}

// The findings' codes of a --json document.
std::vector<std::string> CodesOf(const json& document) {
  std::vector<std::string> codes;
  for (const json& finding : document["findings"]) codes.push_back(finding["code"]);
  return codes;
}

bool Has(const std::vector<std::string>& codes, const std::string& code) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

TEST_CASE("plush bake --static makes a file that info and validate understand") {
  const TemporaryFolder folder;
  const std::string source = Written(folder, Box()), out = folder / "box.plush";
  const json baked =
      Parsed(RunPlush({"bake", "--static", source, "-o", out, "--friction", "0.75", "--json"}));
  CHECK(baked["static_mesh"]["triangles"] == 192);
  CHECK(baked["static_mesh"]["vertices"] == 98);
  CHECK(baked["static_mesh"]["sides"] == "solid");
  CHECK(baked["static_mesh"]["open_edges"] == 0);
  CHECK_FALSE(baked.contains("simulation"));
  CHECK_FALSE(Has(CodesOf(baked), "STATIC_FRONT"));

  const json info = Parsed(RunPlush({"info", out, "--json"}));
  CHECK(info["format_version"] == "0.10");
  CHECK(info["settings"]["static"] == true);
  CHECK(info["settings"]["friction"] == 0.75);
  CHECK(info["bounding_box"].dump().find("1.0") != std::string::npos);
  const json& mesh = info["static_mesh"];
  CHECK(mesh["area_m2"] == Approx(6.0));
  CHECK(mesh["volume_m3"] == Approx(1.0));
  CHECK(mesh["materials"][0]["friction"] == 0.75);
  CHECK(mesh["materials"][0]["restitution"].is_null());
  CHECK(mesh["materials"][0]["triangles"] == 192);
  const PlushRun text = RunPlush({"info", out});
  CHECK(text.exit_code == 0);
  CHECK_THAT(text.out, Contains("192 triangles, 98 vertices, 0 open edges, sides solid") &&
                           Contains("static_mesh.tree"));

  CHECK(RunPlush({"validate", out}).exit_code == 0);
  CHECK(RunPlush({"validate", out, "--source", source}).exit_code == 0);
  CHECK(RunPlush({"check", source}).exit_code == 0);
}

TEST_CASE("A static file of another source is found") {
  const TemporaryFolder folder;
  const std::string out = folder / "box.plush";
  REQUIRE(RunPlush({"bake", "--static", Written(folder, Box()), "-o", out, "-q"}).exit_code == 0);
  SurfaceMesh other = Box();
  other.positions[50].x += 0.01;
  const PlushRun run = RunPlush({"validate", out, "--source", Written(folder, other)});
  CHECK(run.exit_code == 3);
  CHECK_THAT(run.out + run.err, Contains("FILE_SOURCE") && Contains("static_mesh.positions"));
}

TEST_CASE("A static file is no body: exit code 5 and a remedy") {
  const TemporaryFolder folder;
  const std::string out = folder / "box.plush";
  REQUIRE(RunPlush({"bake", "--static", Written(folder, Box()), "-o", out, "-q"}).exit_code == 0);
  const std::string scene = folder / "scene.json";
  WriteText(scene, R"({"bodies": [{"asset": "box.plush"}]})");
  for (const auto& arguments : {std::vector<std::string>{"simulate", out},
                                {"simulate", scene},
                                {"export", out, "-o", folder / "cage.obj"}}) {
    const PlushRun run = RunPlush(arguments);
    CAPTURE(arguments[0], run.err);
    CHECK(run.exit_code == 5);
    CHECK_THAT(run.err, Contains("static mesh") && Contains("without --static"));
  }
  CHECK_FALSE(std::filesystem::exists(folder / "cage.obj"));
}

TEST_CASE("Sides follow from the mesh unless they are given") {
  const TemporaryFolder folder;
  const std::string open = Written(folder, MakeOpenBox({0.0, 0.0, 0.0}, {1.0, 1.0, 1.0}));
  const auto bake = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"bake",  "--static", open, "-o", folder / "open.plush",
                                          "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunPlush(arguments);
  };
  const json plain = Parsed(bake({}));
  CHECK(plain["static_mesh"]["sides"] == "front");
  CHECK(plain["static_mesh"]["open_edges"] == 4);
  CHECK(Has(CodesOf(plain), "STATIC_FRONT"));
  CHECK_FALSE(Has(CodesOf(plain), "MESH_OPEN_BOUNDARY"));
  const json both = Parsed(bake({"--sides", "both"}));
  CHECK(both["static_mesh"]["sides"] == "both");
  CHECK_FALSE(Has(CodesOf(both), "STATIC_FRONT"));
  const json solid = Parsed(bake({"--sides", "solid"}));
  CHECK(solid["static_mesh"]["sides"] == "solid");
  CHECK(Has(CodesOf(solid), "STATIC_NOT_CLOSED"));
  const PlushRun wrong = bake({"--sides", "fronts"});
  CHECK(wrong.exit_code == 1);
  CHECK_THAT(wrong.err, Contains("front"));
}

TEST_CASE("Options of soft bodies and --static exclude each other") {
  const TemporaryFolder folder;
  const std::string source = Written(folder, Box()), out = folder / "out.plush";
  for (const auto& more : {std::vector<std::string>{"--tets", "100"},
                           {"--young", "1e5"},
                           {"--dt", "0.01"},
                           {"--clusters", "0"},
                           {"--mesher", "lattice"},
                           {"--pins", source},
                           {"--join"},
                           {"--ratio", "1.4"}}) {
    std::vector<std::string> arguments = {"bake", "--static", source, "-o", out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const PlushRun run = RunPlush(arguments);
    CAPTURE(more[0], run.err);
    CHECK(run.exit_code == 1);
    CHECK_THAT(run.err, Contains(more[0]) && Contains("--static"));
  }
  const PlushRun sides = RunPlush({"bake", source, "-o", out, "--sides", "both"});
  CHECK(sides.exit_code == 1);
  CHECK_THAT(sides.err, Contains("--sides goes with --static"));
  CHECK_FALSE(std::filesystem::exists(out));
}

TEST_CASE("A static bake honours scale, unit, up and the material map, and repeats its bytes") {
  const TemporaryFolder folder;
  const std::string source = Written(folder, MakeGridBox({0.0, 0.0, 0.0}, {1.0, 2.0, 3.0}, 2));
  WriteText(folder / "map.json",
            R"({"materials": [{"name": "DefaultMaterial", "restitution": 0.5}]})");
  const auto bake = [&](const std::string& out, const std::string& threads) {
    return RunPlush({"bake", "--static", source, "-o", out, "--unit", "cm", "--scale", "10", "--up",
                     "z", "--material-map", folder / "map.json", "--threads", threads, "-q"});
  };
  REQUIRE(bake(folder / "a.plush", "1").exit_code == 0);
  REQUIRE(bake(folder / "b.plush", "2").exit_code == 0);
  CHECK(plush::tools::ReadFile(folder / "a.plush").value() ==
        plush::tools::ReadFile(folder / "b.plush").value());
  const json info = Parsed(RunPlush({"info", folder / "a.plush", "--json"}));
  CHECK(info["static_mesh"]["volume_m3"] == Approx(6e-3));
  CHECK(info["static_mesh"]["materials"][0]["restitution"] == 0.5);
  CHECK(RunPlush({"validate", folder / "a.plush", "--source", source}).exit_code == 0);
}

TEST_CASE("A static bake of nothing fails and writes nothing") {
  const TemporaryFolder folder;
  WriteText(folder / "flat.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n");
  const PlushRun run =
      RunPlush({"bake", "--static", folder / "flat.obj", "-o", folder / "flat.plush"});
  CHECK(run.exit_code == 3);
  CHECK_THAT(run.err, Contains("MESH_EMPTY"));
  CHECK_FALSE(std::filesystem::exists(folder / "flat.plush"));
}

}  // namespace static_command_test
