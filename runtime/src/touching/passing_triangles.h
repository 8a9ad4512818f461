// SPDX-License-Identifier: MIT
// Whether triangles of a body pass places inside a convex solid.
//
// A body has a place inside it only if a triangle has passed the place from its front to its back.
// The solve holds points of triangles by tangent planes, and so cannot rule that out: in a substep,
// a fast triangle may turn about the point that holds it, or another one may take its place.
// This test can, because positions between a substep's start and end are those on straight ways.
#pragma once

#include "plush/asset.h"

#include "base/node_vec.h"
#include "colliders/solid.h"

#include <cstdint>

namespace plush {

/// Places inside a solid, in its coordinates: its middle, and of a long or flat one also places
/// near its corners, and the sides between these.
struct SolidCore {
  explicit SolidCore(const Solid& solid);

  Vec3 points[5];
  uint32_t count = 0;
  Vec3 sides[4][2];
  uint32_t num_sides = 0;
};

/// Whether a triangle of a CdgTet passes a place from its front to its back while the nodes move
/// straight (num_nodes x 1 each). In double: signs decide.
bool PassesPlace(const CollisionView& surface, uint32_t tet, NodeVectors from, NodeVectors to,
                 const Vec3& place);

}  // namespace plush
