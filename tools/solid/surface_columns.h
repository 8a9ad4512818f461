// SPDX-License-Identifier: MIT
// Where rays along x pass a surface.
#pragma once

#include "solid/solid_surface.h"

#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// Rays along x through the points of a grid in y and z.
struct ColumnGrid {
  double first_y = 0.0;  ///< [m]
  double first_z = 0.0;  ///< [m]
  double spacing = 1.0;  ///< [m]
  int count_y = 0;
  int count_z = 0;
};

/// A ray passes a triangle.
struct ColumnCrossing {
  double x = 0.0;  ///< [m]
  int sign = 0;    ///< +1 where the winding number grows by one, -1 where it falls
};

/// All crossings of all rays of a grid. Where the surface is closed, the signs of each ray add up
/// to nothing: a ray that passes an edge or a point exactly counts as passing beside it, on the
/// same side for all triangles there.
class SurfaceColumns {
 public:
  /// O(triangles + crossings).
  SurfaceColumns(const SolidSurface& surface, const ColumnGrid& grid);

  /// Crossings of the ray with these numbers, by x.
  std::span<const ColumnCrossing> At(int y, int z) const {
    const size_t column =
        static_cast<size_t>(z) * static_cast<size_t>(grid_.count_y) + static_cast<size_t>(y);
    return {crossings_.data() + starts_[column], starts_[column + 1] - starts_[column]};
  }

 private:
  ColumnGrid grid_;
  std::vector<uint32_t> starts_;  // per column, and the end
  std::vector<ColumnCrossing> crossings_;
};

}  // namespace plush::tools
