// SPDX-License-Identifier: MIT
// The scenes of samples/scenes/contact that contact_scenes_test.cpp leaves out: those with detailed
// bodies, the rides of resolutions.sh, and 320 bears in a funnel. Bodies touch, stay finite and
// unfrozen, and are hardly in each other.

#include "bake/bake.h"
#include "base/files.h"
#include "scenes/scene_measures.h"
#include "simulate/scene.h"
#include "skip.h"
#include "tools/paths.h"
#include "tools/procedural_meshes.h"
#include "tools/simulate/built_scene.h"
#include "tools/simulate/sample_folder.h"
#include "tools/test_models.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

namespace plush::tests::contact_models_test {
namespace {

// The models stand on their feet, as soft as bake.sh makes them.
tools::BakeSettings Toy(double young, const tools::ImportSettings& import = {}) {
  return tools::BakeSettings{
      .cage = {.target_tets = 120}, .material = {young, 0.4, 1000.0, 0.15}, .import = import};
}

void BakeModel(const std::string& source, const std::string& path,
               const tools::BakeSettings& settings) {
  tools::FindingList findings;
  const auto baked = tools::Bake(ImportOrFail(source, settings.import), settings, &findings);
  if (!baked.ok()) FAIL(baked.error().message);
  REQUIRE(tools::WriteFileAtomically(path, baked.value().bytes).ok());
}

tools::Scene LoadOrFail(const std::string& path) {
  auto scene = tools::LoadScene(path);
  if (!scene.ok()) FAIL(scene.error().message);
  return std::move(scene.value());
}

// Runs `steps` of a scene, or ten thousand in the long form.
SceneMeasures Run(tools::Scene scene, uint32_t steps) {
  scene.steps = FullTests() ? 10000 : steps;
  auto measures = MeasureScene(scene, {.every = FullTests() ? 500u : 100u});
  if (!measures.ok()) FAIL(measures.error().message);
  const SceneMeasures& m = measures.value();
  CHECK(m.record.steps.size() == scene.steps);
  CHECK(m.finite);
  CHECK((m.record.flags & ~uint32_t{kStepBodiesFast}) == kStepOk);
  CHECK(m.first_touch > 0);
  CHECK(m.record.steps.back().measures.inverted_tets == 0);
  return std::move(measures.value());
}

// A ride, on a mount that is held where the scene says.
void CheckRide(const tools::Scene& scene) {
  const SceneMeasures ride = Run(scene, 300);
  CHECK(ride.deepest().overlap.depth_share < 0.02f);
  CHECK(ride.record.steps.back().stats.body_pairs == 1);  // the rider has not fallen off
}

constexpr const char* kMountPins =
    R"({"regions": [{"name": "pin", "box": [[-1, -1, -2], [1, -0.26, 2]]}]})";

}  // namespace

TEST_CASE("Detailed bodies in a nest, a ring and on a slide stay finite and out of each other",
          "[long]") {
  const std::string armadillo = TestModelOrSkip("armadillo_10k.obj"),
                    horse = TestModelOrSkip("horse_10k.obj"),
                    cheburashka = TestModelOrSkip("cheburashka_13k.obj");
  if (armadillo.empty() || horse.empty() || cheburashka.empty()) return;
  const TemporaryFolder folder;
  for (const char* name : {"nest", "ring"})
    BakeSample(folder, std::string("scenes/contact/") + name + ".obj", Toy(1.0e5));
  BakeModel(armadillo, folder / "armadillo_10k.plush", Toy(4.0e4, {.scale = 0.7}));
  BakeModel(horse, folder / "horse_10k.plush", Toy(2.0e4, {.up = tools::UpAxis::kZ, .scale = 4.0}));
  BakeModel(cheburashka, folder / "cheburashka_13k.plush", Toy(4.0e4, {.scale = 0.8}));
  std::filesystem::copy(std::string(plush::tests::kSamplesFolder) + "/scenes/contact", folder / "");
  for (const std::string name : {"nest_models", "ring_models", "slide_models"}) {
    CAPTURE(name);
    const SceneMeasures measures = Run(LoadOrFail(folder / (name + ".json")), 300);
    CHECK(measures.deepest().overlap.depth_share < 0.04f);
    CHECK(measures.overlaps.back().overlap.depth_share < 0.02f);
  }
}

TEST_CASE("An octopus rides on a duck at three resolutions of their surfaces", "[long]") {
  const TemporaryFolder folder;
  for (const uint32_t triangles : {600u, 2500u, 0u}) {
    CAPTURE(triangles);
    tools::BakeSettings mount = Toy(1.0e5), rider = Toy(6.0e4);
    for (tools::BakeSettings* settings : {&mount, &rider}) {
      if (triangles > 0) settings->simplify = {triangles, 0.02};
    }
    const std::string models = std::string(plush::tests::kSamplesFolder) + "/models/";
    BakeModel(models + "duck.glb", folder / "mount.plush", mount);
    BakeModel(models + "octopus.glb", folder / "rider.plush", rider);
    std::filesystem::copy(
        std::string(plush::tests::kSamplesFolder) + "/scenes/contact/resolutions.json",
        folder / "ride.json", std::filesystem::copy_options::overwrite_existing);
    CheckRide(LoadOrFail(folder / "ride.json"));
  }
}

TEST_CASE("An armadillo rides on a horse at three resolutions of their surfaces", "[long]") {
  const TemporaryFolder folder;
  const char* const sizes[3][2] = {{"1k", "1k"}, {"10k", "10k"}, {"86k", "97k"}};
  std::filesystem::copy(
      std::string(plush::tests::kSamplesFolder) + "/scenes/contact/resolutions_models.json",
      folder / "");
  for (const auto& [of_armadillo, of_horse] : sizes) {
    CAPTURE(of_armadillo, of_horse);
    if (!FullTests() && of_horse == std::string("97k")) continue;  // takes long to bake
    const std::string armadillo =
                          TestModelOrSkip(std::string("armadillo_") + of_armadillo + ".obj"),
                      horse = TestModelOrSkip(std::string("horse_") + of_horse + ".obj");
    if (armadillo.empty() || horse.empty()) return;
    tools::BakeSettings rider = Toy(5.0e4, {.scale = 1.6}),
                        mount = Toy(2.0e5, {.up = tools::UpAxis::kZ, .scale = 6.0});
    rider.material.density = 150.0;
    rider.material.friction = 1.0;
    mount.pins_json = kMountPins;
    BakeModel(armadillo, folder / "rider.plush", rider);
    BakeModel(horse, folder / "mount.plush", mount);
    CheckRide(LoadOrFail(folder / "resolutions_models.json"));
  }
}

// The time of thousands of steps goes into thousands of contacts.
TEST_CASE("320 bears fall into a funnel and stay finite", "[long]") {
  const TemporaryFolder folder;
  tools::BakeSettings bear = Toy(4.0e4);
  bear.cage.target_tets = 60;
  bear.simplify = {400, 0.03};
  BakeSample(folder, "models/bear.glb", bear);
  BakeStaticSample(folder, "scenes/contact/funnel.obj");
  std::filesystem::copy(
      std::string(plush::tests::kSamplesFolder) + "/scenes/contact/funnel_320.json", folder / "");
  tools::Scene scene = LoadOrFail(folder / "funnel_320.json");
  scene.steps = FullTests() ? 300 : 60;
  tools::SceneWorld built = tools::BuildOrFail(scene);
  const tools::RunRecord record = tools::RunOrFail(scene, &built);
  REQUIRE(record.steps.size() == scene.steps);
  CHECK(built.bodies.size() == 320);
  CHECK((record.flags & kStepBodyFrozen) == 0);
  if (!FullTests()) CHECK((record.flags & kStepContactsDropped) == 0);  // later, bears are buried
  uint32_t pairs = 0, contacts = 0;
  for (const tools::StepRecord& step : record.steps) {
    pairs = std::max(pairs, step.stats.body_pairs);
    contacts = std::max(contacts, step.stats.contacts);
    REQUIRE(std::isfinite(step.measures.kinetic_j));
    REQUIRE(std::isfinite(step.measures.elastic_j));
  }
  CHECK(pairs > 20);
  CHECK(contacts > 100);
}

}  // namespace plush::tests::contact_models_test
