// SPDX-License-Identifier: MIT
// `plush info` and `plush validate` as processes: exit codes, documents, several files.
#include "bake/bake.h"
#include "base/files.h"
#include "import/import.h"
#include "plush_generated.h"
#include "shapes/shape_asset.h"
#include "shapes/tet_shapes.h"
#include "tools/paths.h"
#include "tools/procedural_meshes.h"
#include "tools/run_plush.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

using Catch::Matchers::Contains;
using nlohmann::json;
using plush::tests::PlushRun;
using plush::tests::RunPlush;
using plush::tests::TemporaryFolder;

namespace file_commands_test {

void Write(const std::string& path, std::span<const std::byte> bytes) {
  REQUIRE(plush::tools::WriteFileAtomically(path, bytes).ok());
}

std::vector<std::byte> BarBytes() {
  return plush::test::AssetBytesOf(plush::test::TetBox(4, 2, 1, 0.1, 0.05));
}

// A folder with a sound bar, a truncated one, one of version 0.1 and one with a wrong number.
struct Files {
  TemporaryFolder folder;
  std::string good = folder / "good.plush", cut = folder / "cut.plush";
  std::string foreign = folder / "foreign.plush", wrong = folder / "wrong.plush";

  Files() {
    auto bytes = BarBytes();
    Write(good, bytes);
    Write(cut, std::span(bytes).first(bytes.size() / 2));
    auto* root = flatbuffers::GetMutableRoot<flatbuffers::Table>(bytes.data());
    root->SetField<uint16_t>(plush::format::Asset::VT_FORMAT_MINOR, 1, 0);
    Write(foreign, bytes);
    bytes = BarBytes();
    auto* positions = plush::format::GetAsset(bytes.data())->visual()->positions();
    const auto* first = reinterpret_cast<const std::byte*>(positions->Data());
    bytes[static_cast<size_t>(first - bytes.data()) + 3] = std::byte{0x7f};
    Write(wrong, bytes);
  }
};

// Imports and bakes as `plush bake` does.
std::vector<std::byte> Baked(const std::string& source) {
  plush::tools::FindingList findings;
  plush::tools::ImportSettings import;
  import.helper = std::filesystem::path(plush::tests::kPlushProgram).parent_path() / "plush-import";
  const auto model = plush::tools::ImportModel(source, import, &findings);
  if (!model.ok()) FAIL(model.error().message);
  auto baked = plush::tools::Bake(model.value(), {.cage = {.target_tets = 100}}, &findings);
  if (!baked.ok()) FAIL(baked.error().message);
  return std::move(baked.value().bytes);
}

TEST_CASE("plush info describes a file, as text and as JSON") {
  const Files files;
  const PlushRun text = RunPlush({"info", files.good});
  REQUIRE(text.exit_code == 0);
  CHECK_THAT(text.out, Contains("30 nodes, 40 tets") && Contains("56 faces, 0 branches") &&
                           Contains("ratio 1.000"));
  CHECK(text.err.empty());
  const PlushRun machine = RunPlush({"info", files.good, "--json"});
  REQUIRE(machine.exit_code == 0);
  const json document = json::parse(machine.out);
  CHECK(document["simulation"]["tets"] == 40);
  CHECK(document["file_bytes"] == std::filesystem::file_size(files.good));
}

TEST_CASE("plush info refuses what cannot be opened, each with its code") {
  const Files files;
  CHECK(RunPlush({"info", files.cut}).exit_code == 3);
  CHECK(RunPlush({"info", files.wrong}).exit_code == 3);
  CHECK(RunPlush({"info", files.folder / "none.plush"}).exit_code == 2);
  CHECK(RunPlush({"info", files.folder.path()}).exit_code == 2);
  CHECK(RunPlush({"info"}).exit_code == 1);
  const PlushRun foreign = RunPlush({"info", files.foreign, "--json"});
  CHECK(foreign.exit_code == 5);
  CHECK_THAT(foreign.err, Contains("another format version than 0.10; bake its source again"));
  CHECK(json::parse(foreign.out)["exit_code"] == 5);
}

TEST_CASE("plush validate judges each file, and exits with the first that is not valid") {
  const Files files;
  const PlushRun good = RunPlush({"validate", files.good, files.good});
  CHECK(good.exit_code == 0);
  CHECK_THAT(good.out, Contains("valid"));
  CHECK(RunPlush({"validate", files.wrong}).exit_code == 3);
  CHECK(RunPlush({"validate", files.good, files.foreign, files.wrong}).exit_code == 5);
  CHECK(RunPlush({"validate", files.folder / "none.plush"}).exit_code == 2);
  const PlushRun several =
      RunPlush({"validate", "--json", files.good, files.cut, files.foreign, files.wrong});
  CHECK(several.exit_code == 3);
  const json document = json::parse(several.out);
  REQUIRE(document["files"].size() == 4);
  CHECK(document["files"][0]["findings"].empty());
  CHECK(document["files"][1]["findings"][0]["code"] == "FILE_TRUNCATED");
  CHECK(document["files"][2]["findings"][0]["code"] == "FILE_VERSION");
  CHECK_THAT(document["files"][2]["findings"][0]["message"].get<std::string>(),
             Contains("(it is 0.1)"));
  CHECK(document["files"][3]["findings"].size() >= 2);  // for the number and for the content hash
}

TEST_CASE("plush validate --source measures the embedding against the source mesh") {
  const TemporaryFolder folder;
  plush::tests::WriteObj(plush::tests::MakeSphere(0.5, 12, 24), folder / "ball.obj");
  plush::tests::WriteObj(plush::tests::MakeSphere(0.501, 12, 24), folder / "larger.obj");
  plush::tests::WriteObj(plush::tests::MakeSphere(0.5, 6, 12), folder / "coarser.obj");
  const std::string asset = folder / "ball.plush";
  Write(asset, Baked(folder / "ball.obj"));

  const PlushRun same = RunPlush({"validate", asset, "--source", folder / "ball.obj", "--json"});
  INFO(same.err);
  REQUIRE(same.exit_code == 0);
  const json document = json::parse(same.out);
  CHECK(document["files"][0]["source"]["max_error_m"].get<double>() < 1e-6);
  CHECK(document["files"][0]["source"]["enclosed_triangles"] == 528);
  CHECK_THAT(RunPlush({"validate", asset, "--source", folder / "ball.obj"}).out,
             Contains("embedding off the source by") &&
                 Contains("528 triangles strictly inside the cage"));

  const PlushRun larger =
      RunPlush({"validate", asset, "--source", folder / "larger.obj", "--json"});
  CHECK(larger.exit_code == 3);
  const json differs = json::parse(larger.out)["files"][0];
  CHECK(differs["source"]["max_error_m"].get<double>() == Approx(0.001).epsilon(0.01));
  CHECK(differs["findings"][0]["code"] == "FILE_SOURCE");
  CHECK(differs["findings"][1]["code"] == "FILE_EMBEDDING");

  const PlushRun coarser = RunPlush({"validate", asset, "--source", folder / "coarser.obj"});
  CHECK(coarser.exit_code == 3);
  CHECK_THAT(coarser.err, Contains("FILE_SOURCE"));
  CHECK(RunPlush({"validate", asset, "--source", folder / "none.obj"}).exit_code == 2);
}

TEST_CASE("plush validate --source reads the source as the bake did", "[long]") {
  const TemporaryFolder folder;
  plush::tests::WriteObj(plush::tests::MakeBox({0, 0, 0}, {10, 20, 30}), folder / "box.obj");
  // COLLADA gives the up axis, unless the user does.
  plush::tests::WriteText(folder / "box.dae", R"(<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="centimeter" meter="0.01"/><up_axis>Z_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="12">0 0 0 10 0 0 0 20 0 0 0 30</float_array>
<technique_common><accessor source="#pa" count="4" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/>
<p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node><instance_geometry url="#g"/></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>
)");
  const std::vector<std::vector<std::string>> options = {
      {}, {"--up", "y"}, {"--up", "z"}, {"--unit", "mm"}, {"--scale", "0.3", "--up", "z"}};
  for (const char* name : {"box.obj", "box.dae"}) {
    for (const auto& given : options) {
      const std::string source = folder / name;
      std::vector<std::string> bake = {"bake", source, "-o", folder / "box.plush"};
      bake.insert(bake.end(), given.begin(), given.end());
      REQUIRE(RunPlush(bake).exit_code == 0);
      const PlushRun run = RunPlush({"validate", folder / "box.plush", "--source", source});
      INFO(name << (given.empty() ? "" : " " + given.back()) << "\n" << run.err);
      CHECK(run.exit_code == 0);
    }
  }
}

TEST_CASE("plush validate calls a file with warnings valid, and counts them") {
  const TemporaryFolder folder;
  const std::string source = folder / "cube.obj";
  plush::tests::WriteObj(plush::tests::MakeBox({0, 0, 0}, {1, 1, 1}), source);
  std::ofstream(source, std::ios::app) << "v nan 0 0\nf 1 2 -1\n";
  const std::string asset = folder / "cube.plush";
  REQUIRE(RunPlush({"bake", source, "-o", asset, "--tets", "50", "-q"}).exit_code == 0);
  const PlushRun run = RunPlush({"validate", asset, "--source", source});
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.err, Contains("MESH_NON_FINITE"));
  CHECK_THAT(run.out, Contains("cube.plush: valid, 1 warning\n"));
  CHECK(RunPlush({"validate", asset, "--source", source, "-W"}).exit_code == 4);
}

TEST_CASE("check and info show the corners of the box, as text and as JSON") {
  const TemporaryFolder folder;
  const std::string source = folder / "box.obj";
  plush::tests::WriteObj(plush::tests::MakeBox({-1, 2, 3}, {1, 2.5, 4}), source);
  const std::string asset = folder / "box.plush";
  REQUIRE(RunPlush({"bake", source, "-o", asset, "--tets", "50", "-q"}).exit_code == 0);
  const char* corners = "2 x 0.5 x 1 m, from (-1, 2, 3) to (1, 2.5, 4)";
  CHECK_THAT(RunPlush({"check", source}).out, Contains(corners));
  CHECK_THAT(RunPlush({"info", asset}).out, Contains(corners));
  const json box = {{"low", {-1.0, 2.0, 3.0}}, {"high", {1.0, 2.5, 4.0}}};
  CHECK(json::parse(RunPlush({"check", source, "--json"}).out)["source"]["bounding_box"] == box);
  CHECK(json::parse(RunPlush({"info", asset, "--json"}).out)["bounding_box"] == box);
}

}  // namespace file_commands_test
