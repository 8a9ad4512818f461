// SPDX-License-Identifier: MIT
#include "simulate/gltf_writer.h"

#include "tools/simulate/glb_file.h"

#include <catch2/catch.hpp>

#include <array>

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
  CHECK(bytes.value().size() % 4 == 0);

  const tests::GlbFile glb(bytes.value());
  CHECK(glb.document["asset"]["version"] == "2.0");
  const auto& view = glb.document["bufferViews"][1];
  CHECK(view["byteOffset"].get<size_t>() % 4 == 0);
  CHECK(view["target"] == 34962);
  CHECK_FALSE(glb.document["bufferViews"][0].contains("target"));
  CHECK(glb.document["accessors"][accessor]["min"] == nlohmann::json({-4.0f, -2.0f, 0.1f}));
  CHECK(glb.document["accessors"][accessor]["max"] == nlohmann::json({1.0f, 5.0f, 3.0f}));
  CHECK(glb.document["accessors"][time_accessor]["max"] == nlohmann::json({2.0f}));
  const auto read = glb.Floats(accessor);
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
