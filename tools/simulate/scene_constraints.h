// SPDX-License-Identifier: MIT
// The key "constraints" of a scene: points that are held in place, on lines and in planes.
#pragma once

#include "base/json_object.h"
#include "simulate/scene.h"
#include "simulate/scene_world.h"

#include <string>

namespace plush::tools {

/// Reads scene->constraints, after the bodies, which they name by number.
void ReadConstraints(const JsonObject& reader, Scene* scene, std::string* mistake);

/// Adds constraints to the bodies of `built`, which has all bodies of `scene`. Errors: kUsage (a
/// body without a collision surface, a description that the World refuses), kLimit (memory).
Result<Done> AddConstraints(const Scene& scene, SceneWorld* built);

}  // namespace plush::tools
