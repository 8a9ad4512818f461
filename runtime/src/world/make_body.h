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

/// Returns kInvalidArgument if the asset lacks one of the nodes.
Status CheckPins(const Asset& asset, std::span<const uint32_t> pinned_nodes);

/// Checks the description, then allocates and places a body with room for `num_planes` planes.
/// Errors: kInvalidArgument, kOutOfMemory.
Status MakeBody(const Allocator& allocator, const Asset& asset, const BodyDesc& desc,
                size_t num_planes, SystemCache* cache, Body** out_body);

/// Frees a body made by MakeBody.
void DestroyBody(const Allocator& allocator, SystemCache* cache, Body* body);

}  // namespace plush
