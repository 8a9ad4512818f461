// SPDX-License-Identifier: MIT
// Rays against one deformed body, in its own coordinates.
#pragma once

#include "collision/collision_state.h"
#include "collision/ray_triangle.h"
#include "collision/surface_hit.h"

namespace plush {

/// Receives a hit; returns how far along the ray the search still has to look [m].
using RayHitCallback = double (*)(void* user, const SurfaceHit& hit);

/// Calls back with triangles that the ray meets at 0 <= t <= what the last call returned (at first
/// ray.max_t), from either side, each once, in no particular order. Only the vertices of triangles
/// close to the ray are transformed. Exact: a ray through an edge or corner that triangles share
/// meets one of them (see ray_triangle.h). Does not allocate.
void ForHits(const CollisionBody& body, const LocalRay& ray, void* user, RayHitCallback callback);

/// The first triangle along the ray: the one with the lowest index where several are equally far.
/// Returns whether there is one. Does not allocate.
bool Raycast(const CollisionBody& body, const LocalRay& ray, SurfaceHit* out_hit);

}  // namespace plush
