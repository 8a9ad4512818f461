// SPDX-License-Identifier: MIT
// Files with random edits of their bytes and of the numbers in their JSON. PLUSH_EDITS_FIRST is the
// first seed; PLUSH_TEST_FULL makes 2,000 files of each kind instead of 100.
#include "compressed_gltf.h"
#include "import/gltf_reader.h"
#include "import/scene_flattening.h"
#include "skip.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>

namespace gltf_edits_test {

using plush::tests::GltfBuilder;
using plush::tools::RawScene;

// Something of all that the reader knows: skins, morph targets, instances, colours, sparse values.
GltfBuilder Plain() {
  GltfBuilder builder;
  const auto sphere = plush::tests::MakeSphere(1.0, 4, 6);
  const size_t n = sphere.positions.size();
  builder.AddNode("ball", builder.AddMesh(sphere, "ball"));
  builder.AddNode("many", builder.AddMesh(sphere, "many"));
  auto& primitive = builder.json["meshes"][0]["primitives"][0];
  auto& attributes = primitive["attributes"];
  attributes["JOINTS_0"] = builder.AddAccessor(std::vector<uint8_t>(4 * n, 0), "VEC4");
  attributes["WEIGHTS_0"] = builder.AddAccessor(std::vector<uint8_t>(4 * n, 63), "VEC4", true);
  attributes["COLOR_0"] = builder.AddAccessor(std::vector<uint8_t>(4 * n, 99), "VEC4", true);
  attributes["TEXCOORD_0"] = builder.AddAccessor(std::vector<uint16_t>(2 * n, 9), "VEC2", true);
  attributes["_pin"] = builder.AddAccessor(std::vector<float>(n, 0.5f), "SCALAR");
  primitive["targets"] = {
      {{"POSITION", builder.AddAccessor(std::vector<float>(3 * n, 0.5f), "VEC3")}}};
  builder.json["meshes"][0]["weights"] = {0.5};
  builder.json["skins"] = {{{"joints", {1, 0}}}};
  builder.json["nodes"][0]["skin"] = 0;
  builder.json["nodes"][1]["extensions"]["EXT_mesh_gpu_instancing"]["attributes"] = {
      {"TRANSLATION", builder.AddAccessor(std::vector<float>(9, 1.0f), "VEC3")}};
  builder.json["materials"] = {
      {{"pbrMetallicRoughness",
        {{"baseColorFactor", {1, 0.5, 0, 1}},
         {"baseColorTexture",
          {{"index", 0}, {"extensions", {{"KHR_texture_transform", {{"scale", {2, 2}}}}}}}}}}}};
  primitive["material"] = 0;
  return builder;
}

void AddSparse(GltfBuilder* builder) {
  const std::vector<uint8_t> where = {0, 2, 5, 7};
  const std::vector<float> what(12, 2.0f);
  auto& accessor = builder->json["accessors"][0];
  accessor["sparse"] = {
      {"count", 4},
      {"indices", {{"bufferView", builder->AddView(where.data(), 4)}, {"componentType", 5121}}},
      {"values", {{"bufferView", builder->AddView(what.data(), 48)}}}};
}

std::string Sample(int kind) {
  GltfBuilder builder = Plain();
  if (kind == 0) AddSparse(&builder);
  if (kind == 1) plush::tests::CompressByMeshopt(&builder);
  if (kind == 2) plush::tests::CompressByDraco(0, &builder);
  return builder.Glb();
}

// Another digit in one of the numbers of the JSON, or another byte anywhere.
void Edit(std::mt19937* random, std::string* bytes) {
  const size_t json_end = std::min(bytes->find("BIN"), bytes->size());
  for (int attempt = 0; (*random)() % 2 == 0 && attempt < 100; ++attempt) {
    char& c = (*bytes)[20 + (*random)() % (json_end - 20)];
    if (c < '0' || c > '9') continue;
    c = "0123456789e.-"[(*random)() % 13];
    return;
  }
  (*bytes)[(*random)() % bytes->size()] = static_cast<char>((*random)());
}

// Whether a file is read. What is read, the parent process accepts.
bool Reads(const std::string& bytes) {
  // Without spare room, so that a sanitizer sees reads beyond the end.
  const auto exact = std::make_unique<char[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), exact.get());
  const auto read = plush::tools::ReadGltf(
      "/nowhere/m.glb", std::as_bytes(std::span<const char>(exact.get(), bytes.size())));
  if (!read.ok()) {
    REQUIRE_FALSE(read.error().finding_code.empty());
    return false;
  }
  char* text = nullptr;
  size_t size = 0;
  std::FILE* file = ::open_memstream(&text, &size);
  REQUIRE(plush::tools::WriteRawScene(read.value(), file));
  std::fclose(file);
  const auto parsed = plush::tools::ParseRawScene(std::as_bytes(std::span<char>(text, size)));
  std::free(text);
  INFO((parsed.ok() ? "" : parsed.error().message));
  REQUIRE(parsed.ok());
  (void)plush::tools::FlattenScene(parsed.value(), {1.0, 'Y'});
  return true;
}

TEST_CASE("Edited glTF files are refused with a reason or read", "[long]") {
  const char* first = std::getenv("PLUSH_EDITS_FIRST");
  const uint32_t seed = first == nullptr ? 1 : static_cast<uint32_t>(std::atoi(first));
  const int edits = plush::tests::FullTests() ? 2000 : 100;
  for (int kind = 0; kind < 3; ++kind) {
    const std::string sound = Sample(kind);
    REQUIRE(Reads(sound));
    int num_read = 0;
    for (int i = 0; i < edits; ++i) {
      const auto number = seed + static_cast<uint32_t>(i);
      INFO("kind " << kind << ", seed " << number);
      std::mt19937 random(number);
      std::string bytes = sound;
      const size_t changes = 1 + random() % 4;
      for (size_t k = 0; k < changes; ++k) Edit(&random, &bytes);
      num_read += Reads(bytes) ? 1 : 0;
    }
    CHECK(num_read > 0);
    CHECK(num_read < edits);
  }
}

}  // namespace gltf_edits_test
