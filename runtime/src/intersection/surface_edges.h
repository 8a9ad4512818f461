// SPDX-License-Identifier: MIT
// Patches and edges of a surface's triangles. Both take O(log num_patches).
#pragma once

#include "plush/asset.h"

#include <cstdint>

namespace plush {

/// The patch that holds a triangle.
uint32_t PatchOf(const CollisionView& surface, uint32_t triangle);

/// Number of an edge, from corner `corner` to the next one: the same for both of its triangles.
uint32_t EdgeOf(const CollisionView& surface, uint32_t triangle, int corner);

}  // namespace plush
