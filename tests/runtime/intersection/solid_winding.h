// SPDX-License-Identifier: MIT
// Winding numbers by solid angles, without exact signs.
#pragma once

#include "runtime/collision/surface_fixtures.h"

namespace plush::test {

/// Winding number of a surface, moved by `offset`, about a point [m]: near a whole number unless
/// the point is on the surface. Based on: Van Oosterom, Strackee. The Solid Angle of a Plane
/// Triangle. 1983
double SolidWinding(const SurfaceBody& body, const Eigen::Vector3d& offset,
                    const Eigen::Vector3d& point);

}  // namespace plush::test
