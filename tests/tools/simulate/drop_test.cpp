// SPDX-License-Identifier: MIT
// From a mesh file to a body at rest on the ground: bake, drop, and hold the run to physics.

#include "bake/bake.h"
#include "base/files.h"
#include "import/import.h"
#include "simulate/rest_bounds.h"
#include "simulate/scene.h"
#include "simulate/scene_world.h"
#include "skip.h"
#include "tools/procedural_meshes.h"
#include "tools/simulate/ball_asset.h"
#include "tools/simulate/drop_measures.h"

#include <catch2/catch.hpp>

#include <cstdio>
#include <filesystem>
#include <set>

namespace plush::tests {
namespace {

constexpr double kYoung = 1.0e5;

tools::ImportedModel ImportOrFail(const std::string& path, double scale) {
  tools::FindingList findings;
  tools::ImportSettings settings;
  settings.scale = scale;
  settings.helper = PLUSH_IMPORT_EXECUTABLE;
  auto model = tools::ImportModel(path, settings, &findings);
  if (!model.ok()) FAIL(model.error().message);
  return std::move(model.value());
}

double LongestSide(const tools::SurfaceMesh& mesh) {
  REQUIRE_FALSE(mesh.positions.empty());
  Vec3d low = mesh.positions[0];
  Vec3d high = low;
  for (const Vec3d& p : mesh.positions) {
    low = Min(low, p);
    high = Max(high, p);
  }
  const Vec3d extent = high - low;
  return std::max({extent.x, extent.y, extent.z});
}

// Bakes the model at `path`, scaled so that its longest side is 1 m, into `asset_path`.
void BakeScaled(const std::string& path, const std::string& asset_path) {
  const double scale = 1.0 / LongestSide(ImportOrFail(path, 1.0).surface);
  tools::FindingList findings;
  tools::BakeSettings settings;
  settings.material = {kYoung, 0.4, 1000.0};
  const auto baked = tools::Bake(ImportOrFail(path, scale), settings, &findings);
  if (!baked.ok()) FAIL(baked.error().message);
  REQUIRE(tools::WriteFileAtomically(asset_path, baked.value().bytes).ok());
}

DropMeasures Drop(const std::string& asset_path, uint32_t steps) {
  auto scene = tools::DropScene(asset_path);
  if (!scene.ok()) FAIL(scene.error().message);
  scene.value().steps = steps;
  tools::FindingList findings;
  auto scene_world = tools::BuildSceneWorld(scene.value(), &findings);
  if (!scene_world.ok()) FAIL(scene_world.error().message);
  const auto record = tools::RunScene(scene.value(), &scene_world.value(),
                                      [](const tools::SceneWorld&, uint32_t) { return true; });
  if (!record.ok()) FAIL(record.error().message);
  REQUIRE(record.value().steps.size() == steps);
  const Vec3d extent = Extent(tools::SurfaceBounds(*scene_world.value().assets[0]));
  return MeasureDrop(record.value(), scene.value().dt, {extent.y, Length(extent), kYoung});
}

// Three seconds after it is let go a body has lost nearly all its energy, but need not lie still:
// the material has no damping of its own, and backward Euler takes only the share omega^2 dt / 2
// per second from the amplitude of a motion of angular frequency omega, about a tenth for a body
// that rocks at 0.7 Hz. So the speed left is bounded by a share of the speed of impact, and what
// the solver owes, that no step adds energy but a little where contacts change, is asserted as
// such.
void DropModel(const std::string& path) {
  INFO(path);
  const TemporaryFolder folder;
  BakeScaled(path, folder / "body.plush");
  const DropMeasures drop = Drop(folder / "body.plush", 300);
  const std::string text = ToText(drop);
  if (FullTests()) {
    std::printf("%s: %s\n", std::filesystem::path(path).filename().c_str(), text.c_str());
  }
  INFO(text);
  CHECK(drop.end_kinetic < 5.0e-3);
  CHECK(drop.late_speed < 0.35 * drop.impact_speed);
  CHECK(drop.end_elastic < 0.01);
  CHECK(drop.inverted_tets == 0);
  CHECK(drop.end_volume_change < 0.03);
  CHECK(drop.impact_energy < 2.0);
  CHECK(drop.late_energy < 0.0);
  CHECK(drop.energy_rise < 1.0e-2);
  CHECK(drop.lowest > -1.0e-3);
}

// Every .obj and .off below `folder`, in order.
std::vector<std::string> MeshesBelow(const std::string& folder) {
  std::set<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".obj" || extension == ".off") paths.insert(entry.path().string());
  }
  return {paths.begin(), paths.end()};
}

}  // namespace

TEST_CASE("The sample models fall, squash and settle") {
  for (const char* name : {"bear", "duck", "octopus"}) {
    DropModel(std::string(PLUSH_SAMPLES_DIR) + "/models/" + name + ".glb");
  }
}

TEST_CASE("Clean and dirty models fall, squash and settle") {
  for (const char* name : {"horse_5k.obj", "dirty/cow.obj"}) {
    const std::string path = TestModelOrSkip(name);
    if (path.empty()) return;
    DropModel(path);
  }
}

TEST_CASE("Dropped bodies come to rest") {
  if (!FullTests()) return Skip("long: set PLUSH_TEST_FULL=1");
  for (const char* name : {"armadillo_10k.obj", "cheburashka_13k.obj", "dirty/bunny.off"}) {
    const std::string path = TestModelOrSkip(name);
    if (path.empty()) return;
    const TemporaryFolder folder;
    BakeScaled(path, folder / "body.plush");
    INFO(name);
    CHECK(Drop(folder / "body.plush", 6000).late_speed < 0.02);
  }
}

TEST_CASE("Every test model falls, squashes and settles") {
  if (!FullTests()) return Skip("long: set PLUSH_TEST_FULL=1");
  const std::string path = TestModelOrSkip("README.md");
  if (path.empty()) return;
  for (const std::string& model : MeshesBelow(std::filesystem::path(path).parent_path())) {
    DropModel(model);
  }
}

}  // namespace plush::tests
