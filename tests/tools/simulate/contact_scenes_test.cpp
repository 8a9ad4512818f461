// SPDX-License-Identifier: MIT
// The scenes of samples/scenes/contact, with coarse cages and short: bodies touch, come apart where
// they should, rest where they should, and the same for any number of threads.

#include "scenes/scene_measures.h"
#include "simulate/scene.h"
#include "tools/procedural_meshes.h"
#include "tools/simulate/sample_folder.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace plush::tests {
namespace {

// Cages of fewer tets than in run.sh: the scenes are the same.
class ContactFolder {
 public:
  ContactFolder() {
    tools::BakeSettings toy;
    toy.cage.target_tets = 120;
    toy.material = {4.0e4, 0.4, 1000.0, 0.15};
    for (const char* name : {"bear", "duck", "octopus"})
      BakeSample(folder_, std::string("models/") + name + ".glb", toy);
    for (const char* name : {"nest", "ring"})
      BakeSample(folder_, std::string("scenes/contact/") + name + ".obj", toy);
    tools::BakeSettings cube;
    cube.cage.target_tets = 100;
    cube.material = {1.0e7, 0.4, 1000.0, 0.0};
    BakeSample(folder_, "scenes/contact/cube.obj", cube);
    BakeStaticSample(folder_, "scenes/contact/funnel.obj");
    std::filesystem::copy(std::string(PLUSH_SAMPLES_DIR) + "/scenes/contact", folder_ / "");
  }

  tools::Scene Load(const std::string& name) const {
    auto scene = tools::LoadScene(folder_ / (name + ".json"));
    if (!scene.ok()) FAIL(scene.error().message);
    return std::move(scene.value());
  }

 private:
  TemporaryFolder folder_;
};

SceneMeasures Run(const tools::Scene& scene, uint32_t every) {
  auto measures = MeasureScene(scene, {.every = every});
  if (!measures.ok()) FAIL(measures.error().message);
  return std::move(measures.value());
}

}  // namespace
}  // namespace plush::tests
