// SPDX-License-Identifier: MIT
// F = Ds Dm^-1 maps the tet, so its cofactor maps vector areas: cof(F) N = cof(Ds) Dm^T N / det Dm,
// without an inverse. The centroid c goes to x_0 + Ds cof(Dm)^T (c - X_0) / det Dm.
#include "collision/deformed_patch.h"

#include "collision/double_vector.h"

#include <cmath>

namespace plush {
namespace {

DoubleVector ToDouble(const Vec3& a) { return {a.x, a.y, a.z}; }

// A matrix as three columns.
struct Matrix {
  DoubleVector c[3];
};

Matrix Edges(const std::array<Vec3, 4>& x) {
  return {{Difference(x[1], x[0]), Difference(x[2], x[0]), Difference(x[3], x[0])}};
}
Matrix Cofactor(const Matrix& m) {
  return {{Cross(m.c[1], m.c[2]), Cross(m.c[2], m.c[0]), Cross(m.c[0], m.c[1])}};
}
// base + sum weights[i] m.c[i], clamped to float's range in each component.
Vec3 Combine(const Matrix& m, const double (&weights)[3], const DoubleVector& base) {
  const auto sum = [&](double b, double p, double q, double r) {
    return ToFloat(b + p * weights[0] + q * weights[1] + r * weights[2]);
  };
  return {sum(base.x, m.c[0].x, m.c[1].x, m.c[2].x), sum(base.y, m.c[0].y, m.c[1].y, m.c[2].y),
          sum(base.z, m.c[0].z, m.c[1].z, m.c[2].z)};
}

}  // namespace

DeformedPatch DeformPatch(const CdgPatch& patch, const std::array<Vec3, 4>& rest,
                          const std::array<Vec3, 4>& now) {
  const Matrix Dm = Edges(rest), Ds = Edges(now), cofactor = Cofactor(Dm);
  const double determinant = Dot(Dm.c[0], cofactor.c[0]);
  DeformedPatch deformed;
  if (!(std::fabs(determinant) > 1.0e-60)) return deformed;
  const DoubleVector area = ToDouble(patch.vector_area);
  const DoubleVector centroid = Difference(patch.centroid, rest[0]);
  double along[3], weights[3];
  for (int i = 0; i < 3; ++i) {
    along[i] = Dot(Dm.c[i], area) / determinant;
    weights[i] = Dot(cofactor.c[i], centroid) / determinant;
  }
  deformed.vector_area = Combine(Cofactor(Ds), along, {0.0, 0.0, 0.0});
  deformed.centroid = Combine(Ds, weights, ToDouble(now[0]));
  deformed.area = patch.area;
  return deformed;
}

}  // namespace plush
