// SPDX-License-Identifier: MIT
// Where rays along x cross a surface.
#pragma once

#include "solid/solid_surface.h"

#include <cstddef>
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

/// All crossings of all rays of a grid. A ray that hits an edge or a point exactly counts as
/// passing beside it, on the same side for all triangles there. So if the surface is closed, the
/// signs along each ray sum to zero.
class SurfaceColumns {
 public:
  /// O(n log n) for n triangles, grid lines that they meet and crossings, however many rays miss.
  SurfaceColumns(const SolidSurface& surface, const ColumnGrid& grid);

  /// The crossings of one ray.
  struct Column {
    int y = 0;  ///< in the grid
    int z = 0;
    std::span<const ColumnCrossing> crossings;  ///< ascending in x
  };
  size_t size() const { return rays_.size(); }  ///< rays that cross the surface
  /// The rays that cross the surface, y fastest.
  Column operator[](size_t i) const {
    const auto begin = static_cast<std::ptrdiff_t>(starts_[i]);
    const auto end = static_cast<std::ptrdiff_t>(starts_[i + 1]);
    return {static_cast<int>(rays_[i] % count_y_),
            static_cast<int>(rays_[i] / count_y_),
            {crossings_.begin() + begin, crossings_.begin() + end}};
  }

 private:
  uint64_t count_y_;
  std::vector<uint64_t> rays_;  // z * count_y + y, ascending
  std::vector<size_t> starts_;  // into crossings_ (num_rays + 1 x 1)
  std::vector<ColumnCrossing> crossings_;
};

}  // namespace plush::tools
