// SPDX-License-Identifier: MIT
#include "fit/tet_quality.h"

#include <algorithm>
#include <cmath>

namespace plush::tools {

double DegreesOfCosine(double cosine) {
  const double x = std::min(std::abs(cosine), 1.0);
  double sum = -0.0012624911;
  for (const double coefficient : {0.0066700901, -0.0170881256, 0.0308918810, -0.0501743046,
                                   0.0889789874, -0.2145988016, 1.5707963050}) {
    sum = sum * x + coefficient;
  }
  constexpr double kDegrees = 57.295779513082320877;
  const double angle = std::sqrt(1.0 - x) * sum * kDegrees;
  return cosine < 0.0 ? 180.0 - angle : angle;
}

double SmallestDihedral(const std::array<Vec3d, 4>& tet) {
  const Vec3d b = tet[1] - tet[0];
  const Vec3d c = tet[2] - tet[0];
  const Vec3d d = tet[3] - tet[0];
  const Vec3d cd = Cross(c, d);
  if (!(Dot(b, cd) > 0.0)) return 0.0;
  // Inward normals of the faces opposite corners 1, 2, 3. All four normals sum to zero.
  std::array<Vec3d, 4> n = {Vec3d{}, cd, Cross(d, b), Cross(b, c)};
  n[0] = -(n[1] + n[2] + n[3]);
  std::array<double, 4> inverse = {};
  for (size_t i = 0; i < 4; ++i) inverse[i] = 1.0 / Length(n[i]);
  double largest_cosine = -1.0;
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = i + 1; j < 4; ++j) {
      largest_cosine = std::max(largest_cosine, -Dot(n[i], n[j]) * inverse[i] * inverse[j]);
    }
  }
  return DegreesOfCosine(largest_cosine);
}

double DihedralAt(const std::array<Vec3d, 4>& tet, size_t i, size_t j) {
  size_t k = 0;
  while (k == i || k == j) ++k;
  const size_t l = 6 - i - j - k;
  const Vec3d edge = tet[j] - tet[i];
  const Vec3d n = Cross(edge, tet[k] - tet[i]);
  const Vec3d m = Cross(edge, tet[l] - tet[i]);
  return DegreesOfCosine(Dot(n, m) / std::sqrt(LengthSquared(n) * LengthSquared(m)));
}

}  // namespace plush::tools
