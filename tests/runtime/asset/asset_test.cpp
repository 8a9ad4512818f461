// SPDX-License-Identifier: MIT
#include "plush/asset.h"

#include "plush/format/factor_panels.h"
#include "plush/format/layout_fingerprint.h"
#include "plush/format/tet_block.h"
#include "plush/version.h"

#include "asset/regions.h"
#include "base/files.h"
#include "plush_generated.h"
#include "shapes/shape_asset.h"
#include "shapes/tet_shapes.h"

#include <catch2/catch.hpp>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <type_traits>

using plush::Asset;
using plush::Pose;
using plush::Status;
using plush::StatusCode;
using plush::test::ExactBuffer;

namespace asset_test {

std::vector<std::byte> BarBytes() {
  return plush::test::AssetBytesOf(plush::test::TetBox(4, 2, 1, 0.1, 0.05));
}

std::string TemporaryPath(const std::string& name) {
  return (std::filesystem::temp_directory_path() /
          ("plush_asset_test_" + std::to_string(::getpid()) + "_" + name))
      .string();
}

// Whether a stored vector equals the written one bit for bit.
template <class T>
bool SameBytes(std::span<const T> stored, const std::vector<T>& written) {
  return stored.size_bytes() == written.size() * sizeof(T) &&
         std::memcmp(stored.data(), written.data(), stored.size_bytes()) == 0;
}

static_assert(!std::is_copy_constructible_v<Asset>);
static_assert(std::is_nothrow_move_constructible_v<Asset>);

TEST_CASE("An opened asset shows what was written") {
  auto content = plush::test::TwoMaterialContentOf(plush::test::TetBox(4, 2, 1, 0.1, 0.05));
  plush::test::AddClusters(3, &content);
  const ExactBuffer file(plush::tools::WriteAsset(content).value());
  Asset asset;
  const Status status = asset.Open(file.bytes());
  INFO(status.section << ": " << status.reason);
  REQUIRE(status.ok());

  CHECK(asset.is_open());
  CHECK(asset.bytes().data() == file.bytes().data());
  CHECK(SameBytes(asset.visual().positions, content.positions));
  CHECK(SameBytes(asset.visual().normals, content.normals));
  CHECK(SameBytes(asset.visual().tangents, content.tangents));
  CHECK(SameBytes(asset.visual().uvs, content.uvs));
  CHECK(SameBytes(asset.visual().indices, content.indices));
  CHECK(SameBytes(asset.visual().tet_ids, content.tet_ids));
  CHECK(SameBytes(asset.visual().weights, content.weights));
  CHECK(SameBytes(asset.simulation().nodes, content.rest.nodes));
  CHECK(SameBytes(asset.simulation().masses, content.rest.masses));
  CHECK(SameBytes(asset.simulation().tets, content.rest.tets));
  CHECK(SameBytes(asset.simulation().tet_slots, content.rest.tet_slots));
  CHECK(SameBytes(asset.simulation().blocks, content.rest.blocks));
  CHECK(SameBytes(asset.simulation().tet_masses, content.rest.tet_masses));
  CHECK(SameBytes(asset.simulation().tet_materials, content.tet_materials));
  CHECK(SameBytes(asset.simulation().clusters, content.rest.clusters.of_nodes));
  CHECK(asset.simulation().num_clusters == 3);
  CHECK(asset.factor().num_free == content.rest.num_free);
  CHECK(SameBytes(asset.factor().supernodes, content.rest.supernodes));
  CHECK(SameBytes(asset.factor().supernode_of, content.rest.supernode_of));
  CHECK(SameBytes(asset.factor().rows, content.rest.rows));
  CHECK(SameBytes(asset.factor().values, content.rest.values));
  CHECK(asset.factor().dt == 0.01f);
  CHECK(asset.simulation().components == 1);
  CHECK(asset.simulation().density == static_cast<float>(content.rest.density));
  CHECK(asset.simulation().damping == 0.05f);
  CHECK(asset.simulation().solid_volume == Approx(8 * 1e-3).epsilon(0.1));
  CHECK(asset.source_hash() == content.source_hash);
  CHECK(asset.settings() == content.settings_json);
  CHECK(asset.tool_version() == plush::kVersionString);

  REQUIRE(asset.num_parts() == 2);
  CHECK(asset.part(0).name == "body");
  CHECK(asset.part(1).material == "shoe");
  CHECK(asset.part(1).first_index == 3);
  CHECK(asset.part(1).num_indices == content.indices.size() - 3);
  REQUIRE(asset.num_materials() == 2);
  CHECK(asset.material(0).name == "skin");
  CHECK(asset.material(0).young == 1.0e5f);
  CHECK(asset.material(1).name == "shoe");
  CHECK(asset.material(1).poisson == 0.3f);
  CHECK(asset.material(1).density == 1500.0f);
  REQUIRE(asset.num_regions() == 2);
  CHECK(asset.region(0).name == "high");
  CHECK(SameBytes(asset.region(1).nodes, content.regions[1].nodes));
  const Pose without = asset.region(0).rest;
  CHECK(SameBytes(std::span(&without, 1), std::vector<Pose>(1)));
  const Pose rest = asset.region(1).rest;
  CHECK(SameBytes(std::span(&rest, 1), std::vector<Pose>{*content.regions[1].rest}));
}

TEST_CASE("Regions are found by name, in an asset and in its bytes") {
  auto content = plush::test::ContentOf(plush::test::TetBox(2, 1, 1, 0.1));
  content.regions.clear();
  for (const char* name : {"A", "B", "a", "ab", "b", "\u00e9"}) {
    content.regions.push_back({name, {static_cast<uint32_t>(content.regions.size())}});
  }
  content.regions[3].rest = Pose{{1.0f, 2.0f, 3.0f}, {0.0f, 0.6f, 0.0f, 0.8f}};
  const ExactBuffer file(plush::tools::WriteAsset(content).value());
  Asset asset;
  REQUIRE(asset.Open(file.bytes()).ok());
  REQUIRE(plush::NumRegions(file.bytes()) == content.regions.size());
  for (uint32_t i = 0; i < content.regions.size(); ++i) {
    uint32_t region = 99;
    REQUIRE(plush::FindRegion(asset, content.regions[i].name, &region).ok());
    CHECK(region == i);
    const plush::RegionView view = plush::RegionOf(file.bytes(), i);
    CHECK(view.name == content.regions[i].name);
    CHECK(SameBytes(view.nodes, content.regions[i].nodes));
    CHECK(view.has_joint == (i == 3));
    CHECK(view.rest.position.y == (i == 3 ? 2.0f : 0.0f));
    CHECK(view.rest.rotation.w == (i == 3 ? 0.8f : 1.0f));
  }
  for (const char* name : {"", "0", "AA", "aa", "abc", "c", "\u00e8", "\u00ea"}) {
    uint32_t region = 99;
    const Status status = plush::FindRegion(asset, name, &region);
    CHECK(status.code == StatusCode::kInvalidArgument);
    CHECK(std::string(status.section) == "region");
    CHECK(region == 99);
  }
  CHECK(std::string(plush::FindRegion(asset, "A", nullptr).section) == "out_region");
  uint32_t region = 99;
  CHECK(std::string(plush::FindRegion(Asset(), "A", &region).section) == "region");
  CHECK(plush::NumRegions({}) == 0);
}

TEST_CASE("The same content makes the same bytes") { CHECK(BarBytes() == BarBytes()); }

TEST_CASE("An asset opens from a path, moves, and unmaps") {
  const std::string path = TemporaryPath("bar.plush");
  const auto bytes = BarBytes();
  REQUIRE(plush::tools::WriteFileAtomically(path, bytes).ok());
  Asset first;
  REQUIRE(first.Open(path.c_str()).ok());
  std::filesystem::remove(path);  // a mapping outlives the file's name
  CHECK(first.bytes().size() == bytes.size());

  Asset second(std::move(first));
  CHECK_FALSE(first.is_open());  // NOLINT(bugprone-use-after-move): moved-from is empty
  CHECK(first.num_parts() == 0);
  CHECK(first.visual().positions.empty());
  CHECK(second.num_parts() == 2);
  Asset third;
  third = std::move(second);
  CHECK(std::memcmp(third.bytes().data(), bytes.data(), bytes.size()) == 0);

  const ExactBuffer memory(bytes);
  REQUIRE(third.Open(memory.bytes()).ok());
  CHECK(third.bytes().data() == memory.bytes().data());
}

TEST_CASE("A failed open leaves the asset as it was") {
  const ExactBuffer good(BarBytes());
  Asset asset;
  REQUIRE(asset.Open(good.bytes()).ok());
  CHECK(asset.Open(good.bytes().first(good.bytes().size() - 1)).code == StatusCode::kTruncated);
  CHECK(asset.Open(std::span<const std::byte>()).code == StatusCode::kTruncated);
  CHECK(asset.Open("/nonexistent/file.plush").code == StatusCode::kCannotRead);
  CHECK(asset.bytes().data() == good.bytes().data());
  CHECK(asset.simulation().tets.size() == 40);
}

TEST_CASE("What cannot be mapped is refused with a reason") {
  Asset asset;
  CHECK(asset.Open(static_cast<const char*>(nullptr)).code == StatusCode::kInvalidArgument);
  CHECK(asset.Open("/").code == StatusCode::kCannotRead);
  CHECK(asset.Open("/dev/null").code == StatusCode::kCannotRead);
  const std::string path = TemporaryPath("empty.plush");
  REQUIRE(plush::tools::WriteFileAtomically(path, {}).ok());
  const Status status = asset.Open(path.c_str());
  CHECK(status.code == StatusCode::kTruncated);
  CHECK(std::string(status.reason) == "the file is empty");
  std::filesystem::remove(path);
  CHECK_FALSE(asset.is_open());
}

TEST_CASE("Only bases that are multiples of 32 open, and CopyAligned makes one") {
  const auto bytes = BarBytes();
  ExactBuffer storage(std::vector<std::byte>(bytes.size() + 64));
  for (size_t offset = 0; offset < 64; ++offset) {
    const auto place = storage.bytes().subspan(offset, bytes.size());
    std::memcpy(place.data(), bytes.data(), bytes.size());
    Asset asset;
    const Status status = asset.Open(place);
    INFO("offset " << offset);
    CHECK(status.ok() == (offset % 32 == 0));
    if (!status.ok()) CHECK(status.code == StatusCode::kMisaligned);

    std::vector<std::byte> room(bytes.size() + plush::kAssetAlignment - 1);
    const auto copy = plush::CopyAligned(place, room);
    REQUIRE(copy.size() == bytes.size());
    CHECK(asset.Open(copy).ok());
  }
  std::vector<std::byte> small(bytes.size() - 1);
  CHECK(plush::CopyAligned(bytes, small).empty());
}

TEST_CASE("Every vector in a file is aligned, whatever the sizes") {
  for (uint32_t n = 1; n <= 9; ++n) {
    const ExactBuffer file(plush::test::AssetBytesOf(plush::test::TetBox(n, 1, 1, 0.1)));
    Asset asset;
    CHECK(asset.Open(file.bytes()).ok());  // it checks each address
    CHECK(file.bytes().size() % plush::kAssetAlignment == 0);
  }
}

TEST_CASE("Validated bytes open without a check of their numbers") {
  auto content = plush::test::ContentOf(plush::test::TetBox(1, 1, 1, 0.1));
  ExactBuffer file(plush::tools::WriteAsset(content).value());
  Asset asset;
  REQUIRE(asset.Open(file.bytes()).ok());
  const auto offset =
      reinterpret_cast<const std::byte*>(asset.visual().indices.data()) - file.bytes().data();
  file.bytes()[static_cast<size_t>(offset) + 3] = std::byte{0x7f};
  CHECK(asset.Open(file.bytes(), plush::Trust::kValidated).ok());
  const Status status = asset.Open(file.bytes());
  CHECK(status.code == StatusCode::kCorrupt);
  CHECK(std::string(status.section) == "visual.indices");
  CHECK(status.index == 0);
  CHECK(asset.Open(file.bytes().first(64), plush::Trust::kValidated).code ==
        StatusCode::kTruncated);
}

}  // namespace asset_test
