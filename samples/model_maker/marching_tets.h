// SPDX-License-Identifier: MIT
// First triangulation of a solid's surface.
#pragma once

#include "solid.h"

#include <array>
#include <cstdint>
#include <vector>

namespace plush::samples {

/// Triangles, counter-clockwise seen from outside.
struct TriangleMesh {
  std::vector<Vec3d> positions;                    ///< [m] (num_vertices x 1)
  std::vector<std::array<uint32_t, 3>> triangles;  ///< (num_triangles x 3)
};

/// Marches over the tets of a cubic lattice of `step` metres; each cube is cut into six along its
/// diagonal.
/// - Follows only the connected piece of surface that the ray from `inside` (a point of the solid)
///   along +y meets first. Inner bubbles and stray pieces never appear.
/// - The result is closed, manifold and free of self-intersections by construction. No triangle is
///   degenerate, because no vertex comes close to the ends of its lattice edge. Vertices next to a
///   lattice point are therefore slightly off the surface.
/// - Returns an empty mesh if `inside` is not inside or the surface is farther than 2 m.
TriangleMesh MarchTets(const Solid& solid, const Vec3d& inside, double step);

}  // namespace plush::samples
