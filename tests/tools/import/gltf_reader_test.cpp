// SPDX-License-Identifier: MIT
// Scenes, nodes, instances, extensions and files of glTF documents.
#include "import/gltf_reader.h"

#include "base/files.h"
#include "import/import.h"
#include "tools/gltf_builder.h"
#include "tools/paths.h"
#include "tools/procedural_meshes.h"
#include "tools/test_models.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <filesystem>
#include <random>

namespace gltf_reader_test {

using nlohmann::json;
using plush::tests::GltfBuilder;
using plush::tests::TemporaryFolder;
using plush::tests::WriteText;
using plush::tools::ExitCode;
using plush::tools::RawFinding;
using plush::tools::RawScene;
using plush::tools::Result;
using plush::tools::SurfaceMesh;

Result<RawScene> ReadBytes(const std::string& bytes, const std::string& path = "m.glb") {
  return plush::tools::ReadGltf(path, std::as_bytes(std::span(bytes)));
}

RawScene ReadOrFail(const GltfBuilder& builder) {
  auto scene = ReadBytes(builder.Glb());
  INFO((scene.ok() ? "" : scene.error().message));
  REQUIRE(scene.ok());
  return scene.value();
}

std::string ReasonOf(const GltfBuilder& builder) {
  const auto scene = ReadBytes(builder.Glb());
  return scene.ok() ? "" : scene.error().message;
}

const SurfaceMesh& Box() {
  static const SurfaceMesh box = plush::tests::MakeBox({-1, -1, -1}, {1, 1, 1});
  return box;
}

// Two boxes at nodes 0 and 1.
GltfBuilder TwoBoxes() {
  GltfBuilder builder;
  builder.AddMesh(Box(), "a");
  builder.AddMesh(Box(), "b");
  builder.AddNode("first", 0);
  builder.AddNode("second", 1);
  return builder;
}

TEST_CASE("The default scene is read, else the first, else all nodes without a parent") {
  GltfBuilder builder = TwoBoxes();
  builder.json["scenes"] = {{{"nodes", {0}}}, {{"nodes", {1}}}};
  builder.json["scene"] = 1;
  CHECK(ReadOrFail(builder).nodes[0].name == "second");
  builder.json.erase("scene");
  CHECK(ReadOrFail(builder).nodes[0].name == "first");
  builder.json["scene"] = 2;
  CHECK(ReasonOf(builder).find("scene") != std::string::npos);
  builder.json.erase("scenes");
  builder.json["nodes"][1]["children"] = {0};
  const RawScene library = ReadOrFail(builder);
  REQUIRE(library.nodes.size() == 2);
  CHECK(library.nodes[0].name == "second");
  CHECK(library.nodes[1].parent == 0);
}

TEST_CASE("Nodes with two parents, in circles or that do not exist are refused") {
  GltfBuilder builder = TwoBoxes();
  SECTION("two parents") {
    builder.json["nodes"].push_back({{"children", {0}}});
    builder.json["scenes"][0]["nodes"].push_back(2);
  }
  SECTION("twice in the scene") { builder.json["scenes"][0]["nodes"] = {0, 0}; }
  SECTION("a circle") {
    builder.json["nodes"][0]["children"] = {1};
    builder.json["nodes"][1]["children"] = {0};
    builder.json["scenes"][0]["nodes"] = {0};
  }
  SECTION("no such node") { builder.json["nodes"][0]["children"] = {7}; }
  SECTION("no number") { builder.json["nodes"][0]["children"] = {"1"}; }
  SECTION("no such mesh") { builder.json["nodes"][0]["mesh"] = 7; }
  SECTION("no such material") { builder.json["meshes"][0]["primitives"][0]["material"] = 7; }
  SECTION("a scale of two numbers") { builder.json["nodes"][0]["scale"] = {1, 1}; }
  SECTION("a matrix of words") { builder.json["nodes"][0]["matrix"] = "identity"; }
  CHECK_FALSE(ReasonOf(builder).empty());
}

TEST_CASE("Nodes may be nested to any depth") {
  GltfBuilder builder = TwoBoxes();
  builder.json["nodes"] = json::array();
  for (size_t i = 0; i < 100'000; ++i) {
    builder.json["nodes"].push_back({{"children", {i + 1}}, {"translation", {0.001, 0, 0}}});
  }
  builder.json["nodes"].push_back({{"mesh", 0}});
  builder.json["scenes"][0]["nodes"] = {0};
  TemporaryFolder folder;
  builder.WriteGlb(folder / "m.glb");
  const SurfaceMesh surface = plush::tests::ImportOrFail(folder / "m.glb").surface;
  CHECK(surface.positions[0].x - Box().positions[0].x == Approx(100.0));
}

TEST_CASE("Rotations count by their direction, whatever their length") {
  GltfBuilder builder = TwoBoxes();
  builder.json["nodes"][0]["translation"] = {1, 2, 3};
  builder.json["nodes"][0]["scale"] = {1, 2, 4};
  for (const double length : {1.0, 1e-3, 2.0, 1e5}) {
    const double half = length * std::sqrt(0.5);
    builder.json["nodes"][0]["rotation"] = {0, 0, half, half};
    const auto m = ReadOrFail(builder).nodes[0].to_parent;
    const std::array<double, 16> expected = {0, -2, 0, 1, 1, 0, 0, 2, 0, 0, 4, 3, 0, 0, 0, 1};
    for (size_t k = 0; k < 16; ++k) CHECK(std::abs(m[k] - expected[k]) < 1e-14);
  }
  builder.json["nodes"][0]["rotation"] = {0, 0, 0, 0};
  CHECK(ReadOrFail(builder).nodes[0].to_parent[0] == 1.0);
}

TEST_CASE("A matrix and the numbers that make it are the same") {
  const uint32_t seed = 3;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> number(-2.0, 2.0);
  for (int i = 0; i < 100; ++i) {
    GltfBuilder builder = TwoBoxes();
    const auto numbers = [&](size_t n) {
      std::vector<double> values(n);
      for (double& value : values) value = number(random);
      return values;
    };
    builder.json["nodes"][0]["translation"] = numbers(3);
    builder.json["nodes"][0]["rotation"] = numbers(4);
    builder.json["nodes"][0]["scale"] = numbers(3);
    const auto rows = ReadOrFail(builder).nodes[0].to_parent;
    std::vector<double> columns(16);
    for (size_t k = 0; k < 16; ++k) columns[k] = rows[4 * (k % 4) + k / 4];
    builder.json["nodes"][0] = {{"mesh", 0}, {"matrix", columns}};
    REQUIRE(ReadOrFail(builder).nodes[0].to_parent == rows);
  }
}

TEST_CASE("Instances are nodes below their own, required or not") {
  GltfBuilder builder = TwoBoxes();
  const std::vector<float> places = {0, 0, 0, 5, 0, 0, 10, 0, 0};
  const std::vector<int16_t> turns = {0, 0, 0, 32767, 0, 0, 23170, 23170, 0, 0, 0, 32767};
  const std::vector<float> scales = {1, 1, 1, 1, 3, 1, 2, 2, 2};
  json attributes = {{"TRANSLATION", builder.AddAccessor(places, "VEC3")},
                     {"ROTATION", builder.AddAccessor(turns, "VEC4", true)},
                     {"SCALE", builder.AddAccessor(scales, "VEC3")}};
  json& node = builder.json["nodes"][0];
  node["extensions"]["EXT_mesh_gpu_instancing"] = {{"attributes", attributes}};
  node["translation"] = {0, 100, 0};
  node["children"] = {1};
  builder.json["scenes"][0]["nodes"] = {0};
  if (GENERATE(false, true)) builder.json["extensionsRequired"] = {"EXT_mesh_gpu_instancing"};
  const RawScene scene = ReadOrFail(builder);
  REQUIRE(scene.nodes.size() == 5);
  CHECK(scene.nodes[0].meshes.empty());
  for (size_t i = 1; i <= 3; ++i) {
    CHECK(scene.nodes[i].name == "first");
    CHECK(scene.nodes[i].parent == 0);
    CHECK(scene.nodes[i].meshes == std::vector<uint32_t>{0});
    CHECK(scene.nodes[i].to_parent[3] == 5.0 * static_cast<double>(i - 1));
  }
  // A turn by a quarter: y becomes -x.
  CHECK(scene.nodes[2].to_parent[1] == Approx(-3.0).margin(1e-4));
  CHECK(scene.nodes[3].to_parent[10] == Approx(2.0));
  CHECK(scene.nodes[4].name == "second");
  attributes["SCALE"] = builder.AddAccessor(std::vector<float>{1, 1, 1}, "VEC3");
  builder.json["nodes"][0]["extensions"]["EXT_mesh_gpu_instancing"] = {{"attributes", attributes}};
  CHECK(ReasonOf(builder).find("nodes[0]: EXT_mesh_gpu_instancing: SCALE") == 0);
  builder.json["nodes"][0]["extensions"]["EXT_mesh_gpu_instancing"] = json::object();
  CHECK_FALSE(ReasonOf(builder).empty());
}

TEST_CASE("Required extensions that are not read are refused by name, optional ones noted") {
  const auto outcome = [](const char* list, const char* name) {
    GltfBuilder builder = TwoBoxes();
    builder.json[list] = {"KHR_mesh_quantization", name};
    const auto scene = ReadBytes(builder.Glb());
    if (scene.ok()) {
      return scene.value().findings.empty() ? std::string() : scene.value().findings[0].code;
    }
    CHECK(scene.error().exit_code == ExitCode::kUnsupported);
    CHECK(scene.error().message.find(name) != std::string::npos);
    return scene.error().finding_code;
  };
  for (const char* name : {"VENDOR_made_up", "KHR_meshopt_compression", "KHR_node_visibility"}) {
    CHECK(outcome("extensionsRequired", name) == "IMPORT_UNSUPPORTED");
  }
  for (const char* name : {"KHR_texture_transform", "KHR_materials_unlit", "KHR_texture_basisu",
                           "EXT_texture_webp", "KHR_lights_punctual", "EXT_mesh_gpu_instancing"}) {
    CHECK(outcome("extensionsRequired", name).empty());
    CHECK(outcome("extensionsUsed", name).empty());
  }
  CHECK(outcome("extensionsUsed", "KHR_node_visibility") == "IMPORT_EXTENSION");
  CHECK(outcome("extensionsUsed", "VENDOR_made_up") == "IMPORT_LEFT_OUT");
}

TEST_CASE("Buffers are found by escaped names, plain names and backslashes") {
  const std::pair<const char*, const char*> names[] = {{"my%20data.bin", "my data.bin"},
                                                       {"my data.bin", "my data.bin"},
                                                       {"d%C3%A4ta.bin", "d\u00e4ta.bin"},
                                                       {"d\u00e4ta.bin", "d\u00e4ta.bin"},
                                                       {"50%.bin", "50%.bin"},
                                                       {"a%2.bin", "a%2.bin"},
                                                       {"%41%20.bin", "%41%20.bin"},
                                                       {"sub/d.bin", "sub/d.bin"},
                                                       {"sub\\d.bin", "sub/d.bin"},
                                                       {"./sub/../d.bin", "d.bin"}};
  for (const auto& [uri, name] : names) {
    CAPTURE(uri);
    TemporaryFolder folder;
    std::filesystem::create_directory(folder / "sub");
    const GltfBuilder builder = TwoBoxes();
    WriteText(folder / name, builder.buffer());
    json document = builder.json;
    document["buffers"] = {{{"byteLength", builder.buffer().size()}, {"uri", uri}}};
    const auto scene = ReadBytes(document.dump(), folder / "m.gltf");
    INFO((scene.ok() ? "" : scene.error().message));
    REQUIRE(scene.ok());
    CHECK(scene.value().dependencies == std::vector<std::string>{folder / name});
    CHECK(scene.value().missing.empty());
  }
}

TEST_CASE("Missing files are named, and a mesh without its data is refused") {
  TemporaryFolder folder;
  GltfBuilder builder = TwoBoxes();
  builder.json["images"] = {{{"uri", "is%20there.png"}},
                            {{"uri", "gone%20now.png"}},
                            {{"uri", "data:image/png;base64,AAAA"}}};
  WriteText(folder / "is there.png", "");
  json document = builder.json;
  document["buffers"] = {{{"byteLength", builder.buffer().size()}, {"uri", "a.bin"}},
                         {{"byteLength", 4}, {"uri", "unused.bin"}}};
  WriteText(folder / "a.bin", builder.buffer());
  const auto scene = ReadBytes(document.dump(), folder / "m.gltf");
  REQUIRE(scene.ok());
  REQUIRE(scene.value().findings.size() == 1);
  const RawFinding& finding = scene.value().findings[0];
  CHECK(finding.code == "IMPORT_FILE_MISSING");
  CHECK(finding.count == 2);
  CHECK(finding.message.find("gone now.png', '") != std::string::npos);
  CHECK(finding.message.find("unused.bin'") != std::string::npos);
  CHECK(scene.value().missing ==
        std::vector<std::string>{folder / "gone now.png", folder / "unused.bin"});
  std::filesystem::remove(folder / "a.bin");
  const auto refused = ReadBytes(document.dump(), folder / "m.gltf");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("'a.bin'") != std::string::npos);
}

