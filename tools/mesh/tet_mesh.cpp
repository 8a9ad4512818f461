// SPDX-License-Identifier: MIT
// Computes where points lie relative to a tet, and the quality and angles of its shape.
// Quality: V. N. Parthasarathy et al. A Comparison of Tetrahedron Quality Measures. 1994
#include "mesh/tet_mesh.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace plush::tools {
namespace {

// Face i is opposite corner i.
constexpr std::array<std::array<size_t, 3>, 4> kFaces = {
    {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}}};

Vec3d ClosestPointOnSegment(const Vec3d& point, const Vec3d& a, const Vec3d& b) {
  const Vec3d edge = b - a;
  const double length_squared = LengthSquared(edge);
  if (length_squared <= 0.0) return a;
  return a + edge * std::clamp(Dot(point - a, edge) / length_squared, 0.0, 1.0);
}

// Angle between the two faces at edge (i, j) [rad].
double Dihedral(const TetCorners& x, size_t i, size_t j, size_t k, size_t l) {
  const Vec3d axis = x[j] - x[i];
  const Vec3d u = Cross(axis, x[k] - x[i]);
  const Vec3d v = Cross(axis, x[l] - x[i]);
  return std::atan2(Length(Cross(u, v)), Dot(u, v));
}

}  // namespace

std::array<double, 4> BarycentricWeights(const Vec3d& point, const TetCorners& tet) {
  const double volume = SixVolume(tet[0], tet[1], tet[2], tet[3]);
  const Vec3d a = tet[0] - point;
  const Vec3d b = tet[1] - point;
  const Vec3d c = tet[2] - point;
  const Vec3d d = tet[3] - point;
  return {Dot(Cross(b, c), d) / volume, Dot(Cross(a, d), c) / volume, Dot(Cross(a, b), d) / volume,
          Dot(Cross(a, c), b) / volume};
}

Vec3d ClosestPointOnTriangle(const Vec3d& point, const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const Vec3d normal = Cross(b - a, c - a);
  const double area_squared = LengthSquared(normal);
  if (area_squared > 0.0) {
    // Barycentric coordinates of the projection, which is the closest point if it is inside.
    const double wa = Dot(Cross(c - b, point - b), normal);
    const double wb = Dot(Cross(a - c, point - c), normal);
    const double wc = Dot(Cross(b - a, point - a), normal);
    if (wa >= 0.0 && wb >= 0.0 && wc >= 0.0) {
      return point - normal * (Dot(point - a, normal) / area_squared);
    }
  }
  Vec3d best = ClosestPointOnSegment(point, a, b);
  for (const Vec3d& candidate :
       {ClosestPointOnSegment(point, b, c), ClosestPointOnSegment(point, c, a)}) {
    if (LengthSquared(candidate - point) < LengthSquared(best - point)) best = candidate;
  }
  return best;
}

double SquaredDistance(const Vec3d& point, const TetCorners& tet) {
  const std::array<double, 4> weights = BarycentricWeights(point, tet);
  if (*std::min_element(weights.begin(), weights.end()) >= 0.0) return 0.0;
  double best = -1.0;
  for (size_t face = 0; face < 4; ++face) {
    if (weights[face] >= 0.0) continue;  // on the inner side of this face
    const auto& [i, j, k] = kFaces[face];
    const double squared =
        LengthSquared(ClosestPointOnTriangle(point, tet[i], tet[j], tet[k]) - point);
    if (best < 0.0 || squared < best) best = squared;
  }
  return best;
}

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
