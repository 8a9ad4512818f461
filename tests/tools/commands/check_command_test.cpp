// SPDX-License-Identifier: MIT
// `plush check` as a process: every kind of bad input with its exit code and finding.
#include "base/child_process.h"
#include "skip.h"
#include "tools/gltf_builder.h"
#include "tools/paths.h"
#include "tools/procedural_meshes.h"
#include "tools/run_plush.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <filesystem>
#include <set>

namespace check_command_test {

using nlohmann::json;
using plush::tests::Content;
using plush::tests::FilesIn;
using plush::tests::FlipTriangles;
using plush::tests::MakeSphere;
using plush::tests::PlushRun;
using plush::tests::RunPlush;
using plush::tests::TemporaryFolder;
using plush::tests::WriteObj;
using plush::tests::WriteText;
using plush::tools::SurfaceMesh;
using Codes = std::set<std::string>;

// The output of `plush check --json FILE ARGUMENTS...`.
struct Check {
  int exit_code = 0;
  json document;
  Codes codes;

  explicit Check(const std::string& path, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"check", path, "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const PlushRun run = RunPlush(arguments);
    INFO(run.err);
    exit_code = run.exit_code;
    document = json::parse(run.out);
    REQUIRE(document["exit_code"] == exit_code);
    for (const json& finding : document["findings"]) {
      codes.insert(finding["code"].get<std::string>());
      REQUIRE(finding["remedy"].get<std::string>().size() > 4);
      REQUIRE(finding["places"].size() <= 10);
    }
  }
};

Check CheckMesh(const SurfaceMesh& mesh) {
  TemporaryFolder folder;
  WriteObj(mesh, folder / "mesh.obj");
  return Check(folder / "mesh.obj");
}

TEST_CASE("check: a sound mesh has its facts and no defects") {
  TemporaryFolder folder;
  WriteObj(plush::tests::MakeBox({0, 0, 0}, {1, 2, 3}), folder / "box.obj");
  const Check check(folder / "box.obj");
  CHECK(check.exit_code == 0);
  CHECK(check.codes.empty());
  const json& source = check.document["source"];
  CHECK(source["format"] == "obj");
  CHECK(source["triangles"] == 12);
  CHECK(source["points"] == 8);
  CHECK(source["components"] == 1);
  CHECK(source["unit_m"] == 1.0);
  CHECK(source["up"] == "Y");
  CHECK(source["parts"].size() == 1);
  CHECK(source["parts"][0]["name"] == "body");
  CHECK(source["bounding_box"]["low"] == json({0.0, 0.0, 0.0}));
  CHECK(source["bounding_box"]["high"] == json({1.0, 2.0, 3.0}));
  const Check scaled(folder / "box.obj", {"--unit", "cm", "--up", "z", "--scale", "10"});
  CHECK(scaled.document["source"]["bounding_box"]["high"][1].get<double>() == Approx(0.3));
  CHECK(Check(folder / "box.obj", {"--unit", "0.25"}).document["source"]["unit_m"] == 0.25);
}

TEST_CASE("check: text goes to stdout, usage errors go to stderr with code 1") {
  TemporaryFolder folder;
  WriteObj(plush::tests::MakeOpenBox({0, 0, 0}, {1, 1, 1}), folder / "box.obj");
  const PlushRun run = RunPlush({"check", folder / "box.obj"});
  CHECK(run.exit_code == 0);
  CHECK(run.err.empty());
  CHECK(run.out.find("10 triangles") != std::string::npos);
  CHECK(run.out.find("MESH_OPEN_BOUNDARY: 4 edges") != std::string::npos);
  CHECK(run.out.find("note: ") != std::string::npos);
  CHECK(RunPlush({"check", folder / "box.obj", "-q"}).out.empty());
  CHECK(RunPlush({"check", folder / "box.obj", "-W"}).exit_code == 4);
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"check"},
                                                    {"check", "x", "--nonsense"},
                                                    {"check", "x", "--unit", "furlong"},
                                                    {"check", "x", "--unit", "-1"},
                                                    {"check", "x", "--up", "x"},
                                                    {"check", "x", "--scale", "0"},
                                                    {"check", "x", "--scale", "nan"},
                                                    {"check", "x", "--import-time", "0"},
                                                    {"check", "x", "--import-memory", "lots"}}) {
    CAPTURE(arguments);
    const PlushRun refused = RunPlush(arguments);
    CHECK(refused.exit_code == 1);
    CHECK(refused.out.empty());
    CHECK_FALSE(refused.err.empty());
  }
  const std::string help = RunPlush({"check", "--help"}).out;
  for (const char* part :
       {"Import:", "Output:", "SECONDS:in [0.01, 86400]=20", "GIB:in [0.1, 1024]=4", "UNIT=auto"}) {
    CHECK(help.find(part) != std::string::npos);
  }
}

