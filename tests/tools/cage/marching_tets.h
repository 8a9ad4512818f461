// SPDX-License-Identifier: MIT
// Surfaces of solids that are defined by functions of space.
#pragma once

#include "base/vec3.h"
#include "mesh/surface_mesh.h"

#include <cstdint>
#include <functional>

namespace plush::tests {

using tools::SurfaceMesh;
using tools::Vec3d;

/// A solid: the points at which a function is negative.
struct Field {
  std::function<double(const Vec3d&)> value;  ///< negative inside
  Vec3d low;                                  ///< box that encloses the inside
  Vec3d high;
  double finest = 1.0;  ///< largest cube that loses no parts
};

/// The zero surface of the field, outwards, by marching tetrahedra on cubes of six tets. Has at
/// least `cells` cubes along the longest side, none larger than `finest`. For any field it is
/// closed and manifold and does not intersect itself.
SurfaceMesh Polygonise(const Field& field, uint32_t cells);

}  // namespace plush::tests
