// SPDX-License-Identifier: MIT
#include "mesh/tet_shape.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace plush::tools {
namespace {

// Angle between the two faces at edge (i, j) [rad]: between the other two corners, seen along it.
double Dihedral(const TetCorners& x, size_t i, size_t j, size_t k, size_t l) {
  const Vec3d axis = x[j] - x[i];
  const Vec3d u = Cross(axis, x[k] - x[i]);
  const Vec3d v = Cross(axis, x[l] - x[i]);
  return std::atan2(Length(Cross(u, v)), Dot(u, v));
}

}  // namespace

double TetQuality(const TetCorners& x) {
  double squares = 0.0;
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = i + 1; j < 4; ++j) squares += LengthSquared(x[j] - x[i]);
  }
  const double l_rms = std::sqrt(squares / 6.0);
  const double cube = l_rms * l_rms * l_rms;
  return cube > 0.0 ? std::numbers::sqrt2 * SixVolume(x[0], x[1], x[2], x[3]) / cube : 0.0;
}

DihedralRange TetDihedrals(const TetCorners& x) {
  constexpr size_t kEdges[6][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2},
                                   {1, 2, 0, 3}, {1, 3, 0, 2}, {2, 3, 0, 1}};
  constexpr double kDegrees = 180.0 / std::numbers::pi;
  DihedralRange range;
  for (const auto& [i, j, k, l] : kEdges) {
    const double angle = kDegrees * Dihedral(x, i, j, k, l);
    range.min_deg = std::min(range.min_deg, angle);
    range.max_deg = std::max(range.max_deg, angle);
  }
  return range;
}

}  // namespace plush::tools
