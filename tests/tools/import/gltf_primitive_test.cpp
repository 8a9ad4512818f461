// SPDX-License-Identifier: MIT
// What primitives may hold: quantised numbers, strips and fans, morph targets, texture transforms.
#include "import/gltf_reader.h"
#include "tools/gltf_builder.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <random>

namespace gltf_primitive_test {

using nlohmann::json;
using plush::Vec2;
using plush::Vec3;
using plush::tests::GltfBuilder;
using plush::tools::RawMesh;
using plush::tools::RawScene;
using plush::tools::Result;
using plush::tools::SurfaceMesh;

Result<RawScene> Read(const GltfBuilder& builder) {
  const std::string glb = builder.Glb();
  return plush::tools::ReadGltf("m.glb", std::as_bytes(std::span(glb)));
}

RawScene ReadOrFail(const GltfBuilder& builder) {
  auto scene = Read(builder);
  INFO((scene.ok() ? "" : scene.error().message));
  REQUIRE(scene.ok());
  return scene.value();
}

const SurfaceMesh& Sphere() {
  static const SurfaceMesh sphere = plush::tests::MakeSphere(1.0, 8, 12);
  return sphere;
}

// A ball, and its first primitive.
struct Ball {
  GltfBuilder builder;
  json* primitive = nullptr;

  Ball() {
    builder.AddNode("ball", builder.AddMesh(Sphere(), "ball"));
    primitive = &builder.json["meshes"][0]["primitives"][0];
  }
  void Set(const std::string& attribute, size_t accessor) {
    (*primitive)["attributes"][attribute] = accessor;
  }
};

// The largest error of positions, and of normals if T has a sign, that are stored as integers of T.
template <class T>
double QuantizedError(bool normalized) {
  constexpr double kOne = std::numeric_limits<T>::max();
  const double low = std::is_signed_v<T> ? -1.0 : 0.0;  // what the least number means
  std::vector<T> positions;
  std::vector<T> normals;
  for (const auto& p : Sphere().positions) {
    for (int k = 0; k < 3; ++k) {
      const double part = std::is_signed_v<T> ? p[k] : (p[k] + 1.0) / 2.0;
      positions.push_back(static_cast<T>(std::lround(part * kOne)));
      normals.push_back(static_cast<T>(std::lround(p[k] * kOne)));
    }
  }
  Ball ball;
  ball.Set("POSITION", ball.builder.AddAccessor(positions, "VEC3", normalized));
  if (std::is_signed_v<T>) ball.Set("NORMAL", ball.builder.AddAccessor(normals, "VEC3", true));
  ball.builder.json["extensionsRequired"] = {"KHR_mesh_quantization"};
  const RawMesh mesh = ReadOrFail(ball.builder).meshes[0];
  const double unit = (normalized ? 1.0 : kOne) / (low < 0.0 ? 1.0 : 2.0);
  double error = 0.0;
  for (size_t v = 0; v < mesh.positions.size(); ++v) {
    const auto& p = Sphere().positions[v];
    const auto& q = mesh.positions[v];
    const auto& n = mesh.normals[v];
    const double values[] = {q.x, q.y, q.z};
    const double directions[] = {n.x, n.y, n.z};
    for (int k = 0; k < 3; ++k) {
      const double placed = values[k] / unit + (low < 0.0 ? 0.0 : -1.0);
      error = std::max(error, std::abs(placed - p[k]));
      if (std::is_signed_v<T>) error = std::max(error, std::abs(directions[k] - p[k]));
    }
  }
  return error;
}

TEST_CASE("Positions and normals of every integer type come within their quantum") {
  for (const bool normalized : {false, true}) {
    CAPTURE(normalized);
    CHECK(QuantizedError<int8_t>(normalized) < 0.51 / 127);
    CHECK(QuantizedError<uint8_t>(normalized) < 1.01 / 255);
    CHECK(QuantizedError<int16_t>(normalized) < 0.51 / 32767);
    CHECK(QuantizedError<uint16_t>(normalized) < 1.01 / 65535);
  }
}

TEST_CASE("Strips and fans have the triangles of the specification, facing outwards") {
  // A strip up and down a ribbon, and a fan around a corner.
  GltfBuilder builder;
  const std::vector<float> positions = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 2, 0, 1, 2, 0};
  const size_t position = builder.AddAccessor(positions, "VEC3");
  const std::vector<uint16_t> fan = {0, 1, 3, 2};
  builder.json["meshes"] = {
      {{"primitives",
        {{{"mode", 5}, {"attributes", {{"POSITION", position}}}},
         {{"mode", 6},
          {"attributes", {{"POSITION", position}}},
          {"indices", builder.AddAccessor(fan, "SCALAR")}},
         {{"mode", 5},
          {"attributes", {{"POSITION", position}}},
          {"indices", builder.AddAccessor(std::vector<uint8_t>{0, 1}, "SCALAR")}}}}}};
  builder.AddNode("n", 0);
  const RawScene scene = ReadOrFail(builder);
  REQUIRE(scene.meshes.size() == 3);
  CHECK(scene.meshes[0].triangles.size() == 4);
  CHECK(scene.meshes[1].triangles.size() == 2);
  CHECK(scene.meshes[2].triangles.empty());
  double area = 0.0;
  for (const RawMesh& mesh : scene.meshes) {
    for (const auto& t : mesh.triangles) {
      const Vec3 a = mesh.positions[t[0]], b = mesh.positions[t[1]], c = mesh.positions[t[2]];
      const double twice = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
      CHECK(twice > 0.0);
      area += twice / 2.0;
    }
  }
  CHECK(area == Approx(3.0));
}

