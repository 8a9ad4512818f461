// SPDX-License-Identifier: MIT
#include "export/gltf_writer.h"

#include "tools/simulate/glb_file.h"

#include <catch2/catch.hpp>

#include <array>
#include <cstring>

namespace plush::tools {

TEST_CASE("A .glb frames its document and buffer with aligned, padded chunks") {
  GltfWriter writer("test");
  const std::array<std::byte, 3> odd = {};
  writer.AddView(odd, GltfTarget::kNone);
  const std::array<Vec3, 2> positions = {{{1, -2, 3}, {-4, 5, 0.1f}}};
  const uint32_t accessor = writer.AddPositions(positions);
  const std::array<float, 3> times = {0.0f, 0.5f, 2.0f};
  const uint32_t time_accessor = writer.AddTimes(times);
  const auto bytes = writer.Finish();
  REQUIRE(bytes.ok());
  const auto word = [&bytes](size_t offset) {
    uint32_t value = 0;
    REQUIRE(offset + 4 <= bytes.value().size());
    std::memcpy(&value, bytes.value().data() + offset, 4);
    return value;
  };
  CHECK(word(0) == 0x46546C67);  // "glTF"
  CHECK(word(4) == 2);
  CHECK(word(8) == bytes.value().size());
  const size_t json_bytes = word(12);
  CHECK(json_bytes % 4 == 0);
  CHECK(word(16) == 0x4E4F534A);  // "JSON"
  const size_t binary = 20 + json_bytes;
  CHECK(word(binary) == bytes.value().size() - binary - 8);
  CHECK(word(binary) % 4 == 0);
  CHECK(word(binary + 4) == 0x004E4942);  // "BIN"

  const tests::GlbFile glb(bytes.value());
  CHECK(glb.document["asset"]["version"] == "2.0");
  const auto& view = glb.document["bufferViews"][1];
  CHECK(view["byteOffset"].get<size_t>() % 4 == 0);
  CHECK(view["target"] == 34962);
  CHECK_FALSE(glb.document["bufferViews"][0].contains("target"));
  CHECK(glb.document["accessors"][accessor]["min"] == nlohmann::json({-4.0f, -2.0f, 0.1f}));
  CHECK(glb.document["accessors"][accessor]["max"] == nlohmann::json({1.0f, 5.0f, 3.0f}));
  CHECK(glb.document["accessors"][time_accessor]["max"] == nlohmann::json({2.0f}));
  const auto read = glb.Numbers(accessor);
  CHECK(read == std::vector<float>{1, -2, 3, -4, 5, 0.1f});
}

TEST_CASE("The same calls give the same bytes, and foreign names stay valid UTF-8") {
  const auto write = [] {
    GltfWriter writer("test");
    writer.Add("nodes", {{"name", "bad \xff name"}});
    const std::array<Vec3, 1> positions = {{{1, 2, 3}}};
    writer.AddPositions(positions);
    return writer.Finish().value();
  };
  CHECK(write() == write());
  const tests::GlbFile glb(write());
  CHECK(glb.document["nodes"][0]["name"] == "bad \xef\xbf\xbd name");
}

}  // namespace plush::tools
