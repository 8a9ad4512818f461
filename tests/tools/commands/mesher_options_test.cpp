// SPDX-License-Identifier: MIT
// `plush bake` as a process with --mesher tetgen, --mesher import and --embed.

#include "plush/asset.h"
#include "plush/format/tet_block.h"

#include "base/child_process.h"
#include "shapes/tet_shapes.h"
#include "skip.h"
#include "tools/import/tet_file_texts.h"
#include "tools/procedural_meshes.h"
#include "tools/run_plush.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace plush::tests::mesher_options_test {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;

// A shell script in place of TetGen.
std::string FakeTetGen(const TemporaryFolder& folder, const std::string& script) {
  std::string path = folder / "fake";
  WriteText(path, "#!/bin/sh\n" + script + "\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

// Requires equal simulation data, as far as they depend on the tets.
void RequireSameSimulation(const Asset& a, const Asset& b) {
  const SimulationView& x = a.simulation();
  const SimulationView& y = b.simulation();
  const auto same = [](const auto& one, const auto& two) {
    REQUIRE(one.size_bytes() == two.size_bytes());
    CHECK(std::memcmp(one.data(), two.data(), one.size_bytes()) == 0);
  };
  same(x.nodes, y.nodes);
  same(x.tets, y.tets);
  same(x.masses, y.masses);
  same(x.blocks, y.blocks);
}

}  // namespace

TEST_CASE("plush bake --mesher tetgen writes an asset whose tets end at the surface") {
  if (tools::FindProgram("tetgen").empty()) return Skip("tetgen is not installed");
  const TemporaryFolder folder;
  const TemporaryFolder scratch;
  WriteObj(MakeSphere(0.5, 16, 24), folder / "ball.obj");
  const std::string out = folder / "ball.plush";
  const std::vector<std::string> arguments = {
      "bake",   folder / "ball.obj", "-o",   out,     "--mesher",
      "tetgen", "--max-volume",      "1e-3", "--json"};
  const PlushRun run = RunPlush(arguments, "TMPDIR='" + scratch.path() + "' exec");
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK(std::filesystem::is_empty(scratch.path()));
  const json document = json::parse(run.out);
  CHECK(document["simulation"]["vertices_outside"] == 0);
  CHECK(document["simulation"]["cage_volume_m3"].get<double>() ==
        Approx(document["simulation"]["solid_volume_m3"].get<double>()).epsilon(1e-5));
  CHECK(document["simulation"]["tets"] > 500);
  Asset asset;
  REQUIRE(asset.Open(out.c_str()).ok());
  const json settings = json::parse(asset.settings());
  CHECK(settings["mesher"] == "tetgen");
  CHECK(settings["max_volume"] == 1e-3);
  CHECK(settings["ratio"] == 2.0);
  CHECK_FALSE(settings.contains("tets"));
  CHECK(RunPlush({"validate", out, "--source", folder / "ball.obj"}).exit_code == 0);
  const std::string bytes = Content(out);
  REQUIRE(RunPlush(arguments).exit_code == 0);
  CHECK(Content(out) == bytes);
}

TEST_CASE("plush bake --mesher tetgen has an exit code for each failure", "[long]") {
  const TemporaryFolder folder;
  WriteObj(MakeBox({0, 0, 0}, {1, 1, 1}), folder / "box.obj");
  WriteObj(MakeOpenBox({0, 0, 0}, {1, 1, 1}), folder / "open.obj");
  const struct {
    std::string script;
    std::string mesh;
    int exit_code;
    const char* finding;
  } cases[] = {{"kill -ABRT $$", "box.obj", 7, "CAGE_TETGEN_FAILED"},
               {"sleep 60", "box.obj", 6, "CAGE_TETGEN_LIMIT"},
               {"exec tail -n 1 /dev/zero", "box.obj", 6, "CAGE_TETGEN_LIMIT"},
               {"exit 0", "box.obj", 7, "CAGE_TETGEN_FAILED"},
               {"", "open.obj", 3, "CAGE_TETGEN_REFUSED"}};
  for (const auto& c : cases) {
    CAPTURE(c.script, c.mesh);
    WriteText(folder / "old.plush", "old");
    const PlushRun run = RunPlush({"bake", folder / c.mesh, "-o", folder / "old.plush", "--mesher",
                                   "tetgen", "--tetgen", FakeTetGen(folder, c.script),
                                   "--tetgen-time", "1", "--tetgen-memory", "0.05", "--json"});
    CHECK(run.exit_code == c.exit_code);
    const json findings = json::parse(run.out)["findings"];
    CHECK(std::count_if(findings.begin(), findings.end(), [&](const json& finding) {
            return finding["code"] == c.finding && finding["severity"] == "error";
          }) == 1);
    CHECK(Content(folder / "old.plush") == "old");
  }
  const PlushRun missing = RunPlush({"bake", folder / "box.obj", "-o", folder / "b.plush",
                                     "--mesher", "tetgen", "--tetgen", "no-such-tetgen"});
  CHECK(missing.exit_code == 7);
  CHECK_THAT(missing.err, Contains("CAGE_TETGEN_MISSING") && Contains("Install it"));
}

TEST_CASE("plush bake gives the same simulation whatever format the tets come in") {
  const tools::TetMesh mesh = test::TetBox(3, 2, 2, 0.1, 0.05);
  const TemporaryFolder folder;
  Asset first;
  int number = 0;
  for (const TetFileText& file : AllTetFileTexts(mesh)) {
    CAPTURE(file.name);
    const std::string stem = folder / std::to_string(number++);
    WriteText(stem + file.ending, file.bytes);
    const PlushRun run = RunPlush({"bake", stem + file.ending, "-o", stem + ".plush"});
    INFO(run.err);
    REQUIRE(run.exit_code == 0);
    Asset asset;
    REQUIRE(asset.Open((stem + ".plush").c_str()).ok());
    CHECK(asset.simulation().tets.size() == mesh.tets.size());
    if (number == 1) REQUIRE(first.Open((stem + ".plush").c_str()).ok());
    RequireSameSimulation(first, asset);
  }
}

TEST_CASE("plush bake --embed shows another mesh than the tets' boundary") {
  const TemporaryFolder folder;
  WriteText(folder / "tets.vtk", Vtk3(test::TetBox(2, 2, 2, 0.5), false));
  WriteObj(MakeSphere(0.25, 8, 12, {0.5, 0.5, 0.5}), folder / "ball.obj");
  const std::string out = folder / "b.plush";
  const PlushRun run = RunPlush({"bake", folder / "tets.vtk", "--embed", folder / "ball.obj", "-o",
                                 out, "--depfile", folder / "d"});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK_THAT(Content(folder / "d"), Contains(folder / "tets.vtk") && Contains(folder / "ball.obj"));
  Asset asset;
  REQUIRE(asset.Open(out.c_str()).ok());
  CHECK(asset.simulation().tets.size() == 40);
  CHECK(asset.visual().indices.size() == 3 * MakeSphere(0.25, 8, 12).triangles.size());
  CHECK(json::parse(asset.settings())["embed"].get<std::string>().size() == 16);

  const auto validate = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"validate", out, "--source", folder / "tets.vtk"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunPlush(arguments);
  };
  CHECK(validate({"--embed", folder / "ball.obj"}).exit_code == 0);
  const PlushRun without = validate({});
  CHECK(without.exit_code == 3);
  CHECK_THAT(without.err, Contains("FILE_SOURCE") && Contains("--embed"));

  // Only the content of the embedded file matters, not its path.
  const TemporaryFolder elsewhere;
  for (const char* name : {"tets.vtk", "ball.obj"}) {
    std::filesystem::copy_file(folder / name, elsewhere / name);
  }
  REQUIRE(RunPlush({"bake", elsewhere / "tets.vtk", "--embed", elsewhere / "ball.obj", "-o",
                    elsewhere / "b.plush"})
              .exit_code == 0);
  CHECK(Content(elsewhere / "b.plush") == Content(out));
  std::ofstream(folder / "ball.obj", std::ios::app) << "# another\n";
  CHECK(validate({"--embed", folder / "ball.obj"}).exit_code == 3);
}

