// SPDX-License-Identifier: MIT
// Where rays along x cross a surface.
#pragma once

#include "solid/solid_surface.h"

#include <cstddef>
#include <vector>

namespace plush::tools {

/// Rays along x, one through each point of a grid in y and z.
struct ColumnGrid {
  double first_y = 0.0;  ///< [m]
  double first_z = 0.0;  ///< [m]
  double spacing = 1.0;  ///< [m]
  int count_y = 0;
  int count_z = 0;
};

/// A place where a ray crosses a triangle.
struct ColumnCrossing {
  double x = 0.0;  ///< [m]
  int sign = 0;    ///< change of the winding number along +x: +1 or -1
};

/// All crossings of all rays of a grid. A ray that hits an edge or a point exactly counts as
/// passing beside it, on the same side for all triangles there. So if the surface is closed, the
/// signs along each ray sum to zero.
class SurfaceColumns {
 public:
  /// O(triangles + crossings).
  SurfaceColumns(const SolidSurface& surface, const ColumnGrid& grid);

  /// Crossings of ray (y, z) of the grid, ascending in x.
  const std::vector<ColumnCrossing>& At(int y, int z) const { return columns_[IndexOf(y, z)]; }

 private:
  size_t IndexOf(int y, int z) const {
    return static_cast<size_t>(z) * count_y_ + static_cast<size_t>(y);
  }

  size_t count_y_;
  std::vector<std::vector<ColumnCrossing>> columns_;  // y fastest
};

}  // namespace plush::tools
