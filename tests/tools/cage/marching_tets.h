// SPDX-License-Identifier: MIT
// Surfaces of solids that are given as functions of space.
#pragma once

#include "base/vec3.h"
#include "mesh/surface_mesh.h"

#include <cstdint>
#include <functional>

namespace plush::tests {

using tools::SurfaceMesh;
using tools::Vec3d;

/// A solid as the inside of a function of space.
struct Field {
  std::function<double(const Vec3d&)> value;  ///< below zero inside
  Vec3d low;                                  ///< box that encloses the inside
  Vec3d high;
  double finest = 1.0;  ///< what cubes may be as large as without losing parts
};

/// The surface on which the field is zero, outwards, by marching tetrahedra on cubes of six tets:
/// at least `cells` cubes along the longest side, none larger than the finest detail. Closed,
/// manifold and without self-intersections, whatever the field.
SurfaceMesh Polygonise(const Field& field, uint32_t cells);

}  // namespace plush::tests