TEST_CASE("plush bake --embed warns of a mesh far from the tets and refuses what makes no sense") {
  const TemporaryFolder folder;
  WriteText(folder / "tets.vtk", Vtk3(test::TetBox(2, 2, 2, 0.5), false));
  WriteObj(MakeSphere(25, 8, 12, {50, 50, 50}), folder / "cm.obj");
  WriteObj(MakeSphere(0.52, 8, 12, {0.5, 0.5, 0.5}), folder / "near.obj");
  const std::string out = folder / "b.plush";
  const auto bake = [&](const std::string& source, const std::string& embed,
                        const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"bake", folder / source, "--embed", folder / embed, "-o",
                                          out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunPlush(arguments);
  };
  const PlushRun far = bake("tets.vtk", "cm.obj");
  CHECK(far.exit_code == 0);
  CHECK_THAT(far.err, Contains("EMBED_OUTSIDE"));
  CHECK(RunPlush({"validate", out}).exit_code == 0);
  const PlushRun near = bake("tets.vtk", "near.obj");
  CHECK(near.exit_code == 0);
  CHECK_THAT(near.err, !Contains("EMBED_OUTSIDE"));
  CHECK(RunPlush({"validate", out}).exit_code == 0);

  CHECK(bake("near.obj", "near.obj").exit_code == 1);
  CHECK(bake("tets.vtk", "near.obj", {"--mesher", "lattice"}).exit_code == 1);
  CHECK(bake("tets.vtk", "near.obj", {"--mesher", "tetgen"}).exit_code == 1);
  CHECK(bake("tets.vtk", "none.obj").exit_code == 2);
  CHECK(bake("tets.vtk", "near.obj", {"--depfile", folder / "near.obj"}).exit_code == 1);
  CHECK(RunPlush({"validate", out, "--embed", folder / "near.obj"}).exit_code == 1);
}

}  // namespace plush::tests::mesher_options_test
