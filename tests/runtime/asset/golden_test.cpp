// SPDX-License-Identifier: MIT
// One golden file per format version. Today's must load; all others are refused with an exact text.
// tests/data/README.md explains how to make a golden file.
#include "plush/asset.h"
#include "plush/format/asset_check.h"
#include "plush/format/cdg_records.h"
#include "plush/format/static_mesh.h"
#include "plush/format/tet_block.h"
#include "plush/world.h"

#include "base/files.h"
#include "plush_generated.h"
#include "shapes/shape_asset.h"
#include "shapes/static_asset.h"
#include "shapes/tet_shapes.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <string>

using plush::Asset;
using plush::Status;
using plush::StatusCode;
using plush::test::ExactBuffer;

namespace {

const std::string kData = PLUSH_TEST_DATA_DIR;
const std::string kGolden = kData + "/golden_0_10.plush";

const std::string kStaticGolden = kData + "/golden_0_10_static.plush";

ExactBuffer GoldenFile(const std::string& path = kGolden) {
  const auto bytes = plush::tools::ReadFile(path);
  if (!bytes.ok()) FAIL(bytes.error().message);
  return ExactBuffer(bytes.value());
}

template <class T>
void SetHeader(std::span<std::byte> bytes, flatbuffers::voffset_t field, T value) {
  auto* root = flatbuffers::GetMutableRoot<flatbuffers::Table>(bytes.data());
  REQUIRE(root->SetField<T>(field, value, T{}));
}

}  // namespace

TEST_CASE("The golden file of format 0.10 loads") {
  Asset asset;
  const Status status = asset.Open(kGolden.c_str());
  INFO(status.section << ": " << status.reason);
  REQUIRE(status.ok());
  CHECK(asset.tool_version() == "0.1.0");
  CHECK(asset.simulation().nodes.size() == 30);
  CHECK(asset.simulation().tets.size() == 40);
  CHECK(asset.visual().positions.size() == 168);
  CHECK(asset.num_parts() == 2);
  REQUIRE(asset.num_materials() == 2);
  CHECK(asset.material(1).name == "shoe");
  CHECK(asset.material(1).young == 4.0e5f);
  CHECK(asset.simulation().tet_materials[19] == 0);
  CHECK(asset.simulation().tet_materials[20] == 1);
  CHECK(asset.simulation().num_clusters == 3);
  CHECK(asset.simulation().clusters.size() == 30);
  CHECK(asset.simulation().clusters[0] == 0);
  CHECK(asset.simulation().clusters[29] < 3);
  CHECK(asset.collision().num_triangles() == 56);
  CHECK(asset.collision().thickness > 0.08f);
  CHECK(asset.collision().thickness < 0.1f);
  CHECK(asset.collision().patches[0].thickness > 0.05f);
  REQUIRE(asset.num_regions() == 2);
  CHECK(asset.region(0).nodes.size() == 10);
  CHECK(asset.region(0).rest.rotation.w == 1.0f);
  CHECK(asset.region(1).nodes.size() == 10);
  CHECK(asset.region(1).rest.position.z == 0.2f);
  CHECK(asset.region(1).rest.rotation.y == -0.5f);
  const plush::TuningView tuning = asset.tuning();
  CHECK(tuning.solver == plush::TunedSolver::kImplicit);
  CHECK(tuning.newton_iterations == 2);
  CHECK(tuning.linear_iterations == 12);
  CHECK(tuning.dt == 0.01f);
}

TEST_CASE("The golden static mesh of format 0.10 loads") {
  Asset asset;
  const Status status = asset.Open(kStaticGolden.c_str());
  INFO(status.section << ": " << status.reason);
  REQUIRE(status.ok());
  REQUIRE(asset.is_static());
  const plush::StaticMeshView& mesh = asset.static_mesh();
  CHECK(mesh.positions.size() == 20);
  CHECK(mesh.triangles.size() == 30);
  CHECK(mesh.tree.size() == 3);
  CHECK(mesh.sides == plush::MeshSides::kBoth);
  CHECK(mesh.grid.low.y == -0.5f);
  CHECK(mesh.grid.high.x == 2.0f);
  REQUIRE(asset.num_materials() == 2);
  CHECK(asset.material(0).friction == -1.0f);
  CHECK(asset.material(1).name == "rock");
  CHECK(asset.material(1).friction == 0.75f);
  CHECK(asset.material(1).restitution == 0.25f);
  CHECK(asset.tuning().solver == plush::TunedSolver::kNone);
}