TEST_CASE("Points, lines and primitives without positions are left out, with a note") {
  Ball ball;
  const json triangles = *ball.primitive;
  auto& primitives = ball.builder.json["meshes"][0]["primitives"];
  for (int mode = 0; mode < 4; ++mode) {
    primitives.push_back(triangles);
    primitives.back()["mode"] = mode;
  }
  primitives.push_back({{"attributes", {{"NORMAL", triangles["attributes"]["NORMAL"]}}}});
  const RawScene scene = ReadOrFail(ball.builder);
  CHECK(scene.meshes.size() == 1);
  REQUIRE(scene.findings.size() == 1);
  CHECK(scene.findings[0].code == "IMPORT_LEFT_OUT");
  CHECK(scene.findings[0].count == 5);
  primitives[0]["mode"] = 7;
  CHECK_FALSE(Read(ball.builder).ok());
}

TEST_CASE("Morph targets have the weights of the node, else of the mesh, else none") {
  const size_t n = Sphere().positions.size();
  Ball ball;
  std::vector<float> up;
  for (size_t v = 0; v < n; ++v) up.insert(up.end(), {0.0f, 1.0f, 0.0f});
  // The second target moves one vertex: zeros, with sparse values.
  const std::vector<uint16_t> where = {7};
  const std::vector<float> what = {4.0f, 0.0f, 0.0f};
  const size_t where_view = ball.builder.AddView(where.data(), 2);
  const size_t what_view = ball.builder.AddView(what.data(), 12);
  const size_t first = ball.builder.AddAccessor(up, "VEC3");
  ball.builder.json["accessors"].push_back(
      {{"count", n},
       {"componentType", 5126},
       {"type", "VEC3"},
       {"sparse",
        {{"count", 1},
         {"indices", {{"bufferView", where_view}, {"componentType", 5123}}},
         {"values", {{"bufferView", what_view}}}}}});
  ball.primitive = &ball.builder.json["meshes"][0]["primitives"][0];
  (*ball.primitive)["targets"] = {{{"POSITION", first}}, {{"POSITION", first + 1}}};
  const auto moved = [&ball](uint32_t v) {
    const RawScene scene = ReadOrFail(ball.builder);
    const Vec3 p = scene.meshes[scene.nodes[0].meshes[0]].positions[v];
    const auto& q = Sphere().positions[v];
    return std::pair(p.x - static_cast<float>(q.x), p.y - static_cast<float>(q.y));
  };
  CHECK(moved(7) == std::pair(0.0f, 0.0f));
  ball.builder.json["meshes"][0]["weights"] = {0.5, 0.25};
  CHECK(moved(7).first == Approx(1.0f));
  CHECK(moved(7).second == Approx(0.5f));
  CHECK(moved(8).first == 0.0f);
  ball.builder.json["nodes"][0]["weights"] = {0, 0};
  CHECK(moved(7) == std::pair(0.0f, 0.0f));
  ball.builder.json["nodes"][0]["weights"] = {-1};
  CHECK(moved(8).second == Approx(-1.0f));
  // Two nodes with other weights show two meshes, with the same weights one.
  ball.builder.AddNode("second", 0);
  CHECK(ReadOrFail(ball.builder).meshes.size() == 2);
  ball.builder.json["nodes"][1]["weights"] = {-1, 0};
  CHECK(ReadOrFail(ball.builder).meshes.size() == 1);
  ball.builder.json["accessors"][first]["count"] = n - 1;
  CHECK_FALSE(Read(ball.builder).ok());
}