TEST_CASE("check: files that cannot be read are exit 2") {
  TemporaryFolder folder;
  CHECK(Check(folder / "missing.obj").exit_code == 2);
  CHECK(Check(folder.path()).exit_code == 2);
  CHECK(Check(folder / "missing.obj").document["error"].get<std::string>().find("missing.obj") !=
        std::string::npos);
  WriteText(folder / "m.node", "1 3 0 0\n0 0 0 0\n");
  CHECK(Check(folder / "m.node").exit_code == 2);  // without its .ele
}

TEST_CASE("check: a file without read permission is exit 2") {
  TemporaryFolder folder;
  const std::string path = folder / "box.obj";
  WriteObj(plush::tests::MakeBox({0, 0, 0}, {1, 1, 1}), path);
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(path, std::filesystem::perms::none);
  std::vector<std::string> argv = {plush::tests::kPlushProgram, "check", path};
  if (::geteuid() == 0) {
    // Root reads everything: run as nobody, if that user can run the program.
    argv.insert(argv.begin(), {"/usr/bin/setpriv", "--reuid=65534", "--clear-groups"});
    const auto usable = plush::tools::RunChild(
        {argv[0], argv[1], argv[2], plush::tests::kPlushProgram, "--version"}, {});
    if (!usable.ok() || usable.value().exit_code != 0) {
      plush::tests::Skip("cannot run plush as another user");
      return;
    }
  }
  const auto run = plush::tools::RunChild(argv, {});
  REQUIRE(run.ok());
  CHECK(run.value().exit_code == 2);
  CHECK(run.value().err.find("Permission denied") != std::string::npos);
}

TEST_CASE("check: empty, garbage and wrongly named files are exit 3, unknown types 5") {
  TemporaryFolder folder;
  const auto outcome = [&folder](const std::string& name, const std::string& content) {
    WriteText(folder / name, content);
    const Check check(folder / name);
    return std::pair(check.exit_code, check.codes);
  };
  const std::pair<int, Codes> refused = {3, {"IMPORT_FAILED"}};
  CHECK(outcome("empty.obj", "") == refused);
  CHECK(outcome("empty.glb", "") == refused);
  const std::string garbage(10000, '\xE7');
  CHECK(outcome("garbage.glb", garbage) == refused);
  CHECK(outcome("garbage.ply", garbage) == refused);
  CHECK(outcome("garbage.ele", garbage).first == 2);  // no .node beside it
  CHECK(outcome("garbage.obj", garbage).first == 3);
  CHECK(outcome("garbage.stl", garbage).first == 3);
  CHECK(outcome("words.txt", "just words") == std::pair(5, Codes{"IMPORT_UNSUPPORTED"}));
  CHECK(outcome("mesh.unknown", garbage) == std::pair(5, Codes{"IMPORT_UNSUPPORTED"}));
  const std::string obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
  CHECK(outcome("really_an_obj.ply", obj) == refused);
  CHECK(outcome("really_an_obj.fbx", obj) == refused);
}

