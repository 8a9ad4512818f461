// SPDX-License-Identifier: MIT
#include "solid/triangle_tet_overlap.h"

#include <algorithm>
#include <cmath>

namespace plush::tools {
namespace {

// Bound of the relative rounding error of a projection, ten times as large as needed.
constexpr double kRounding = 1e-14;

double LargestCoordinate(const Vec3d& v) {
  return std::max({std::abs(v.x), std::abs(v.y), std::abs(v.z)});
}

// Triangle and tet relative to a corner of the tet.
struct Pair {
  std::array<Vec3d, 3> triangle;
  std::array<Vec3d, 4> tet;
  double tolerance = 0.0;         // rounding [m]
  double squared_distance = 0.0;  // [m^2]

  // Whether the projections on `axis` are more than the distance apart. Every axis gives a valid
  // answer, so rounding of the axis itself does no harm.
  bool IsSeparatedBy(const Vec3d& axis) const {
    const double t0 = Dot(triangle[0], axis);
    const double t1 = Dot(triangle[1], axis);
    const double t2 = Dot(triangle[2], axis);
    const double x1 = Dot(tet[1], axis);
    const double x2 = Dot(tet[2], axis);
    const double x3 = Dot(tet[3], axis);
    const double slack = tolerance * (std::abs(axis.x) + std::abs(axis.y) + std::abs(axis.z));
    const double triangle_low = std::min({t0, t1, t2});
    const double triangle_high = std::max({t0, t1, t2});
    const double tet_low = std::min({0.0, x1, x2, x3});
    const double tet_high = std::max({0.0, x1, x2, x3});
    const double gap = std::max(triangle_low - tet_high, tet_low - triangle_high) - slack;
    return gap > 0.0 && gap * gap > squared_distance * LengthSquared(axis);
  }
};

}  // namespace

bool TriangleMayTouchTet(const std::array<Vec3d, 3>& triangle, const std::array<Vec3d, 4>& tet,
                         double distance) {
  Pair pair;
  double largest = 0.0;
  for (size_t i = 0; i < 3; ++i) {
    pair.triangle[i] = triangle[i] - tet[0];
    largest = std::max(largest, LargestCoordinate(pair.triangle[i]));
  }
  for (size_t i = 0; i < 4; ++i) {
    pair.tet[i] = tet[i] - tet[0];
    largest = std::max(largest, LargestCoordinate(pair.tet[i]));
  }
  pair.tolerance = kRounding * largest;
  pair.squared_distance = distance * distance;
  const auto& [p, b, c, d] = pair.tet;
  for (const Vec3d& face : {Cross(b, c), Cross(c, d), Cross(d, b), Cross(c - b, d - b)}) {
    if (pair.IsSeparatedBy(face)) return false;
  }
  const std::array<Vec3d, 3> sides = {pair.triangle[1] - pair.triangle[0],
                                      pair.triangle[2] - pair.triangle[1],
                                      pair.triangle[0] - pair.triangle[2]};
  if (pair.IsSeparatedBy(Cross(sides[0], sides[1]))) return false;
  for (const Vec3d& edge : {b, c, d, c - b, d - c, b - d}) {
    for (const Vec3d& side : sides) {
      if (pair.IsSeparatedBy(Cross(edge, side))) return false;
    }
  }
  return true;
}

}  // namespace plush::tools
