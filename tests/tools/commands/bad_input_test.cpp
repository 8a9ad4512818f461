// SPDX-License-Identifier: MIT
// Broken and strange source files through `plush bake`: each has its exit code and its finding, and
// a failed bake leaves the old output untouched.

#include "plush/asset.h"

#include "tools/paths.h"
#include "tools/procedural_meshes.h"
#include "tools/run_plush.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <random>

namespace plush::tests::bad_input_test {
namespace {

struct Baked {
  int exit_code = 0;
  std::vector<std::string> findings;
  std::string err;
  bool untouched = false;  // the old output is unchanged
  bool valid = false;      // the output opens with all checks

  bool Has(const std::string& code) const {
    return std::find(findings.begin(), findings.end(), code) != findings.end();
  }
};

// Bakes over an old output and records what is left.
Baked BakeFile(const std::string& path) {
  const TemporaryFolder folder;
  const std::string out = folder / "out.plush";
  WriteText(out, "old");
  // A busy machine must not turn a slow import into a failure.
  const PlushRun run = RunPlush({"bake", path, "-o", out, "--json", "--import-time", "300"});
  Baked baked;
  baked.exit_code = run.exit_code;
  baked.err = run.err;
  const nlohmann::json document = nlohmann::json::parse(run.out);
  for (const auto& finding : document["findings"]) baked.findings.push_back(finding["code"]);
  baked.untouched = Content(out) == "old";
  Asset asset;
  baked.valid = asset.Open(out.c_str()).ok();
  // No temporary file is ever left.
  CHECK(FilesIn(folder.path()) == 1);
  return baked;
}

Baked BakeText(const std::string& name, const std::string& text) {
  const TemporaryFolder folder;
  WriteText(folder / name, text);
  return BakeFile(folder / name);
}

Baked BakeMesh(const SurfaceMesh& mesh) {
  const TemporaryFolder folder;
  WriteObj(mesh, folder / "mesh.obj");
  return BakeFile(folder / "mesh.obj");
}

void CheckRefused(const Baked& baked, int exit_code) {
  INFO(baked.err);
  CHECK(baked.exit_code == exit_code);
  CHECK(baked.untouched);
  CHECK_FALSE(baked.err.empty());
}

void CheckBaked(const Baked& baked, const std::vector<std::string>& codes) {
  INFO(baked.err);
  CHECK(baked.exit_code == 0);
  CHECK(baked.valid);
  for (const std::string& code : codes) {
    INFO(code);
    CHECK(baked.Has(code));
  }
}

SurfaceMesh OneTriangle() {
  SurfaceMesh mesh = {.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}};
  mesh.triangles = {{0, 1, 2}};
  CompleteMesh(&mesh);
  return mesh;
}

}  // namespace

TEST_CASE("Files that hold no mesh are refused") {
  CheckRefused(BakeFile("/nowhere/missing.obj"), 2);
  CheckRefused(BakeFile("/"), 2);
  CheckRefused(BakeText("empty.obj", ""), 3);
  CheckRefused(BakeText("empty.glb", ""), 3);
  CheckRefused(BakeText("zero.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n"), 3);
  CheckRefused(BakeText("unknown.xyzzy", "neither words nor numbers"), 5);
  std::mt19937 random(71);
  std::string garbage(100000, '\0');
  for (char& c : garbage) c = static_cast<char>(random());
  for (const char* name : {"g.obj", "g.glb", "g.stl", "g.ply", "g.fbx", "g.dae"}) {
    INFO(name);
    CheckRefused(BakeText(name, garbage), 3);
  }
}

TEST_CASE("A sound file with a wrong extension, or none, is known by its content", "[long]") {
  const TemporaryFolder folder;
  WriteObj(MakeSphere(1.0, 8, 12), folder / "s.obj");
  const std::string obj = Content(folder / "s.obj");
  for (const char* name : {"unknown.xyzzy", "none", "wrong.glb"}) {
    INFO(name);
    CheckBaked(BakeText(name, obj), {});
  }
}

TEST_CASE("A truncated file is refused or its remainder is baked", "[long]") {
  const std::string bear = Content(std::string(plush::tests::kSamplesFolder) + "/models/bear.glb");
  REQUIRE(bear.size() > 1000);
  for (const size_t divisor : {2u, 10u, 1000u}) {
    INFO(divisor);
    CheckRefused(BakeText("cut.glb", bear.substr(0, bear.size() / divisor)), 3);
  }
  const TemporaryFolder folder;
  WriteObj(MakeSphere(1.0, 16, 24), folder / "s.obj");
  const std::string obj = Content(folder / "s.obj");
  CheckBaked(BakeText("cut.obj", obj.substr(0, obj.rfind("f ", obj.size() * 9 / 10))),
             {"MESH_OPEN_BOUNDARY", "CAGE_HOLE_CLOSED"});
}

TEST_CASE("A file beyond the size limit is refused without being read") {
  const TemporaryFolder folder;
  WriteText(folder / "huge.obj", "v 0 0 0\n");
  std::filesystem::resize_file(folder / "huge.obj", 3ull << 30);  // sparse
  CheckRefused(BakeFile(folder / "huge.obj"), 6);
}

TEST_CASE("Coordinates that are no numbers drop their triangles") {
  const TemporaryFolder folder;
  WriteObj(MakeSphere(1.0, 12, 18), folder / "s.obj");
  std::string obj = Content(folder / "s.obj");
  const size_t line = obj.find("v ", obj.size() / 8);
  const std::string broken =
      obj.substr(0, line) + "v nan inf 0\n" + obj.substr(obj.find('\n', line) + 1);
  CheckBaked(BakeText("some.obj", broken), {"MESH_NON_FINITE"});
  CheckRefused(BakeText("all.obj", "v nan 0 0\nv 1 inf 0\nv 0 1 nan\nf 1 2 3\n"), 3);
}

