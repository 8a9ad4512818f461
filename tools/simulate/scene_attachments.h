// SPDX-License-Identifier: MIT
// The key "attachments" of a scene: springs that hold bodies.
#pragma once

#include "base/json_object.h"
#include "simulate/scene.h"
#include "simulate/scene_world.h"

#include <string>

namespace plush::tools {

/// Reads scene->attachments, after the bodies and colliders, which they name by number.
void ReadAttachments(const JsonObject& reader, Scene* scene, std::string* mistake);

/// Attaches the bodies of `built`, which has all bodies and colliders of `scene`. Errors: kUsage (a
/// body without a collision surface, a description that the World refuses), kLimit (memory).
Result<Done> AddAttachments(const Scene& scene, SceneWorld* built);

}  // namespace plush::tools