TEST_CASE("check: truncated files end in a code of the table") {
  plush::tests::GltfBuilder builder;
  builder.AddNode("root", builder.AddMesh(MakeSphere(1.0, 6, 8), "body"));
  TemporaryFolder folder;
  builder.WriteGlb(folder / "whole.glb");
  REQUIRE(Check(folder / "whole.glb").exit_code == 0);
  const std::string bytes = Content(folder / "whole.glb");
  for (const double part : {0.01, 0.3, 0.6, 0.9, 0.999}) {
    WriteText(folder / "part.glb",
              bytes.substr(0, static_cast<size_t>(part * static_cast<double>(bytes.size()))));
    const Check check(folder / "part.glb");
    CHECK(check.exit_code == 3);
    CHECK(check.codes == Codes{"IMPORT_FAILED"});
  }
  WriteText(folder / "part.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 2");
  CHECK(Check(folder / "part.obj").exit_code == 0);  // it still holds a whole triangle
}

TEST_CASE("check: a huge file and an importer beyond its limits are exit 6") {
  TemporaryFolder folder;
  WriteText(folder / "huge.obj", "v 0 0 0\n");
  std::filesystem::resize_file(folder / "huge.obj", 3ull << 30);  // sparse
  const Check huge(folder / "huge.obj");
  CHECK(huge.exit_code == 6);
  CHECK(huge.codes == Codes{"IMPORT_LIMIT"});
  // The header claims two thousand million vertices.
  WriteText(folder / "promise.off", "OFF\n2000000000 1 0\n0 0 0\n");
  const Check promise(folder / "promise.off", {"--import-memory", "0.2"});
  CHECK(promise.exit_code == 6);
  CHECK(promise.codes == Codes{"IMPORT_LIMIT"});
  WriteObj(MakeSphere(1.0, 200, 300), folder / "sphere.obj");
  const Check slow(folder / "sphere.obj", {"--import-time", "0.01"});
  CHECK(slow.exit_code == 6);
  CHECK(slow.codes == Codes{"IMPORT_LIMIT"});
}

TEST_CASE("check: meshes without a triangle of positive area are exit 3") {
  TemporaryFolder folder;
  WriteText(folder / "points.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\np 1 2 3\n");
  const Check points(folder / "points.obj");
  CHECK(points.exit_code == 3);
  CHECK(points.codes.contains("MESH_EMPTY"));
  WriteText(folder / "nan.obj", "v nan 0 0\nv 1 0 0\nv 0 inf 0\nf 1 2 3\n");
  const Check nan(folder / "nan.obj");
  CHECK(nan.exit_code == 3);
  CHECK(nan.codes.contains("MESH_NON_FINITE"));
  CHECK(nan.codes.contains("MESH_EMPTY"));
  SurfaceMesh line = MakeSphere(1.0, 6, 8);
  for (auto& p : line.positions) p = {p.y, 0.0, 0.0};
  const Check flat = CheckMesh(line);
  CHECK(flat.exit_code == 3);
  CHECK(flat.codes.contains("MESH_DEGENERATE_TRIANGLE"));
}

