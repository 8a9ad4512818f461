// SPDX-License-Identifier: MIT
// Rays against a body whose pairs with another one have just been searched.
#pragma once

#include "collision/ray_query.h"
#include "intersection/placed_surface.h"

namespace plush {

/// Raycast, with the same hit, for a ray in the body's own coordinates. Where there is room for
/// placed patches it needs no frames of the tets, and is faster if the hit is near. Does not
/// allocate.
bool CastRay(const PlacedSurface& surface, const LocalRay& ray, SurfaceHit* out_hit);

}  // namespace plush
