// SPDX-License-Identifier: MIT
// Scenes through the stream, and streams that are cut, edited or inconsistent.
#include "import/raw_scene.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

namespace raw_scene_test {

using plush::tools::ParseRawScene;
using plush::tools::RawMesh;
using plush::tools::RawNode;
using plush::tools::RawScene;
using Bytes = std::vector<std::byte>;

RawScene SmallScene() {
  RawScene scene = {.format = "obj",
                    .unit_m = 0.01,
                    .applied_unit_m = 0.01,
                    .up = 'Z',
                    .dependencies = {"a.mtl", "dir/b.bin"},
                    .materials = {"skin", "eye"}};
  RawMesh mesh = {.name = "body",
                  .material = 1,
                  .positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}},
                  .normals = {{0, 0, 1}, {0, 0, 1}, {0, 0, 1}}};
  mesh.triangles = {{0, 1, 2}, {0, 1, 99}};
  mesh.attributes = {{"_pin", {0.0f, 0.5f, 1.0f}}};
  mesh.joints = {{1, {}}, {0, {2, 0, 0, 1, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1}}};
  mesh.weights = {{0, 1, 0.5f}, {2, 0, 1.0f}};
  scene.meshes = {mesh, RawMesh()};
  RawNode root;
  root.name = "root";
  RawNode child = {.parent = 0, .meshes = {0, 1, 0}};
  child.to_parent[3] = 7.0;
  scene.nodes = {root, child};
  scene.extras = {{"scene", "{\"a\":1}"}};
  scene.findings = {{"IMPORT_LEFT_OUT", 2, "two cameras"}};
  return scene;
}

Bytes Written(const RawScene& scene) {
  char* data = nullptr;
  size_t size = 0;
  std::FILE* file = ::open_memstream(&data, &size);
  REQUIRE(file != nullptr);
  REQUIRE(plush::tools::WriteRawScene(scene, file));
  std::fclose(file);
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  Bytes bytes(begin, begin + size);
  std::free(data);
  return bytes;
}

bool Parses(const RawScene& scene) { return ParseRawScene(Written(scene)).ok(); }

// Requires everything that ParseRawScene promises to later stages.
void RequireSound(const RawScene& scene) {
  for (const RawMesh& mesh : scene.meshes) {
    const size_t n = mesh.positions.size();
    REQUIRE((mesh.normals.empty() || mesh.normals.size() == n));
    REQUIRE((mesh.uvs.empty() || mesh.uvs.size() == n));
    for (const auto& attribute : mesh.attributes) REQUIRE(attribute.values.size() == n);
    REQUIRE((mesh.material == UINT32_MAX || mesh.material < scene.materials.size()));
    for (const auto& joint : mesh.joints) REQUIRE(joint.node < scene.nodes.size());
    for (const auto& weight : mesh.weights) {
      REQUIRE(weight.vertex < n);
      REQUIRE(weight.joint < mesh.joints.size());
      REQUIRE((weight.weight > 0.0f && std::isfinite(weight.weight)));
    }
  }
  for (size_t i = 0; i < scene.nodes.size(); ++i) {
    REQUIRE(scene.nodes[i].parent >= -1);
    REQUIRE(scene.nodes[i].parent < int64_t(i));
    for (const uint32_t mesh : scene.nodes[i].meshes) REQUIRE(mesh < scene.meshes.size());
  }
}

TEST_CASE("A scene comes back unchanged from the stream") {
  const RawScene scene = SmallScene();
  const auto parsed = ParseRawScene(Written(scene));
  REQUIRE(parsed.ok());
  const RawScene& copy = parsed.value();
  CHECK(copy.format == "obj");
  CHECK(copy.unit_m == 0.01);
  CHECK(copy.up == 'Z');
  CHECK(copy.dependencies == scene.dependencies);
  CHECK(copy.materials == scene.materials);
  REQUIRE(copy.meshes.size() == 2);
  CHECK(copy.meshes[0].name == "body");
  CHECK(copy.meshes[0].triangles == scene.meshes[0].triangles);
  CHECK(copy.meshes[0].attributes[0].values == scene.meshes[0].attributes[0].values);
  CHECK(copy.meshes[0].positions[1].x == 1.0f);
  CHECK(copy.meshes[0].joints[1].inverse_bind == scene.meshes[0].joints[1].inverse_bind);
  CHECK(copy.meshes[0].weights[0].joint == 1);
  CHECK(copy.meshes[0].weights[0].weight == 0.5f);
  CHECK(copy.nodes[1].to_parent == scene.nodes[1].to_parent);
  CHECK(copy.nodes[1].meshes == scene.nodes[1].meshes);
  CHECK(copy.extras[0].json == "{\"a\":1}");
  REQUIRE(copy.findings.size() == 1);
  CHECK(copy.findings[0].code == "IMPORT_LEFT_OUT");
  CHECK(copy.findings[0].count == 2);
  CHECK(copy.findings[0].message == "two cameras");
  CHECK(Written(copy) == Written(scene));
}

