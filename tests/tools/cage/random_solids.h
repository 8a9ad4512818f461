// SPDX-License-Identifier: MIT
// Random solids of many shapes, as closed manifold surfaces.
#pragma once

#include "mesh/surface_mesh.h"

#include <cstdint>
#include <functional>
#include <string>

namespace plush::tests {

using tools::SurfaceMesh;
using tools::Vec3d;

/// Families of solids that RandomSolid draws from, by seed % kNumFamilies.
inline constexpr uint32_t kNumFamilies = 10;
extern const char* const kFamilyNames[kNumFamilies];

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

/// A solid of the seed's family, anywhere and of any size.
SurfaceMesh RandomSolid(uint32_t seed);

}  // namespace plush::tests
