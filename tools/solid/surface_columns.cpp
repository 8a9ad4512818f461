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

  // The least and greatest y of the triangle on the line at z, up to rounding. `z` must lie within
  // the triangle's range.
  std::pair<double, double> RangeAt(double z) const {
    double low = HUGE_VAL;
    double high = -HUGE_VAL;
    for (size_t i = 0; i < 3; ++i) {
      const Vec3d& a = corners[i];
      const Vec3d& b = corners[(i + 1) % 3];
      // The ends of a level edge are those of the other two.
      if (a.z == b.z || std::min(a.z, b.z) > z || std::max(a.z, b.z) < z) continue;
      const double y = a.y + (b.y - a.y) * ((z - a.z) / (b.z - a.z));
      low = std::min(low, y);
      high = std::max(high, y);
    }
    return {low, high};
  }

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
    : count_y_(static_cast<uint64_t>(grid.count_y)) {
  struct OnRay {
    uint64_t ray = 0;
    ColumnCrossing crossing;
  };
  std::vector<OnRay> found;
  for (size_t t = 0; t < surface.triangles.size(); ++t) {
    const Projected projected = {surface.triangles[t], surface.CornersOf(t)};
    const auto& [a, b, c] = projected.corners;
    const auto [low_z, high_z] = std::minmax({a.z, b.z, c.z});
    const auto [begin_z, end_z] =
        LinesBetween(low_z, high_z, grid.first_z, grid.spacing, grid.count_z);
    for (int z = begin_z; z < end_z; ++z) {
      const double at_z = grid.first_z + z * grid.spacing;
      const auto [low_y, high_y] = projected.RangeAt(std::clamp(at_z, low_z, high_z));
      if (low_y > high_y) continue;
      // One line more on both sides, because the range is rounded.
      const auto [begin_y, end_y] = LinesBetween(low_y - grid.spacing, high_y + grid.spacing,
                                                 grid.first_y, grid.spacing, grid.count_y);
      for (int y = begin_y; y < end_y; ++y) {
        OnRay on_ray = {static_cast<uint64_t>(z) * count_y_ + static_cast<uint64_t>(y), {}};
        if (projected.Cross(grid.first_y + y * grid.spacing, at_z, &on_ray.crossing)) {
          found.push_back(on_ray);
        }
      }
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const OnRay& p, const OnRay& q) {
    return p.ray != q.ray ? p.ray < q.ray : p.crossing.x < q.crossing.x;
  });
  for (const OnRay& on_ray : found) {
    if (rays_.empty() || rays_.back() != on_ray.ray) {
      rays_.push_back(on_ray.ray);
      starts_.push_back(crossings_.size());
    }
    crossings_.push_back(on_ray.crossing);
  }
  starts_.push_back(crossings_.size());
}

}  // namespace plush::tools
