// SPDX-License-Identifier: MIT
#include "tools/simulate/contact_folder.h"

#include "tools/paths.h"
#include "tools/simulate/sample_folder.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <utility>

namespace plush::tests {

ContactFolder::ContactFolder() {
  tools::BakeSettings toy = {.cage = {.target_tets = 120}, .material = {4.0e4, 0.4, 1000.0, 0.15}};
  for (const char* name : {"bear", "duck", "octopus"})
    BakeSample(folder_, std::string("models/") + name + ".glb", toy);
  for (const char* name : {"nest", "ring"})
    BakeSample(folder_, std::string("scenes/contact/") + name + ".obj", toy);
  tools::BakeSettings cube = {.cage = {.target_tets = 100}, .material = {1.0e7, 0.4, 1000.0, 0.03}};
  BakeSample(folder_, "scenes/contact/cube.obj", cube);
  BakeStaticSample(folder_, "scenes/contact/funnel.obj");
  std::filesystem::copy(std::string(plush::tests::kSamplesFolder) + "/scenes/contact",
                        folder_ / "");
}

tools::Scene ContactFolder::Load(const std::string& name) const {
  auto scene = tools::LoadScene(folder_ / (name + ".json"));
  if (!scene.ok()) FAIL(scene.error().message);
  return std::move(scene.value());
}

}  // namespace plush::tests