TEST_CASE("The golden file of an older format is refused with this message") {
  const std::string suffix = GENERATE("", "_static");
  const int minor = suffix.empty() ? GENERATE(1, 2, 3, 4, 5, 6, 7, 8, 9) : GENERATE(7, 8, 9);
  const ExactBuffer file =
      GoldenFile(kData + "/golden_0_" + std::to_string(minor) + suffix + ".plush");
  for (const plush::Trust trust : {plush::Trust::kNothing, plush::Trust::kValidated}) {
    Asset asset;
    const Status status = asset.Open(file.bytes(), trust);
    CHECK(status.code == StatusCode::kForeignVersion);
    CHECK(std::string(status.reason) ==
          "the file has another format version than 0.10; bake its source again");
    CHECK_FALSE(asset.is_open());
  }
  plush::FormatVersion version;
  REQUIRE(plush::ReadFormatVersion(file.bytes(), &version));
  CHECK(version.major == 0);
  CHECK(version.minor == minor);
}

TEST_CASE("Every other version is refused with this message") {
  const uint16_t versions[][2] = {{0, 0}, {0, 1}, {0, 9}, {0, 11}, {1, 0}, {1, 10}, {65535, 10}};
  for (const auto& [major, minor] : versions) {
    ExactBuffer file = GoldenFile();
    SetHeader<uint16_t>(file.bytes(), plush::format::Asset::VT_FORMAT_MAJOR, major);
    SetHeader<uint16_t>(file.bytes(), plush::format::Asset::VT_FORMAT_MINOR, minor);
    Asset asset;
    const Status status = asset.Open(file.bytes());
    INFO(major << "." << minor);
    CHECK(status.code == StatusCode::kForeignVersion);
    CHECK(std::string(status.section) == "header");
    CHECK(std::string(status.reason) ==
          "the file has another format version than 0.10; bake its source again");
    plush::FormatVersion version;
    REQUIRE(plush::ReadFormatVersion(file.bytes(), &version));
    CHECK(version.major == major);
    CHECK(version.minor == minor);
  }
}

TEST_CASE("A foreign layout is refused with this message") {
  ExactBuffer file = GoldenFile();
  SetHeader<uint64_t>(file.bytes(), plush::format::Asset::VT_LAYOUT_FINGERPRINT, 12345);
  Asset asset;
  const Status status = asset.Open(file.bytes());
  CHECK(status.code == StatusCode::kLayoutMismatch);
  CHECK(std::string(status.reason) ==
        "the file's records are laid out differently; bake its source again");
}

TEST_CASE("Write the golden file", "[.]") {
  const char* path = std::getenv("PLUSH_GOLDEN_OUT");
  REQUIRE(path != nullptr);
  auto content = plush::test::TwoMaterialContentOf(plush::test::TetBox(4, 2, 1, 0.1, 0.05));
  plush::test::AddClusters(3, &content);
  content.tuning = {plush::TunedSolver::kImplicit, 2, 12};
  const auto bytes = plush::tools::WriteAsset(content);
  REQUIRE(bytes.ok());
  REQUIRE(plush::tools::WriteFileAtomically(path, bytes.value()).ok());
}

// A sphere beside an open box of another material.
TEST_CASE("Write the golden static mesh", "[.]") {
  const char* path = std::getenv("PLUSH_GOLDEN_OUT");
  REQUIRE(path != nullptr);
  auto box = plush::tests::MakeOpenBox({1.0, 0.0, 0.0}, {2.0, 1.0, 1.0});
  box.parts[0].material = "rock";
  auto content = plush::test::StaticContentOf(
      plush::tests::Joined(plush::tests::MakeSphere(0.5, 3, 5), box), plush::MeshSides::kBoth);
  content.materials[1].material.friction = 0.75;
  content.materials[1].material.restitution = 0.25;
  const auto bytes = plush::tools::WriteStaticAsset(content);
  REQUIRE(bytes.ok());
  REQUIRE(plush::tools::WriteFileAtomically(path, bytes.value()).ok());
}
