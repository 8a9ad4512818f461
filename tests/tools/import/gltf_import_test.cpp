// SPDX-License-Identifier: MIT
// glTF files through the whole import: child process, side data, flattening.
#include "tools/gltf_builder.h"
#include "tools/procedural_meshes.h"
#include "tools/test_models.h"

#include <catch2/catch.hpp>

namespace gltf_import_test {

using plush::tests::GltfBuilder;
using plush::tests::ImportOrFail;
using plush::tests::TemporaryFolder;
using plush::tools::ImportedModel;
using plush::tools::SurfaceMesh;
using plush::tools::VertexAttribute;

ImportedModel Import(const GltfBuilder& builder) {
  TemporaryFolder folder;
  builder.WriteEmbedded(folder / "m.gltf");
  return ImportOrFail(folder / "m.gltf");
}

const VertexAttribute& Find(const SurfaceMesh& mesh, const std::string& name) {
  for (const VertexAttribute& attribute : mesh.attributes) {
    if (attribute.name == name) return attribute;
  }
  FAIL("no attribute " << name);
  return mesh.attributes.front();
}

std::string ExtraOf(const SurfaceMesh& mesh, const std::string& owner) {
  for (const auto& extra : mesh.extras) {
    if (extra.owner == owner) return extra.json;
  }
  return "";
}

// 1 at the top of the sphere, 0 at its bottom.
std::vector<float> HeightPins(const SurfaceMesh& sphere) {
  std::vector<float> pins;
  for (const auto& p : sphere.positions) pins.push_back(static_cast<float>(0.5 + 0.5 * p.y));
  return pins;
}

double SixTimesVolume(const SurfaceMesh& mesh, const plush::tools::SurfacePart& part) {
  double sum = 0.0;
  for (uint32_t i = 0; i < part.num_triangles; ++i) {
    const auto& t = mesh.triangles[part.first_triangle + i];
    sum += Dot(mesh.positions[t[0]], Cross(mesh.positions[t[1]], mesh.positions[t[2]]));
  }
  return sum;
}

const SurfaceMesh& Sphere() {
  static const SurfaceMesh sphere = plush::tests::MakeSphere(1.0, 8, 12);
  return sphere;
}

TEST_CASE("Pins, names and positions arrive by all three ways of carrying the buffer") {
  GltfBuilder builder;
  builder.AddAttribute(builder.AddMesh(Sphere(), "body"), "_pin", HeightPins(Sphere()));
  builder.AddNode("root", 0);
  TemporaryFolder folder;
  builder.WriteEmbedded(folder / "a.gltf");
  builder.WriteSeparate(folder / "b.gltf", "b data.bin");
  builder.WriteGlb(folder / "c.glb");
  for (const char* name : {"a.gltf", "b.gltf", "c.glb"}) {
    CAPTURE(name);
    const ImportedModel model = ImportOrFail(folder / name);
    CHECK(model.format == "glTF2");
    CHECK(model.unit_m == 1.0);
    CHECK(model.up == 'Y');
    CHECK(model.surface.positions.size() == Sphere().positions.size());
    CHECK(model.surface.triangles == Sphere().triangles);
    CHECK(Find(model.surface, "_pin").values == HeightPins(Sphere()));
    REQUIRE(model.surface.parts.size() == 1);
    CHECK(model.surface.parts[0].name == "body");
    CHECK(model.surface.parts[0].node == "root");
    const bool separate = std::string(name) == "b.gltf";
    REQUIRE(model.dependencies.size() == (separate ? 1u : 0u));
    if (separate) CHECK(model.dependencies[0] == folder / "b data.bin");
  }
}

TEST_CASE("Vertex colours become channels, normalised bytes too") {
  GltfBuilder builder;
  const size_t mesh = builder.AddMesh(Sphere(), "body");
  std::vector<uint8_t> colours;
  for (size_t v = 0; v < Sphere().positions.size(); ++v) {
    colours.insert(colours.end(), {255, 0, static_cast<uint8_t>(v), 255});
  }
  builder.json["meshes"][mesh]["primitives"][0]["attributes"]["COLOR_0"] =
      builder.AddAccessor(colours, "VEC4", true);
  builder.AddNode("root", mesh);
  const SurfaceMesh surface = Import(builder).surface;
  CHECK(Find(surface, "COLOR_0.r").values[5] == 1.0f);
  CHECK(Find(surface, "COLOR_0.g").values[5] == 0.0f);
  CHECK(Find(surface, "COLOR_0.b").values[51] == Approx(51.0 / 255.0));
  CHECK(Find(surface, "COLOR_0.a").values[5] == 1.0f);
}

TEST_CASE("Texture coordinates come as they are written, vector attributes by component") {
  GltfBuilder builder;
  const size_t mesh = builder.AddMesh(Sphere(), "body");
  std::vector<float> uvs;
  std::vector<float> flow;
  for (size_t v = 0; v < Sphere().positions.size(); ++v) {
    uvs.insert(uvs.end(), {0.1f, 1.0f / static_cast<float>(v + 3)});
    flow.insert(flow.end(), {1.0f, 2.0f, static_cast<float>(v)});
  }
  auto& attributes = builder.json["meshes"][mesh]["primitives"][0]["attributes"];
  attributes["TEXCOORD_0"] = builder.AddAccessor(uvs, "VEC2");
  attributes["_FLOW"] = builder.AddAccessor(flow, "VEC3");
  attributes["_broken"] = 999;
  builder.AddNode("root", mesh);
  const SurfaceMesh surface = Import(builder).surface;
  REQUIRE(surface.uvs.size() == Sphere().positions.size());
  CHECK(surface.v_downwards);
  for (size_t v = 0; v < surface.uvs.size(); ++v) {
    REQUIRE(surface.uvs[v].y == 1.0f / static_cast<float>(v + 3));
  }
  CHECK(Find(surface, "_FLOW.z").values[7] == 7.0f);
  CHECK(surface.attributes.size() == 3);
}

TEST_CASE("A mesh placed by several nodes, mirrored and scaled, stays outward and keeps its pins") {
  GltfBuilder builder;
  builder.AddAttribute(builder.AddMesh(Sphere(), "body"), "_pin", HeightPins(Sphere()));
  builder.AddNode("plain", 0);
  const size_t mirrored = builder.AddNode("mirrored", 0);
  builder.json["nodes"][mirrored]["scale"] = {-1, 2, 1};
  builder.json["nodes"][mirrored]["translation"] = {5, 0, 0};
  const SurfaceMesh surface = Import(builder).surface;
  const size_t count = Sphere().positions.size();
  REQUIRE(surface.positions.size() == 2 * count);
  REQUIRE(surface.parts.size() == 2);
  CHECK(surface.parts[1].node == "mirrored");
  const double plain = SixTimesVolume(surface, surface.parts[0]);
  CHECK(plain > 0.0);
  CHECK(SixTimesVolume(surface, surface.parts[1]) == Approx(2.0 * plain));
  CHECK(Find(surface, "_pin").values[0] == 1.0f);
  CHECK(Find(surface, "_pin").values[count] == 1.0f);
  for (size_t v = count; v < 2 * count; ++v) {
    const auto& p = surface.positions[v];
    const plush::tools::Vec3d outward = {p.x - 5.0, p.y / 4.0, p.z};
    const auto& n = surface.normals[v];
    REQUIRE(Dot(outward, {n.x, n.y, n.z}) > 0.9 * Length(outward));
  }
}

TEST_CASE("Several primitives and meshes keep their own attributes, whatever their order") {
  GltfBuilder builder;
  const SurfaceMesh box = plush::tests::MakeBox({0, 0, 0}, {1, 1, 1});
  const size_t first = builder.AddMesh(Sphere(), "first"), second = builder.AddMesh(box, "second");
  builder.AddAttribute(first, "_pin", HeightPins(Sphere()));
  builder.AddAttribute(second, "_pin", std::vector<float>(8, 0.25f));
  builder.AddMesh(box, "unused");
  // A second primitive for the first mesh: the box, with other values.
  nlohmann::json primitive = builder.json["meshes"][second]["primitives"][0];
  primitive["attributes"]["_pin"] = builder.AddAccessor(std::vector<float>(8, 0.75f), "SCALAR");
  builder.json["meshes"][first]["primitives"].push_back(primitive);
  builder.AddNode("b", second);  // loaded first
  builder.AddNode("a", first);
  const SurfaceMesh surface = Import(builder).surface;
  REQUIRE(surface.parts.size() == 3);
  CHECK(surface.parts[0].name == "second");
  CHECK(surface.parts[1].name == "first");
  CHECK(surface.parts[2].name == "first");
  const auto& pins = Find(surface, "_pin").values;
  REQUIRE(pins.size() == 8 + Sphere().positions.size() + 8);
  CHECK(pins.front() == 0.25f);
  CHECK(pins[8] == 1.0f);
  CHECK(pins.back() == 0.75f);
}

TEST_CASE("Extras of scene, nodes, meshes and materials arrive with their owners") {
  GltfBuilder builder;
  const size_t mesh = builder.AddMesh(Sphere(), "body");
  builder.json["materials"] = {{{"name", "skin"}, {"extras", {{"young", 1e5}}}}};
  builder.json["meshes"][mesh]["primitives"][0]["material"] = 0;
  builder.json["meshes"][mesh]["extras"] = {{"soft", true}};
  builder.json["scenes"][0]["extras"] = {{"author", "someone"}};
  const size_t node = builder.AddNode("", mesh);
  builder.json["nodes"][node].erase("name");
  builder.json["nodes"][node]["extras"] = {{"pin", true}};
  const SurfaceMesh surface = Import(builder).surface;
  CHECK(ExtraOf(surface, "scene") == "{\"author\":\"someone\"}");
  CHECK(ExtraOf(surface, "node:nodes[0]") == "{\"pin\":true}");
  CHECK(ExtraOf(surface, "mesh:body") == "{\"soft\":true}");
  CHECK(ExtraOf(surface, "material:skin") == "{\"young\":100000.0}");
  CHECK(surface.extras.size() == 4);
  CHECK(surface.parts[0].material == "skin");
}

}  // namespace gltf_import_test
