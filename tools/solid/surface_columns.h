// SPDX-License-Identifier: MIT
// Where rays along x cross a surface.
#pragma once

#include "solid/solid_surface.h"

#include <cstdint>
#include <span>
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

/// All crossings of all rays of a grid. If a ray hits an edge or a point exactly, it counts as
/// passing beside it, on the same side for all triangles there. So the signs along each ray sum to
/// zero if the surface is closed.
class SurfaceColumns {
 public:
  /// O(triangles + crossings).
  SurfaceColumns(const SolidSurface& surface, const ColumnGrid& grid);

  /// Crossings of ray (y, z) of the grid, ascending in x.
  std::span<const ColumnCrossing> At(int y, int z) const {
    const size_t column =
        static_cast<size_t>(z) * static_cast<size_t>(grid_.count_y) + static_cast<size_t>(y);
    return {crossings_.data() + starts_[column], starts_[column + 1] - starts_[column]};
  }

 private:
  ColumnGrid grid_;
  std::vector<uint32_t> starts_;  // into crossings_ (num_columns + 1 x 1)
  std::vector<ColumnCrossing> crossings_;
};

}  // namespace plush::tools
