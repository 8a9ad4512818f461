// SPDX-License-Identifier: MIT
#include "bake/asset_writer.h"

#include "bake/content_hash.h"
#include "plush_generated.h"
#include "shapes/shape_asset.h"
#include "shapes/tet_shapes.h"

#include <catch2/catch.hpp>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <limits>

using Catch::Matchers::Contains;
using plush::tools::AssetContent;
using plush::tools::ExitCode;
using plush::tools::WriteAsset;

namespace asset_writer_test {

AssetContent Content() { return plush::test::ContentOf(plush::test::TetBox(2, 1, 1, 0.1)); }

TEST_CASE("Content that the runtime would refuse is not written, and the reason is named") {
  AssetContent content = Content();
  SECTION("a number that is none") {
    content.positions[4].y = std::numeric_limits<float>::quiet_NaN();
    const auto bytes = WriteAsset(content);
    REQUIRE_FALSE(bytes.ok());
    CHECK(bytes.error().exit_code == ExitCode::kInvalidInput);
    CHECK_THAT(bytes.error().message, Contains("visual.positions[4]"));
  }
  SECTION("a missing section") {
    content.normals.pop_back();
    CHECK_THAT(WriteAsset(content).error().message, Contains("visual.normals"));
  }
  SECTION("regions out of order") {
    std::swap(content.regions[0], content.regions[1]);
    CHECK_THAT(WriteAsset(content).error().message, Contains("simulation.regions"));
  }
  SECTION("a mass too small for float") {
    content.rest.masses[0] = 0.0f;
    CHECK_THAT(WriteAsset(content).error().message, Contains("simulation.masses[0]"));
  }
}

TEST_CASE("The content hash is XXH3 of the file without the hash, and covers every other byte") {
  const auto bytes = WriteAsset(Content()).value();
  const auto field = plush::tools::FindContentHash(bytes);
  REQUIRE(field.has_value());
  auto zeroed = bytes;
  std::fill_n(zeroed.begin() + static_cast<std::ptrdiff_t>(*field), 8, std::byte{0});
  const uint64_t hash = XXH3_64bits(zeroed.data(), zeroed.size());
  CHECK(plush::tools::ContentHash(bytes, *field) == hash);
  CHECK(plush::format::GetAsset(bytes.data())->content_hash() == hash);
  for (size_t i = 0; i < bytes.size(); i += 7) {
    auto changed = bytes;
    changed[i] ^= std::byte{0x10};
    const bool in_field = i >= *field && i < *field + 8;
    CHECK((plush::tools::ContentHash(changed, *field) == hash) == in_field);
  }
}

TEST_CASE("Bytes that hold no root table have no content hash") {
  const auto bytes = WriteAsset(Content()).value();
  CHECK_FALSE(plush::tools::FindContentHash({}).has_value());
  CHECK_FALSE(plush::tools::FindContentHash(std::span(bytes).first(7)).has_value());
  auto far = bytes;
  std::memset(far.data(), 0x7f, 4);
  CHECK_FALSE(plush::tools::FindContentHash(far).has_value());
}

TEST_CASE("Sizes are written, and empty vectors are left out") {
  AssetContent content = Content();
  content.uvs.clear();
  content.tangents.clear();
  content.regions.clear();
  const auto bytes = WriteAsset(content).value();
  const auto* root = plush::format::GetAsset(bytes.data());
  CHECK(root->file_bytes() == bytes.size());
  CHECK(root->visual()->uvs() == nullptr);
  CHECK(root->visual()->tangents() == nullptr);
  CHECK(bytes.size() % 32 == 0);
}

}  // namespace asset_writer_test
