// SPDX-License-Identifier: MIT
// Positions of a patch's vertices and boxes of its triangles, as many at once as vectors have
// lanes.
#pragma once

#include "plush/types.h"

#include <span>

namespace plush {

/// Writes the positions x, y, z, 0 [m] of vertices with these weights for a tet's nodes; the bits
/// of VertexPosition.
void PlaceVertices(const Vec3 (&nodes)[4], std::span<const Vec4> weights, float* positions);

}  // namespace plush
