// SPDX-License-Identifier: MIT
// Scenes that must build and run: the test fails otherwise.
#pragma once

#include "simulate/scene_world.h"
#include "simulate/simulation_run.h"

namespace plush::tools {

SceneWorld BuildOrFail(const Scene& scene);
/// Runs the whole scene.
RunRecord RunOrFail(const Scene& scene, SceneWorld* world);

}  // namespace plush::tools
