// SPDX-License-Identifier: MIT
// Where a body's surface is deepest in a sensor.
#pragma once

#include "base/node_vec.h"
#include "touching/contact_problem.h"

#include <cstdint>

namespace plush {

/// A point of a surface in a sensor.
struct SensedPoint {
  float gap = 0.0f;                ///< [m], <= 0
  uint32_t triangle = UINT32_MAX;  ///< of the surface, or UINT32_MAX
  EmbeddedPoint point;
  Vec3 normal;                           ///< unit, out of the sensor
  uint32_t other_triangle = UINT32_MAX;  ///< of a mesh, or UINT32_MAX
};

/// Finds the point of the surface's triangles, with the nodes at `x` (num_nodes x 1), that is
/// deepest in a sensor at the end of its substep; of a cage without a surface, the deepest node.
/// Pinned points count. Returns whether there is one.
bool FindDeepestInSensor(const LocalCollider& sensor, const TouchingSurface& surface, NodeVectors x,
                         SensedPoint* out_deepest);

/// The same for the vertices of a surface, or a cage's nodes, in a closed mesh or below a height
/// field. An open mesh has no inside: it senses nothing.
bool FindDeepestInMesh(const LocalCollider& sensor, const TouchingSurface& surface, NodeVectors x,
                       SensedPoint* out_deepest);

}  // namespace plush
