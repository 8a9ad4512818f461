// SPDX-License-Identifier: MIT
// The scenes of samples/scenes do what they show.

#include "simulate/scene.h"
#include "simulate/scene_world.h"
#include "simulate/simulation_run.h"
#include "skip.h"
#include "sweep.h"
#include "tools/paths.h"
#include "tools/procedural_meshes.h"
#include "tools/simulate/built_scene.h"
#include "tools/simulate/sample_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace plush::tests::sample_scenes_test {
namespace {

constexpr const char* kNames[] = {"ramp",  "press",    "heap",    "pile", "platform", "kick",
                                  "steps", "conveyor", "terrain", "hang", "rail"};

// The models, baked with materials like those of samples/run.sh, and the scenes.
class SampleFolder {
 public:
  SampleFolder() {
    for (const char* name : {"bear", "duck", "octopus"}) {
      tools::BakeSettings settings = {.material = {4.0e4, 0.4, 1000.0, 0.15}};
      BakeSample(folder_, std::string("models/") + name + ".glb", settings);
    }
    std::filesystem::copy(std::string(plush::tests::kSamplesFolder) + "/scenes", folder_ / "");
    BakeStaticSample(folder_, "scenes/hills.obj");
  }
  std::string operator/(const std::string& name) const { return folder_ / name; }

 private:
  TemporaryFolder folder_;
};

struct SceneResult {
  tools::RunRecord record;
  float deepest = 0.0f;  // of all steps [m]
  double most_elastic_j = 0.0;
  std::vector<double> late_moves;  // of each body's centre in the second half [m]
};

SceneResult RunSample(const std::string& path) {
  auto scene = tools::LoadScene(path);
  if (!scene.ok()) FAIL(scene.error().message);
  tools::FindingList findings;
  auto scene_world = tools::BuildSceneWorld(scene.value(), &findings);
  if (!scene_world.ok()) FAIL(scene_world.error().message);
  SceneResult result;
  std::vector<Vec3> middle;
  const auto poses = [](const tools::SceneWorld& w) {
    std::vector<Vec3> at;
    for (const tools::SceneWorldBody& body : w.bodies) {
      Pose pose;
      REQUIRE(w.world->BestFitPose(body.id, &pose).ok());
      at.push_back(pose.position);
    }
    return at;
  };
  auto record = tools::RunScene(scene.value(), &scene_world.value(),
                                [&](const tools::SceneWorld& w, uint32_t done) {
                                  if (done == scene.value().steps / 2) middle = poses(w);
                                  return true;
                                });
  if (!record.ok()) FAIL(record.error().message);
  result.record = std::move(record.value());
  for (const tools::StepRecord& step : result.record.steps) {
    result.deepest = std::max(result.deepest, step.measures.max_penetration);
    result.most_elastic_j = std::max(result.most_elastic_j, step.measures.elastic_j);
  }
  const std::vector<Vec3> end = poses(scene_world.value());
  for (size_t i = 0; i < end.size(); ++i) {
    result.late_moves.push_back(
        std::hypot(end[i].x - middle[i].x, end[i].y - middle[i].y, end[i].z - middle[i].z));
  }
  return result;
}

}  // namespace

TEST_CASE("The sample scenes show what their names say", "[long]") {
  const SampleFolder folder;
  SweepCells cells;
  for (const char* name : kNames) {
    if (!cells.TakesNext()) continue;
    CAPTURE(name);
    const SceneResult result = RunSample(folder / (std::string(name) + ".json"));
    // Thin arms approach each other by more than half of their thickness.
    const uint32_t may_have = std::string(name) == "pile" ? uint32_t{kStepBodiesFast} : 0u;
    CHECK((result.record.flags & ~may_have) == kStepOk);
    CHECK(result.deepest < 5.0e-4f);  // a thousandth of their height
    const tools::StepRecord& last = result.record.steps.back();
    CHECK(last.measures.inverted_tets == 0);
    if (std::string(name) == "ramp") {
      CHECK(result.late_moves[0] < 1.0e-3);
      CHECK(result.late_moves[1] > 1.0);
    } else if (std::string(name) == "pile") {
      // Bodies on bodies may topple late: at other heights they sleep after 4 to 12 s.
      CHECK(last.stats.asleep == result.late_moves.size());
      CHECK(last.stats.body_pairs > 8);
    } else if (std::string(name) == "platform") {
      CHECK(result.late_moves[0] > 0.5);  // carried along
      CHECK(last.stats.asleep == 1);      // 3 s after the platform stopped
    } else if (std::string(name) == "terrain") {
      CHECK(last.stats.max_speed < 0.02f);
    } else if (std::string(name) == "hang") {
      REQUIRE(result.record.broken.size() == 1);  // the bear's second spring, as its place rises
      CHECK(result.record.broken[0].attachment == 1);
      CHECK(result.record.broken[0].time_s > 1.0);
      CHECK(result.record.broken[0].time_s < 3.0);
    } else if (std::string(name) == "rail") {
      CHECK(result.late_moves[0] > 1.0);  // the bear slides down
    } else if (std::string(name) == "conveyor") {
      CHECK(result.late_moves[0] > 0.5);  // from the first belt to the second one
    } else if (std::string(name) == "press" || std::string(name) == "heap") {
      CHECK(last.stats.max_speed < 0.02f);
      CHECK(result.most_elastic_j >
            5.0 * last.measures.elastic_j);  // pressed or fallen, then at rest
    }
  }
}

TEST_CASE("The sample scenes stay finite for 10000 steps") {
  if (!FullTests()) return Skip("long: set PLUSH_TEST_FULL=1");
  const SampleFolder folder;
  for (const char* name : kNames) {
    CAPTURE(name);
    auto scene = tools::LoadScene(folder / (std::string(name) + ".json"));
    if (!scene.ok()) FAIL(scene.error().message);
    scene.value().steps = 10000;
    tools::SceneWorld built = tools::BuildOrFail(scene.value());
    const tools::RunRecord record = tools::RunOrFail(scene.value(), &built);
    REQUIRE(record.steps.size() == 10000);
    CHECK((record.flags & kStepBodyFrozen) == 0);
    for (const tools::StepRecord& step : record.steps) {
      const WorldMeasures& m = step.measures;
      REQUIRE(std::isfinite(m.kinetic_j + m.elastic_j + m.gravity_j));
    }
    CHECK(record.steps.back().measures.inverted_tets == 0);
  }
}

}  // namespace plush::tests::sample_scenes_test
