// SPDX-License-Identifier: MIT
// Where the mass of a solid lies in the tets of its cage.
#pragma once

#include "mesh/tet_mesh.h"
#include "solid/inside.h"
#include "solid/solid_surface.h"
#include "solid/solid_volume.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// Points that stand for a solid, each for some of its volume in one tet.
struct MassPoints {
  std::vector<uint32_t> tets;                  ///< ascending (num_points x 1)
  std::vector<std::array<double, 4>> weights;  ///< barycentric, in the tet (num_points x 4)
  std::vector<double> volumes;                 ///< [m^3] (num_points x 1)
};

/// Spreads the solid over the tets of its cage.
/// - Lines along x, y and z cut each tet that the surface passes through; each stretch of a line
///   inside the solid becomes a point at its middle. A tet that no triangle of a closed surface
///   passes through is one point or none. Where parts overlap or the surface is open, winding
///   numbers at the middles decide.
/// - Only triangles that reach a tet across faces, from the tets of their corners (`tet_of_point`),
///   count there. So copies of a lattice tet hold the solid of their own piece.
/// - Weights of the points are then changed as little as volume and first moments of `solid` need:
///   both are exact, the distribution between tets is good to about a percent.
///
/// `mesh` may not be turned inside out. No points if the lines meet no solid. Deterministic for any
/// thread count.
MassPoints SpreadSolid(const SolidSurface& surface, const InsideTest& inside, const TetMesh& mesh,
                       std::span<const uint32_t> tet_of_point, const SolidMeasure& solid);

/// The integral of each corner's shape function over the solid in each tet [m^3] (num_tets x 4).
std::vector<std::array<double, 4>> CornerVolumes(const MassPoints& points, size_t num_tets);

}  // namespace plush::tools