TEST_CASE("Files that are cut short, of glTF 1 or of another kind are refused with the reason") {
  const std::string glb = TwoBoxes().Glb();
  for (const size_t size : {size_t{11}, size_t{12}, size_t{19}, size_t{500}, glb.size() - 1}) {
    const auto cut = ReadBytes(glb.substr(0, size));
    REQUIRE_FALSE(cut.ok());
    if (size < 12) continue;
    CHECK(cut.error().message.find(std::to_string(glb.size())) != std::string::npos);
    CHECK(cut.error().message.find(std::to_string(size)) != std::string::npos);
  }
  CHECK(ReadBytes(glb + "what follows is ignored").ok());
  for (const std::string& text :
       {std::string(R"({"asset":{"version":"1.0"}})"), std::string(R"({"meshes":{"a":{}}})"),
        "glTF" + std::string("\1\0\0\0", 4)}) {
    const auto old = ReadBytes(text, "m.gltf");
    REQUIRE_FALSE(old.ok());
    CHECK(old.error().exit_code == ExitCode::kUnsupported);
    CHECK(old.error().message.find("glTF 1") != std::string::npos);
  }
  CHECK_FALSE(ReadBytes("").ok());
  CHECK_FALSE(ReadBytes("{}").ok());
}

TEST_CASE("The first bytes decide, not the name of the file") {
  TemporaryFolder folder;
  for (const char* name : {"m.obj", "m.png", "m", "m.GLB", "m.fbx"}) {
    CAPTURE(name);
    WriteText(folder / name, TwoBoxes().Glb());
    CHECK(plush::tests::ImportOrFail(folder / name).format == "glTF2");
  }
  const GltfBuilder builder = TwoBoxes();
  builder.WriteEmbedded(folder / "m.gltf");
  const auto text = plush::tools::ReadFile(folder / "m.gltf");
  REQUIRE(text.ok());
  WriteText(folder / "bom.stl",
            "\xEF\xBB\xBF \n" + std::string(reinterpret_cast<const char*>(text.value().data()),
                                            text.value().size()));
  CHECK(plush::tests::ImportOrFail(folder / "bom.stl").surface.triangles.size() == 24);
}

}  // namespace gltf_reader_test