TEST_CASE("check: each defect has its finding and is a warning") {
  const auto defects = [](const SurfaceMesh& mesh) {
    const Check check = CheckMesh(mesh);
    CHECK(check.exit_code == 0);
    return check.codes;
  };
  SurfaceMesh some_nan = MakeSphere(1.0, 6, 8);
  some_nan.positions[0].x = NAN;
  CHECK(defects(some_nan) ==
        Codes{"MESH_NON_FINITE", "MESH_OPEN_BOUNDARY", "MESH_UNREFERENCED_VERTEX"});
  SurfaceMesh square = {.positions = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}};
  square.triangles = {{0, 1, 2}, {0, 2, 3}};
  CHECK(defects(square) == Codes{"MESH_OPEN_BOUNDARY"});
  square.triangles.resize(1);
  CHECK(defects(square).contains("MESH_OPEN_BOUNDARY"));
  SurfaceMesh repeated = MakeSphere(1.0, 6, 8);
  repeated.triangles.push_back(repeated.triangles[3]);
  CHECK(defects(repeated) == Codes{"MESH_DUPLICATE_FACE"});
  SurfaceMesh inside = MakeSphere(1.0, 6, 8);
  FlipTriangles(&inside, 0, inside.triangles.size());
  CHECK(defects(plush::tests::Joined(MakeSphere(1.0, 6, 8), inside)) ==
        Codes{"MESH_DUPLICATE_FACE", "SEAMS_WELDED"});  // two parts
  SurfaceMesh half = MakeSphere(1.0, 6, 8);
  FlipTriangles(&half, 0, half.triangles.size() / 2);
  CHECK(defects(half) == Codes{"MESH_INCONSISTENT_ORIENTATION"});
  CHECK(defects(plush::tests::MakeOpenBox({0, 0, 0}, {1, 1, 1})) == Codes{"MESH_OPEN_BOUNDARY"});
  CHECK(defects(plush::tests::MakeOverlappingBoxes()) ==
        Codes{"MESH_COMPONENTS", "MESH_SELF_INTERSECTION"});
  for (const bool outer : {false, true}) {
    for (const bool inner : {false, true}) {
      CHECK(defects(plush::tests::MakeNestedShells(outer, inner)) == Codes{"MESH_COMPONENTS"});
    }
  }
  CHECK(defects(plush::tests::MakeMoebiusStrip(1.0, 0.4, 24)) ==
        Codes{"MESH_INCONSISTENT_ORIENTATION", "MESH_OPEN_BOUNDARY"});
}

TEST_CASE("check: a mesh of a million triangles goes through", "[long]") {
  TemporaryFolder folder;
  const SurfaceMesh sphere = MakeSphere(1.0, 501, 1000);
  REQUIRE(sphere.triangles.size() == 1'000'000);
  WriteObj(sphere, folder / "million.obj");
  const Check check(folder / "million.obj");
  CHECK(check.exit_code == 0);
  CHECK(check.document["source"]["triangles"] == 1'000'000);
  CHECK(check.document["source"]["points"] == 500'002);
  CHECK(check.codes.empty());
}

TEST_CASE("check: a report that cannot be written is exit 2 and leaves the old one alone") {
  TemporaryFolder folder;
  WriteObj(plush::tests::MakeBox({0, 0, 0}, {1, 1, 1}), folder / "box.obj");
  const std::string report = folder / "report.json";
  CHECK(RunPlush({"check", folder / "box.obj", "--report", report}).exit_code == 0);
  CHECK(json::parse(Content(report))["source"]["triangles"] == 12);
  CHECK(RunPlush({"check", folder / "box.obj", "--report", folder.path()}).exit_code == 2);
  CHECK(RunPlush({"check", folder / "box.obj", "--report", folder / "no/such"}).exit_code == 2);
  // The process sees a full disk: no file may grow beyond 100 bytes.
  const std::string before = Content(report);
  const auto full = plush::tools::RunChild(
      {"/bin/sh", "-c", "ulimit -f 0; exec \"$0\" check \"$1\" -q --report \"$2\"",
       plush::tests::kPlushProgram, folder / "box.obj", report},
      {});
  REQUIRE(full.ok());
  CHECK(full.value().exit_code == 2);
  CHECK(Content(report) == before);
  CHECK(FilesIn(folder.path()) == 2);
}

TEST_CASE("check: names that are no UTF-8 do not break the JSON") {
  TemporaryFolder folder;
  WriteText(folder / "names.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\no a\xFF\xFE\nf 1 2 3\n");
  const Check check(folder / "names.obj");
  CHECK(check.exit_code == 0);
  CHECK(check.document["source"]["parts"].size() == 1);
}

}  // namespace check_command_test