TEST_CASE("Sheets bake as shells", "[long]") {
  CheckBaked(BakeMesh(OneTriangle()), {"CAGE_SHELL", "MESH_OPEN_BOUNDARY"});
  CheckBaked(BakeMesh(Joined(OneTriangle(), OneTriangle())), {"CAGE_SHELL", "MESH_DUPLICATE_FACE"});
  SurfaceMesh flat = MakeGridBox({0, 0, 0}, {2, 1, 1}, 6);
  flat.triangles.resize(72);
  flat.parts.clear();
  CompleteMesh(&flat);
  CheckBaked(BakeMesh(flat), {"CAGE_SHELL"});
  CheckBaked(BakeMesh(MakeMoebiusStrip(1.0, 0.3, 48)), {"MESH_OPEN_BOUNDARY"});
}

TEST_CASE("Mass is that of the solid, however coarse the cage") {
  const TemporaryFolder folder;
  WriteObj(MakeTetGrid(3, 0.1), folder / "parts.obj");
  const PlushRun run = RunPlush({"bake", folder / "parts.obj", "-o", folder / "parts.plush",
                                 "--tets", "20", "--density", "900", "--json"});
  REQUIRE(run.exit_code == 0);
  const nlohmann::json document = nlohmann::json::parse(run.out);
  CHECK(document["simulation"]["mass_kg"] == Approx(900.0 * 27 * 0.001 / 6.0).epsilon(1e-5));
  CHECK(run.out.find("CAGE_TOO_FEW_TETS") != std::string::npos);
  CHECK(RunPlush({"validate", folder / "parts.plush"}).exit_code == 0);
}

TEST_CASE("A stray vertex is named, and a model too far from the origin refused") {
  SurfaceMesh stray = MakeSphere(1.0, 12, 18);
  stray.positions[17].y = 1e30;
  const Baked huge = BakeMesh(stray);
  CheckRefused(huge, 6);
  CHECK(huge.Has("MESH_STRAY_VERTEX"));
  CHECK(huge.Has("CAGE_TOO_FINE"));
  CHECK(huge.err.find("0.000000") == std::string::npos);
  SurfaceMesh far = MakeSphere(0.01, 12, 18);
  for (Vec3d& p : far.positions) p.x += 1e4;
  const Baked refused = BakeMesh(far);
  CheckRefused(refused, 3);
  CHECK(refused.Has("MESH_FAR_FROM_ORIGIN"));
  CHECK(refused.Has("CAGE_FAR_FROM_ORIGIN"));
}

TEST_CASE("Triangles without area are no mesh") {
  const Baked baked = BakeText("line.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n");
  CheckRefused(baked, 3);
  CHECK(baked.Has("MESH_EMPTY"));
}

TEST_CASE("Broken solids bake with a finding", "[long]") {
  SurfaceMesh inside_out = MakeSphere(1.0, 12, 18);
  FlipTriangles(&inside_out, 0, inside_out.triangles.size());
  CheckBaked(BakeMesh(inside_out), {"CAGE_COMPONENT_FLIPPED"});
  CheckBaked(BakeMesh(Joined(MakeSphere(1.0, 12, 18), inside_out)), {"MESH_DUPLICATE_FACE"});
  SurfaceMesh half = MakeSphere(1.0, 12, 18);
  FlipTriangles(&half, 0, half.triangles.size() / 2);
  CheckBaked(BakeMesh(half), {"MESH_INCONSISTENT_ORIENTATION"});
  CheckBaked(BakeMesh(MakeOpenBox({0, 0, 0}, {1, 1, 1})),
             {"MESH_OPEN_BOUNDARY", "CAGE_HOLE_CLOSED"});
  CheckBaked(BakeMesh(MakeOverlappingBoxes()), {"CAGE_OVERLAP"});
}

TEST_CASE("Nested shells bake in all four orientations", "[long]") {
  for (const bool outer_inward : {false, true}) {
    for (const bool inner_inward : {false, true}) {
      const Baked baked = BakeMesh(MakeNestedShells(outer_inward, inner_inward));
      CheckBaked(baked, {});
      CHECK(baked.Has("CAGE_CAVITY") == inner_inward);
      CHECK(baked.Has("CAGE_OVERLAP") == !inner_inward);
      CHECK(baked.Has("CAGE_COMPONENT_FLIPPED") == outer_inward);
    }
  }
}

TEST_CASE("Models of ten micrometres and of a hundred kilometres bake, more extreme ones do not",
          "[long]") {
  for (const double size : {1e-5, 1e5}) {
    INFO(size);
    CheckBaked(BakeMesh(MakeSphere(size, 8, 12)), {"UNIT_SUSPECT"});
  }
  for (const double size : {1e-30, 1e-12, 1e12, 1e30}) {
    INFO(size);
    const Baked baked = BakeMesh(MakeSphere(size, 8, 12));
    CheckRefused(baked, 3);
    CHECK(baked.Has("UNIT_SUSPECT"));
    CHECK_FALSE(baked.valid);
  }
  const Baked far = BakeMesh(MakeSphere(0.01, 8, 12, {1e6, 0, 0}));
  CHECK(far.exit_code == 3);
  CHECK(far.untouched);
}

TEST_CASE("A million triangles bake", "[long]") {
  CheckBaked(BakeMesh(MakeSphere(1.0, 501, 1000)), {});
}

}  // namespace plush::tests::bad_input_test
