// SPDX-License-Identifier: MIT
// Bodies enter and leave a world.
#pragma once

#include "plush/world.h"

#include "world/body.h"

#include <cstdint>
#include <span>

namespace plush {

/// What a body is made of that overrides its baked material by `given`. Errors: kInvalidArgument
/// (out of range, or beyond what float can hold).
Status ResolveMaterial(const Asset& asset, const MaterialOverride& given,
                       BodyMaterial* out_material);

/// kInvalidArgument for a node that the asset does not have.
Status CheckPins(const Asset& asset, std::span<const uint32_t> pinned_nodes);

/// Checks the description, allocates a body with room for `num_planes` planes, and places it.
/// Errors: kInvalidArgument, kOutOfMemory.
Status MakeBody(const Allocator& allocator, const Asset& asset, const BodyDesc& desc,
                size_t num_planes, SystemCache* cache, Body** out_body);

/// Frees a body of MakeBody.
void DestroyBody(const Allocator& allocator, SystemCache* cache, Body* body);

}  // namespace plush
