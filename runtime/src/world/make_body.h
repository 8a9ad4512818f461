// SPDX-License-Identifier: MIT
// Bodies enter and leave a world.
#pragma once

#include "plush/world.h"

#include "world/body.h"

namespace plush {

/// Checks the description, allocates a body with room for `num_planes` planes, and places it.
/// Errors: kInvalidArgument, kOutOfMemory.
Status MakeBody(const Allocator& allocator, const Asset& asset, const BodyDesc& desc,
                size_t num_planes, FactorCache* cache, Body** out_body);

/// Frees a body of MakeBody.
void DestroyBody(const Allocator& allocator, FactorCache* cache, Body* body);

}  // namespace plush
