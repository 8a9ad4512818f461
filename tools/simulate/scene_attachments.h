// SPDX-License-Identifier: MIT
// The key "attachments" of a scene: springs that hold bodies.
#pragma once

#include "base/json_object.h"
#include "simulate/scene.h"
#include "simulate/scene_world.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plush::tools {

/// Reads scene->attachments, after the bodies and colliders, which they name by number.
void ReadAttachments(const JsonObject& reader, Scene* scene, std::string* mistake);

/// Attaches the bodies of `built`, which has all bodies and colliders of `scene`. Errors: kUsage (a
/// body without a collision surface, a description that the World refuses), kLimit (memory).
Result<Done> AddAttachments(const Scene& scene, SceneWorld* built);

// What scene_constraints.cpp needs, too.

/// Reads a place in an array of `count` elements.
void ReadIndex(const JsonObject& reader, const char* key, size_t count,
               std::optional<uint32_t>* out);

/// Checks the motion of a point, which has no target besides and does not turn.
void CheckPointMotion(const JsonObject& reader, const Motion& motion);

/// Where the copies of the scene's bodies begin in SceneWorld::bodies.
std::vector<size_t> FirstCopies(const Scene& scene);

Vec3 Shifted(const Vec3& position, const Vec3& offset);

/// Finds the point of a body's surface that is nearest to `position`. Errors: kUsage (no surface).
Result<SurfacePoint> NearestOf(const World& world, const SceneWorldBody& body,
                               const Vec3& position);

}  // namespace plush::tools