TEST_CASE("Every prefix of a stream and any byte behind it is refused") {
  const Bytes bytes = Written(SmallScene());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Bytes prefix(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    const auto parsed = ParseRawScene(prefix);
    REQUIRE_FALSE(parsed.ok());
    REQUIRE(parsed.error().exit_code == plush::tools::ExitCode::kHelperDied);
    REQUIRE(parsed.error().finding_code == "IMPORT_CRASHED");
  }
  Bytes longer = bytes;
  longer.push_back(std::byte{0});
  CHECK_FALSE(ParseRawScene(longer).ok());
}

TEST_CASE("Edited streams are refused or keep every promise") {
  const Bytes bytes = Written(SmallScene());
  std::mt19937 random(3);
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    Bytes edited = bytes;
    const size_t edits = 1 + random() % 3;
    for (size_t k = 0; k < edits; ++k) {
      edited[random() % edited.size()] = static_cast<std::byte>(random());
    }
    const auto parsed = ParseRawScene(edited);
    if (!parsed.ok()) continue;
    ++accepted;
    RequireSound(parsed.value());
  }
  CHECK(accepted > 100);
}

TEST_CASE("Inconsistent scenes are refused") {
  const auto broken = [](auto edit) {
    RawScene scene = SmallScene();
    edit(&scene);
    return !Parses(scene);
  };
  CHECK_FALSE(broken([](RawScene*) {}));
  CHECK(broken([](RawScene* s) { s->meshes[0].normals.pop_back(); }));
  CHECK(broken([](RawScene* s) { s->meshes[0].uvs.resize(1); }));
  CHECK(broken([](RawScene* s) { s->meshes[0].attributes[0].values.resize(9); }));
  CHECK(broken([](RawScene* s) { s->meshes[0].material = 2; }));
  CHECK(broken([](RawScene* s) { s->nodes[1].meshes.push_back(2); }));
  CHECK(broken([](RawScene* s) { s->nodes[1].parent = 1; }));
  CHECK(broken([](RawScene* s) { s->nodes[0].parent = -2; }));
  CHECK(broken([](RawScene* s) { s->meshes[0].joints[0].node = 2; }));
  CHECK(broken([](RawScene* s) { s->meshes[0].weights[1].joint = 2; }));
  CHECK(broken([](RawScene* s) { s->meshes[0].weights[1].vertex = 3; }));
  CHECK(broken([](RawScene* s) { s->meshes[0].joints.clear(); }));
  CHECK(broken([](RawScene* s) { s->up = 'W'; }));
  CHECK(broken([](RawScene* s) { s->unit_m = 0.0; }));
  CHECK(broken([](RawScene* s) { s->applied_unit_m = std::numeric_limits<double>::quiet_NaN(); }));
}

TEST_CASE("Weights that are not finite and positive are left out") {
  RawScene scene = SmallScene();
  for (const float weight : {0.0f, -0.0f, -1.0f, std::numeric_limits<float>::quiet_NaN(),
                             std::numeric_limits<float>::infinity()}) {
    scene.meshes[0].weights.push_back({1, 1, weight});
  }
  const auto parsed = ParseRawScene(Written(scene));
  REQUIRE(parsed.ok());
  CHECK(parsed.value().meshes[0].weights.size() == 2);
}

TEST_CASE("Findings with unknown codes or errors are left out") {
  RawScene scene = SmallScene();
  scene.findings = {
      {"NO_SUCH_CODE", 1, "a"}, {"IMPORT_FAILED", 1, "b"}, {"IMPORT_EXTENSION", 1, "c\n"}};
  const auto parsed = ParseRawScene(Written(scene));
  REQUIRE(parsed.ok());
  REQUIRE(parsed.value().findings.size() == 1);
  CHECK(parsed.value().findings[0].code == "IMPORT_EXTENSION");
  CHECK(parsed.value().findings[0].message.find('\n') == std::string::npos);
}

TEST_CASE("Texts are cleaned: names printable, extras JSON, paths without control characters") {
  RawScene scene = SmallScene();
  scene.meshes[0].name = "a\xFF\n";
  scene.extras.push_back({"scene", "{broken"});
  scene.extras.push_back({"scene", "\"" + std::string(100'000, 'x') + "\""});
  scene.dependencies.push_back("a\nall: evil");
  const auto parsed = ParseRawScene(Written(scene));
  REQUIRE(parsed.ok());
  CHECK(parsed.value().meshes[0].name == "a\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(parsed.value().extras.size() == 1);
  CHECK(parsed.value().dependencies.size() == 2);
}

}  // namespace raw_scene_test