// What the transform of the base colour makes of two texture coordinates.
Vec2 Transformed(const json& transform, Vec2 uv, const char* set = "TEXCOORD_0") {
  Ball ball;
  std::vector<float> uvs;
  for (size_t v = 0; v < Sphere().positions.size(); ++v) uvs.insert(uvs.end(), {uv.x, uv.y});
  ball.Set(set, ball.builder.AddAccessor(uvs, "VEC2"));
  (*ball.primitive)["material"] = 0;
  ball.builder.json["materials"] = {
      {{"pbrMetallicRoughness", {{"baseColorTexture", {{"index", 0}}}}}}};
  auto& texture = ball.builder.json["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"];
  if (transform.is_object()) texture["extensions"]["KHR_texture_transform"] = transform;
  if (transform.is_number()) texture["texCoord"] = transform;
  const RawMesh mesh = ReadOrFail(ball.builder).meshes[0];
  REQUIRE(mesh.uvs.size() == Sphere().positions.size());
  return mesh.uvs.back();
}

TEST_CASE("Texture coordinates are stored with their transform") {
  const Vec2 uv = {0.421f, 1.016f};
  CHECK(Transformed({}, uv).x == uv.x);
  // The arrow's tip and the marker of Khronos' TextureTransformTest: "Rotation - Correct".
  const Vec2 turned = Transformed({{"rotation", 0.39269908169872414}}, uv);
  CHECK(turned.x == Approx(0.7778).margin(1e-3));
  CHECK(turned.y == Approx(0.7778).margin(1e-3));
  const Vec2 scaled = Transformed(
      {{"offset", {0.5, 0.25}}, {"scale", {2, 4}}, {"rotation", std::acos(-1.0) / 2}}, uv);
  CHECK(scaled.x == Approx(4 * 1.016 + 0.5));
  CHECK(scaled.y == Approx(-2 * 0.421 + 0.25));
  CHECK(Transformed(1, uv, "TEXCOORD_1").y == uv.y);
  CHECK(Transformed({{"texCoord", 2}}, uv, "TEXCOORD_2").y == uv.y);
}

TEST_CASE("Colours without alpha are opaque, and attributes that cannot be read are named") {
  const size_t n = Sphere().positions.size();
  Ball ball;
  ball.Set("COLOR_0", ball.builder.AddAccessor(std::vector<uint16_t>(3 * n, 13107), "VEC3", true));
  ball.Set("COLOR_1", ball.builder.AddAccessor(std::vector<float>(4 * n, 0.5f), "VEC4"));
  RawScene scene = ReadOrFail(ball.builder);
  REQUIRE(scene.meshes[0].attributes.size() == 8);
  CHECK(scene.meshes[0].attributes[0].name == "COLOR_0.r");
  CHECK(scene.meshes[0].attributes[0].values[3] == Approx(0.2f));
  CHECK(scene.meshes[0].attributes[3].name == "COLOR_0.a");
  CHECK(scene.meshes[0].attributes[3].values[3] == 1.0f);
  CHECK(scene.meshes[0].attributes[7].values[3] == 0.5f);
  CHECK(scene.findings.empty());
  ball.Set("NORMAL", 99);
  ball.Set("TEXCOORD_0", ball.builder.AddAccessor(std::vector<float>(2 * n - 2, 0.5f), "VEC2"));
  scene = ReadOrFail(ball.builder);
  CHECK(scene.meshes[0].normals.empty());
  CHECK(scene.meshes[0].uvs.empty());
  REQUIRE(scene.findings.size() == 1);
  CHECK(scene.findings[0].code == "IMPORT_ATTRIBUTE");
  CHECK(scene.findings[0].count == 2);
  CHECK(scene.findings[0].message.find("meshes[0].primitives[0]: NORMAL") == 0);
  ball.Set("POSITION", 99);
  CHECK_FALSE(Read(ball.builder).ok());
}

TEST_CASE("Indices beyond 2^24 stay whole") {
  Ball ball;
  const std::vector<uint32_t> indices = {0, 1, (1u << 24) + 1};
  (*ball.primitive)["indices"] = ball.builder.AddAccessor(indices, "SCALAR");
  CHECK(ReadOrFail(ball.builder).meshes[0].triangles[0][2] == (1u << 24) + 1);
  (*ball.primitive)["indices"] = ball.builder.AddAccessor(std::vector<float>{0, 1, 2}, "SCALAR");
  CHECK_FALSE(Read(ball.builder).ok());
}

}  // namespace gltf_primitive_test
