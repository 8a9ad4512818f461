// SPDX-License-Identifier: MIT
// Bakes mesh files, drops the bodies, and checks that they fall, squash and settle as physics
// demands.
#include "simulate/open_asset.h"
#include "simulate/scene.h"
#include "simulate/scene_world.h"
#include "simulate/simulation_run.h"
#include "skip.h"
#include "sweep.h"
#include "tools/paths.h"
#include "tools/procedural_meshes.h"
#include "tools/simulate/ball_asset.h"
#include "tools/simulate/sample_folder.h"
#include "tools/simulate/scaled_model.h"
#include "tools/test_models.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>

namespace plush::tests::drop_test {
namespace {

// The body that was dropped.
struct DroppedBody {
  double height_m = 0.0;  // extent of the render surface along up at rest, H
  double size_m = 0.0;    // diagonal of its bounding box
  double young_pa = 0.0;  // E
};

// Measures of a drop from 0.3 H over a whole run. V is the cage's volume, m the mass, g 9.81
// m/s^2.
struct DropMeasures {
  double end_kinetic = 0.0;        // kinetic energy at the end / (m g H)
  double late_speed = 0.0;         // fastest node over the last 50 steps [m/s]
  double impact_speed = 0.0;       // of a fall from 0.3 H [m/s]
  double end_elastic = 0.0;        // elastic energy at the end / (E V)
  uint32_t inverted_tets = 0;      // most in any step
  double end_volume_change = 0.0;  // |volume / rest volume - 1| at the end
  double energy_gain = 0.0;        // largest gain of total energy over its start / largest kinetic
                                   // energy
  double late_energy = 0.0;        // the gain from 0.2 s after the first contact on / (m g 0.3 H)
  double energy_rise = 0.0;        // largest rise of total energy in one step / (m g 0.3 H)
  double lowest = 0.0;             // least height of the surface above the plane / size
  double end_gap = 0.0;            // that height at the end / H
};

constexpr double kGravity = 9.81;
constexpr double kDropHeight = 0.3;
constexpr size_t kLateSteps = 50;
constexpr double kImpactSeconds = 0.2;

double Total(const WorldMeasures& measures) {
  return measures.kinetic_j + measures.elastic_j + measures.gravity_j;
}

// The first step after the impact; the number of steps if nothing ever touched the plane.
size_t EndOfImpact(const tools::RunRecord& record, double dt) {
  const auto& steps = record.steps;
  const auto touch = std::find_if(steps.begin(), steps.end(), [](const tools::StepRecord& step) {
    return step.stats.contacts > 0;
  });
  const auto delay = static_cast<size_t>(std::ceil(kImpactSeconds / dt));
  return std::min(static_cast<size_t>(touch - steps.begin()) + delay, steps.size());
}

// Measures a run of DropScene.
DropMeasures MeasureDrop(const tools::RunRecord& record, double dt, const DroppedBody& body) {
  DropMeasures measures;
  const double weight = record.mass_kg * kGravity;
  const double drop_energy = weight * kDropHeight * body.height_m;
  const double start = record.start.kinetic + record.start.elastic + record.start.gravity;
  const size_t settled = EndOfImpact(record, dt);
  measures.impact_speed = std::sqrt(2.0 * kGravity * kDropHeight * body.height_m);
  measures.late_energy = -INFINITY;
  measures.lowest = INFINITY;
  double gain_before = 0.0, most_gain = -INFINITY, most_kinetic = 0.0;
  for (size_t i = 0; i < record.steps.size(); ++i) {
    const tools::StepRecord& step = record.steps[i];
    const double gain = (Total(step.measures) - start) / drop_energy;
    measures.energy_rise = std::max(measures.energy_rise, gain - gain_before);
    gain_before = gain;
    most_gain = std::max(most_gain, gain);
    most_kinetic = std::max(most_kinetic, step.measures.kinetic_j);
    if (i >= settled) measures.late_energy = std::max(measures.late_energy, gain);
    measures.inverted_tets = std::max(measures.inverted_tets, step.measures.inverted_tets);
    measures.lowest = std::min(measures.lowest, step.cages.lowest_m / body.size_m);
    if (i + kLateSteps < record.steps.size()) continue;
    measures.late_speed = std::max(measures.late_speed, static_cast<double>(step.stats.max_speed));
  }
  measures.energy_gain = most_gain * drop_energy / most_kinetic;
  const tools::StepRecord& last = record.steps.back();
  measures.end_kinetic = last.measures.kinetic_j / (weight * body.height_m);
  measures.end_elastic = last.measures.elastic_j / (body.young_pa * record.rest_volume_m3);
  measures.end_gap = last.cages.lowest_m / body.height_m;
  measures.end_volume_change =
      std::max(1.0 - last.cages.min_volume_ratio, last.cages.max_volume_ratio - 1.0);
  return measures;
}

// All numbers in one line.
std::string ToText(const DropMeasures& m) {
  char text[320];
  std::snprintf(text, sizeof(text),
                "end kinetic %.2e, late speed %.4f of %.2f m/s, end elastic %.2e, inverted %u, "
                "volume change %.4f, energy gain %.4f, late energy %.3f, energy rise %.1e, "
                "lowest %.2e, end gap %.1e",
                m.end_kinetic, m.late_speed, m.impact_speed, m.end_elastic, m.inverted_tets,
                m.end_volume_change, m.energy_gain, m.late_energy, m.energy_rise, m.lowest,
                m.end_gap);
  return text;
}

constexpr double kYoung = 1.0e5;  // [Pa], of BakeScaled

// Six seconds, since a body that lands on its feet may take time to fall over.
constexpr double kSeconds = 6.0;
constexpr double kDt = 0.01;

// Runs a scene of one body of that stiffness [Pa].
DropMeasures Run(const tools::Scene& scene, double young) {
  tools::FindingList findings;
  auto scene_world = tools::BuildSceneWorld(scene, &findings);
  if (!scene_world.ok()) FAIL(scene_world.error().message);
  const auto record = tools::RunScene(scene, &scene_world.value(),
                                      [](const tools::SceneWorld&, uint32_t) { return true; });
  if (!record.ok()) FAIL(record.error().message);
  REQUIRE(record.value().steps.size() == scene.steps);
  const Vec3d extent = tools::SurfaceBounds(*scene_world.value().assets[0]).Extent();
  return MeasureDrop(record.value(), scene.dt, {extent.y, Length(extent), young});
}

// Drops the body for `seconds` in steps of `dt`.
DropMeasures Drop(const std::string& asset_path, float damping, double dt, double seconds) {
  auto scene = tools::DropScene(asset_path);
  if (!scene.ok()) FAIL(scene.error().message);
  scene.value().bodies[0].material.damping = damping;
  scene.value().dt = dt;
  scene.value().steps = static_cast<uint32_t>(std::lround(seconds / dt));
  return Run(scene.value(), kYoung);
}

// Checks what holds for every material.
void CheckPhysics(const DropMeasures& drop) {
  CHECK(drop.end_elastic < 0.01);
  CHECK(drop.inverted_tets == 0);
  CHECK(drop.end_volume_change < 0.03);
  CHECK(drop.energy_gain < 0.01);
  CHECK(drop.late_energy < 0.0);
  CHECK(drop.energy_rise < 1.0e-2);
  CHECK(drop.lowest > -1.0e-3);
}

// Six seconds after its release, a damped body lies still, with its surface on the floor, not its
// cage.
void CheckAtRest(const DropMeasures& drop) {
  CHECK(drop.end_kinetic < 1.0e-3);
  CHECK(drop.late_speed < 0.02);
  CHECK(std::fabs(drop.end_gap) < 1.0e-3);
}

// An undamped body need not lie still, but has lost most of its energy. Backward Euler reduces the
// amplitude of a motion of angular frequency omega by only omega^2 dt / 2 per second: about a tenth
// at 0.7 Hz. The bear also rocks on its seat.
void CheckCalmed(const DropMeasures& drop) {
  CHECK(drop.end_kinetic < 1.0e-2);
  CHECK(drop.late_speed < 0.45 * drop.impact_speed);
}

void DropModel(const std::string& path) {
  const TemporaryFolder folder;
  BakeScaled(path, folder / "body.plush");
  for (const float damping : {0.0f, 0.15f}) {
    const DropMeasures drop = Drop(folder / "body.plush", damping, kDt, kSeconds);
    const std::string name = std::filesystem::path(path).filename().string(), text = ToText(drop);
    if (FullTests()) std::printf("%s, damping %g s: %s\n", name.c_str(), damping, text.c_str());
    INFO(path << ", damping " << damping << " s\n" << text);
    CheckPhysics(drop);
    if (damping > 0.0f) {
      CheckAtRest(drop);
    } else {
      CheckCalmed(drop);
    }
  }
}

// Energy, whatever the time step: kinetic, elastic and gravity's stay below their start and 1% of
// the largest kinetic energy. DropModel drops in steps of kDt.
void CheckEnergy(const std::string& path) {
  const TemporaryFolder folder;
  BakeScaled(path, folder / "body.plush");
  for (const float damping : {0.0f, 0.15f}) {
    for (const double dt : {0.0025, 0.005, 1.0 / 60.0}) {
      const DropMeasures drop = Drop(folder / "body.plush", damping, dt, 1.5);
      const std::string name = std::filesystem::path(path).filename().string(), text = ToText(drop);
      if (FullTests()) {
        std::printf("%s, damping %g s, dt %.4f s: %s\n", name.c_str(), damping, dt, text.c_str());
      }
      INFO(path << ", damping " << damping << " s, dt " << dt << " s\n" << text);
      CHECK(drop.energy_gain < 0.01);
    }
  }
}

}  // namespace

// Cages of so few tets stand far out of the surface.
TEST_CASE("A dropped body starts with its surface, not its cage, 0.3 of its height up", "[long]") {
  const TemporaryFolder folder;
  for (const char* name : {"bear", "duck", "octopus"}) {
    CAPTURE(name);
    BakeSample(folder, std::string("models/") + name + ".glb", {.cage = {.target_tets = 60}});
    const std::string path = folder / (std::string(name) + ".plush");
    const auto scene = tools::DropScene(path);
    if (!scene.ok()) FAIL(scene.error().message);
    const Asset asset = OpenOrFail(path);
    const tools::Box3 surface = tools::SurfaceBounds(asset);
    const double height = surface.Extent().y;
    const double cage = tools::BoundsOf(asset.simulation().nodes).low.y;
    REQUIRE(surface.low.y - cage > 0.01 * height);
    const double lowest = surface.low.y + double(scene.value().bodies[0].pose.position.y);
    CHECK(lowest == Approx(0.3 * height).margin(1e-4 * height));
  }
}

TEST_CASE("The sample models fall, squash and settle", "[long]") {
  for (const char* name : {"bear", "duck", "octopus"}) {
    DropModel(std::string(plush::tests::kSamplesFolder) + "/models/" + name + ".glb");
  }
}

TEST_CASE("The sample models gain no energy as they fall, whatever the time step", "[long]") {
  for (const char* name : {"bear", "duck", "octopus"}) {
    CheckEnergy(std::string(plush::tests::kSamplesFolder) + "/models/" + name + ".glb");
  }
}

// Tets that were pressed flat threw such bodies up with hundreds of times the energy of their fall.
TEST_CASE("Nearly incompressible samples stay bounded on the floor", "[long]") {
  const TemporaryFolder folder;
  SweepCells cells;
  for (const char* name : {"bear", "duck", "octopus"}) {
    BakeScaled(std::string(plush::tests::kSamplesFolder) + "/models/" + name + ".glb",
               folder / "body.plush");
    for (const float poisson : {0.48f, 0.49f, 0.499f}) {
      for (const float young : {2.0e3f, 1.0e4f, 1.0e5f, 1.0e6f}) {
        for (const float friction : {0.0f, 0.5f}) {
          if (!cells.TakesNext()) continue;
          auto scene = tools::DropScene(folder / "body.plush");
          if (!scene.ok()) FAIL(scene.error().message);
          scene.value().bodies[0].material.young = young;
          scene.value().bodies[0].material.poisson = poisson;
          scene.value().colliders[0].desc.friction = friction;
          scene.value().steps = 150;
          const DropMeasures drop = Run(scene.value(), young);
          INFO(name << ", nu " << poisson << ", E " << young << ", friction " << friction << '\n'
                    << ToText(drop));
          CHECK(drop.energy_gain < 0.01);
          CHECK(drop.inverted_tets == 0);
          CHECK(drop.lowest > -1.0e-3);
        }
      }
    }
  }
}

TEST_CASE("Clean and dirty models fall, squash and settle", "[long]") {
  for (const char* name : {"horse_5k.obj", "dirty/cow.obj"}) {
    const std::string path = TestModelOrSkip(name);
    if (path.empty()) return;
    DropModel(path);
  }
}

TEST_CASE("Every test model falls, squashes and settles") {
  if (!FullTests()) return Skip("long: set PLUSH_TEST_FULL=1");
  const std::string path = TestModelOrSkip("README.md");
  if (path.empty()) return;
  const auto models = MeshesBelow(std::filesystem::path(path).parent_path());
  REQUIRE_FALSE(models.empty());
  std::printf("%zu test models\n", models.size());
  for (const std::string& model : models) {
    DropModel(model);
    CheckEnergy(model);
  }
}

}  // namespace plush::tests::drop_test
