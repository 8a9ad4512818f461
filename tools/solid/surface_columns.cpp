// SPDX-License-Identifier: MIT
// Finds the crossings of a grid of rays with each triangle and sorts them by ray and x.
// Both triangles at an edge decide it by the same edge function, so no crossing is lost or doubled.
#include "solid/surface_columns.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace plush::tools {
namespace {

// A triangle projected along x.
struct Projected {
  std::array<uint32_t, 3> numbers;  // of the corners
  std::array<Vec3d, 3> corners;

  // Whether the ray at (y, z) crosses the triangle; if so, sets `*crossing`.
  bool Cross(double y, double z, ColumnCrossing* crossing) const {
    const Weight a = WeightOf(1, 2, y, z);
    const Weight b = WeightOf(2, 0, y, z);
    const Weight c = WeightOf(0, 1, y, z);
    if (a.positive != b.positive || b.positive != c.positive) return false;
    const double sum = a.value + b.value + c.value;
    if (sum == 0.0) return false;
    crossing->x = (corners[0].x * a.value + corners[1].x * b.value + corners[2].x * c.value) / sum;
    // Positive: counter-clockwise in (y, z), so the triangle faces +x and the ray leaves the solid.
    crossing->sign = a.positive ? -1 : 1;
    return true;
  }

  struct Weight {
    double value = 0.0;
    bool positive = false;
  };
  // Twice the signed area in (y, z) of the ray's point and the edge from corner i to j. Both
  // triangles at an edge get the same value with opposite signs, even if the value is zero.
  Weight WeightOf(size_t i, size_t j, double y, double z) const {
    const bool swapped = numbers[i] > numbers[j];
    const Vec3d& from = corners[swapped ? j : i];
    const Vec3d& to = corners[swapped ? i : j];
    const double area = (to.y - from.y) * (z - from.z) - (to.z - from.z) * (y - from.y);
    return {swapped ? -area : area, (area >= 0.0) != swapped};
  }
};

// The first of the grid lines between two coordinates, and the one after the last.
std::pair<int, int> LinesBetween(double low, double high, double first, double spacing, int count) {
  const double begin = std::ceil((low - first) / spacing);
  const double end = std::floor((high - first) / spacing) + 1.0;
  return {static_cast<int>(std::clamp(begin, 0.0, static_cast<double>(count))),
          static_cast<int>(std::clamp(end, 0.0, static_cast<double>(count)))};
}

}  // namespace

SurfaceColumns::SurfaceColumns(const SolidSurface& surface, const ColumnGrid& grid)
    : count_y_(static_cast<size_t>(grid.count_y)),
      columns_(count_y_ * static_cast<size_t>(grid.count_z)) {
  for (size_t t = 0; t < surface.triangles.size(); ++t) {
    const Projected projected = {surface.triangles[t], surface.CornersOf(t)};
    const auto& [a, b, c] = projected.corners;
    const auto [begin_z, end_z] = LinesBetween(std::min({a.z, b.z, c.z}), std::max({a.z, b.z, c.z}),
                                               grid.first_z, grid.spacing, grid.count_z);
    const auto [begin_y, end_y] = LinesBetween(std::min({a.y, b.y, c.y}), std::max({a.y, b.y, c.y}),
                                               grid.first_y, grid.spacing, grid.count_y);
    for (int z = begin_z; z < end_z; ++z) {
      for (int y = begin_y; y < end_y; ++y) {
        ColumnCrossing crossing;
        if (projected.Cross(grid.first_y + y * grid.spacing, grid.first_z + z * grid.spacing,
                            &crossing)) {
          columns_[IndexOf(y, z)].push_back(crossing);
        }
      }
    }
  }
  for (std::vector<ColumnCrossing>& column : columns_) {
    std::stable_sort(column.begin(), column.end(),
                     [](const ColumnCrossing& p, const ColumnCrossing& q) { return p.x < q.x; });
  }
}

}  // namespace plush::tools
