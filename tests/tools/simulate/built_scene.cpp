// SPDX-License-Identifier: MIT
#include "tools/simulate/built_scene.h"

#include <catch2/catch.hpp>

#include <utility>

namespace plush::tools {

SceneWorld BuildOrFail(const Scene& scene) {
  FindingList findings;
  auto built = BuildSceneWorld(scene, &findings);
  if (!built.ok()) FAIL(built.error().message);
  return std::move(built.value());
}

RunRecord RunOrFail(const Scene& scene, SceneWorld* world) {
  auto record = RunScene(scene, world, [](const SceneWorld&, uint32_t) { return true; });
  if (!record.ok()) FAIL(record.error().message);
  return std::move(record.value());
}

}  // namespace plush::tools
