// SPDX-License-Identifier: MIT
// Creates and destroys bodies, and checks their descriptions.
#pragma once

#include "plush/world.h"

#include "world/body.h"

#include <cstdint>
#include <span>

namespace plush {

/// Applies the override `given` and the scale to the baked material. Errors: kInvalidArgument (a
/// value out of range, or stiffness or mass beyond float's range).
Status ResolveMaterial(const Asset& asset, const MaterialOverride& given, float scale,
                       BodyMaterial* out_material);

/// Returns kInvalidArgument if the position is out of range or the rotation zero or not finite.
Status CheckPose(const Pose& pose);

/// Returns kInvalidArgument if the asset lacks one of the nodes.
Status CheckPins(const Asset& asset, std::span<const uint32_t> pinned_nodes);

/// What a body needs memory for, besides what its system says.
struct BodyParts {
  bool fixed = false;
  bool keeps_previous = false;
  bool reports_reactions = false;
};

/// Allocates a body of the asset at the origin, at rest, which then uses the system: no other user
/// is added. It has no room for planes. Returns null if the allocator fails.
Body* AllocateBody(const Allocator& allocator, const Asset& asset, System* system,
                   const BodyParts& parts);

/// Checks the description, then allocates and places a body with room for `num_planes` planes.
/// Errors: kInvalidArgument, kOutOfMemory.
Status MakeBody(const Allocator& allocator, const Asset& asset, const BodyDesc& desc,
                size_t num_planes, SystemCache* cache, Body** out_body);

/// Frees a body made by MakeBody.
void DestroyBody(const Allocator& allocator, SystemCache* cache, Body* body);

}  // namespace plush
