// SPDX-License-Identifier: MIT
// Winding number of a surface about a vertex of another, by the exact signs of triangle_pairs.h.
#pragma once

#include "intersection/placed_surface.h"

namespace plush {

/// How often the closed `surface` winds about `vertex`, a point of the other surface in the common
/// coordinates [m]: 0 outside, 1 inside, more if the surface overlaps itself. It is the sum of the
/// crossings of an edge to a point outside. Touching vertices get the sides that the pairs gave
/// them. Does not allocate.
int WindingAbout(const PlacedSurface& surface, const Vec3& vertex);

/// Whether the vertex is outside the surface's bounding box, with a margin: its number is 0.
bool FarFrom(const PlacedSurface& surface, const Vec3& vertex);

}  // namespace plush
