// SPDX-License-Identifier: MIT
// Compressed files read as the plain ones, and damaged ones are refused.
#include "compressed_gltf.h"
#include "import/gltf_document.h"
#include "import/gltf_reader.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>
#include <meshoptimizer.h>

#include <cmath>
#include <random>

namespace gltf_compression_test {

using nlohmann::json;
using plush::Vec3;
using plush::tests::GltfBuilder;
using plush::tools::RawMesh;
using plush::tools::RawScene;
using plush::tools::Result;

Result<RawScene> Read(const GltfBuilder& builder) {
  const std::string glb = builder.Glb();
  return plush::tools::ReadGltf("m.glb", std::as_bytes(std::span(glb)));
}

RawMesh MeshOf(const GltfBuilder& builder) {
  const auto scene = Read(builder);
  INFO((scene.ok() ? "" : scene.error().message));
  REQUIRE(scene.ok());
  REQUIRE(scene.value().meshes.size() == 1);
  return scene.value().meshes[0];
}

// A ball with an attribute, and a skin of bytes.
GltfBuilder Ball() {
  GltfBuilder builder;
  const auto sphere = plush::tests::MakeSphere(1.0, 8, 12);
  const size_t mesh = builder.AddMesh(sphere, "ball");
  builder.AddNode("ball", mesh);
  std::vector<float> pins;
  std::vector<uint8_t> joints;
  std::vector<float> weights;
  for (size_t v = 0; v < sphere.positions.size(); ++v) {
    pins.push_back(static_cast<float>(v));
    joints.insert(joints.end(), {static_cast<uint8_t>(v % 2), 0, 0, 0});
    weights.insert(weights.end(), {1.0f, 0.0f, 0.0f, 0.0f});
  }
  builder.AddAttribute(mesh, "_pin", pins);
  auto& attributes = builder.json["meshes"][mesh]["primitives"][0]["attributes"];
  attributes["JOINTS_0"] = builder.AddAccessor(joints, "VEC4");
  attributes["WEIGHTS_0"] = builder.AddAccessor(weights, "VEC4");
  builder.json["nodes"].push_back({{"name", "a"}});
  builder.json["nodes"].push_back({{"name", "b"}});
  builder.json["scenes"][0]["nodes"] = {0, 1, 2};
  builder.json["skins"] = {{{"joints", {1, 2}}}};
  builder.json["nodes"][0]["skin"] = 0;
  return builder;
}

bool SameWeights(const RawMesh& a, const RawMesh& b) {
  return std::equal(a.weights.begin(), a.weights.end(), b.weights.begin(), b.weights.end(),
                    [](const auto& x, const auto& y) {
                      return x.vertex == y.vertex && x.joint == y.joint && x.weight == y.weight;
                    });
}

TEST_CASE("A ball compressed by meshoptimizer is the same, bit for bit") {
  GltfBuilder builder = Ball();
  const RawMesh plain = MeshOf(builder);
  plush::tests::CompressByMeshopt(&builder);
  const RawMesh read = MeshOf(builder);
  CHECK(std::equal(
      read.positions.begin(), read.positions.end(), plain.positions.begin(), plain.positions.end(),
      [](const Vec3& a, const Vec3& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }));
  CHECK(read.attributes[0].values == plain.attributes[0].values);
  CHECK(SameWeights(read, plain));
  REQUIRE(read.triangles.size() == plain.triangles.size());
  // The codec may turn the corners of a triangle around.
  for (size_t t = 0; t < read.triangles.size(); ++t) {
    auto corners = read.triangles[t];
    for (int turn = 0; turn < 3 && corners != plain.triangles[t]; ++turn) {
      std::rotate(corners.begin(), corners.begin() + 1, corners.end());
    }
    REQUIRE(corners == plain.triangles[t]);
  }
}

TEST_CASE("A ball compressed by Draco is the same within its quantum") {
  GltfBuilder builder = Ball();
  const RawMesh plain = MeshOf(builder);
  plush::tests::CompressByDraco(0, &builder);
  const RawMesh read = MeshOf(builder);
  CHECK(read.triangles == plain.triangles);
  CHECK(read.attributes[0].values == plain.attributes[0].values);
  CHECK(SameWeights(read, plain));
  REQUIRE(read.positions.size() == plain.positions.size());
  for (size_t v = 0; v < read.positions.size(); ++v) {
    const Vec3& p = read.positions[v];
    const Vec3& q = plain.positions[v];
    REQUIRE(std::hypot(p.x - q.x, p.y - q.y, p.z - q.z) < 2.0f / (1 << 14));
    const Vec3& m = read.normals[v];
    const Vec3& n = plain.normals[v];
    REQUIRE(m.x * n.x + m.y * n.y + m.z * n.z > std::cos(0.01));
  }
}

TEST_CASE("Draco data that disagree with their accessors are refused") {
  GltfBuilder builder = Ball();
  plush::tests::CompressByDraco(0, &builder);
  json& primitive = builder.json["meshes"][0]["primitives"][0];
  json& draco = primitive["extensions"]["KHR_draco_mesh_compression"];
  const size_t position = primitive["attributes"]["POSITION"];
  SECTION("another count") { builder.json["accessors"][position]["count"] = 5; }
  SECTION("another type") { builder.json["accessors"][position]["type"] = "VEC2"; }
  SECTION("an attribute that is not there") { draco["attributes"]["POSITION"] = 77; }
  SECTION("no number of an attribute") { draco["attributes"]["POSITION"] = "0"; }
  SECTION("a view that is not there") { draco["bufferView"] = 77; }
  SECTION("a view of something else") { draco["bufferView"] = 0; }
  const auto scene = Read(builder);
  REQUIRE_FALSE(scene.ok());
  CHECK(scene.error().finding_code == "IMPORT_FAILED");
  CHECK(scene.error().message.starts_with("meshes[0].primitives[0]: "));
}

std::vector<std::byte> Encoded(const std::vector<float>& values, size_t stride) {
  std::vector<std::byte> bytes(
      meshopt_encodeVertexBufferBound(values.size() * sizeof(float) / stride, stride));
  bytes.resize(meshopt_encodeVertexBuffer(reinterpret_cast<unsigned char*>(bytes.data()),
                                          bytes.size(), values.data(),
                                          values.size() * sizeof(float) / stride, stride));
  return bytes;
}

// As read from a file, where whole numbers have no sign.
bool Decode(const json& extension, std::span<const std::byte> compressed, uint64_t size,
            std::vector<std::byte>* bytes) {
  return plush::tools::DecodeMeshopt(json::parse(extension.dump()), compressed, size, bytes);
}

TEST_CASE("Filters of meshoptimizer are undone for any number of elements") {
  const uint32_t seed = 7;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> in_ball(-1.0f, 1.0f);
  for (size_t count = 1; count < 20; ++count) {
    std::vector<float> vectors;
    for (size_t i = 0; i < 4 * count; ++i) vectors.push_back(i % 4 == 3 ? 0.0f : in_ball(random));
    for (size_t i = 0; i < count; ++i) {
      float* v = &vectors[4 * i];
      const float length = std::hypot(v[0], v[1], v[2]);
      for (int k = 0; k < 3; ++k) v[k] /= length;
    }
    std::vector<int8_t> normals(4 * count);
    meshopt_encodeFilterOct(normals.data(), count, 4, 8, vectors.data());
    std::vector<float> words(count);
    std::memcpy(words.data(), normals.data(), 4 * count);
    json extension = {
        {"count", count}, {"byteStride", 4}, {"mode", "ATTRIBUTES"}, {"filter", "OCTAHEDRAL"}};
    std::vector<std::byte> bytes;
    REQUIRE(Decode(extension, Encoded(words, 4), 4 * count, &bytes));
    for (size_t i = 0; i < count; ++i) {
      float dot = 0.0f;
      for (size_t k = 0; k < 3; ++k) {
        dot += vectors[4 * i + k] * static_cast<float>(static_cast<int8_t>(bytes[4 * i + k])) / 127;
      }
      REQUIRE(dot > 0.98f);
    }
    std::vector<uint32_t> scaled(4 * count);
    meshopt_encodeFilterExp(scaled.data(), count, 16, 15, vectors.data());
    std::vector<float> stored(4 * count);
    std::memcpy(stored.data(), scaled.data(), 16 * count);
    extension["byteStride"] = 16;
    extension["filter"] = "EXPONENTIAL";
    REQUIRE(Decode(extension, Encoded(stored, 16), 16 * count, &bytes));
    for (size_t i = 0; i < 4 * count; ++i) {
      float value = 0.0f;
      std::memcpy(&value, &bytes[4 * i], 4);
      REQUIRE(std::abs(value - vectors[i]) < 1e-3f);
    }
  }
}

TEST_CASE("Views whose compression makes no sense are refused") {
  const std::vector<float> values(64, 1.0f);
  const std::vector<std::byte> sound = Encoded(values, 16);
  const json extension = {{"count", 16}, {"byteStride", 16}, {"mode", "ATTRIBUTES"}};
  std::vector<std::byte> bytes;
  REQUIRE(Decode(extension, sound, 256, &bytes));
  const auto refused = [&](const char* key, const json& value) {
    json edited = extension;
    edited[key] = value;
    return !Decode(edited, sound, 256, &bytes);
  };
  CHECK(refused("count", 15));
  CHECK(refused("count", 0));
  CHECK(refused("count", 1ull << 53));
  CHECK(refused("byteStride", 0));
  CHECK(refused("byteStride", 1));
  CHECK(refused("byteStride", 256));
  CHECK(refused("mode", "TRIANGLES"));
  CHECK(refused("mode", 0));
  CHECK(refused("filter", "SQUARE"));
  CHECK(refused("filter", "OCTAHEDRAL"));
  CHECK(refused("filter", "QUATERNION"));
  for (size_t size = 0; size < sound.size(); ++size) {
    CHECK_FALSE(Decode(extension, std::span(sound).first(size), 256, &bytes));
  }
  // The version of KHR_meshopt_compression.
  std::vector<std::byte> later = sound;
  later[0] = std::byte{0xa1};
  CHECK_FALSE(Decode(extension, later, 256, &bytes));
}

}  // namespace gltf_compression_test
