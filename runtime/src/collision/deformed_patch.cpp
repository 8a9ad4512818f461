// SPDX-License-Identifier: MIT
// F = Ds Dm^-1 maps the tet, so its cofactor maps vector areas: cof(F) N = cof(Ds) Dm^T N / det Dm,
// without an inverse. The centroid c goes to x_0 + Ds cof(Dm)^T (c - X_0) / det Dm.
#include "collision/deformed_patch.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plush {
namespace {

struct Vector {
  double x, y, z;
};

Vector ToDouble(const Vec3& a) { return {a.x, a.y, a.z}; }
Vector operator-(const Vector& a, const Vector& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
double Dot(const Vector& a, const Vector& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Vector Cross(const Vector& a, const Vector& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// A matrix as three columns.
struct Matrix {
  Vector c[3];
};

Matrix Edges(const std::array<Vec3, 4>& x) {
  const Vector base = ToDouble(x[0]);
  return {{ToDouble(x[1]) - base, ToDouble(x[2]) - base, ToDouble(x[3]) - base}};
}
Matrix Cofactor(const Matrix& m) {
  return {{Cross(m.c[1], m.c[2]), Cross(m.c[2], m.c[0]), Cross(m.c[0], m.c[1])}};
}
// base + sum weights[i] m.c[i], clamped to float's range in each component.
Vec3 Combine(const Matrix& m, const double (&weights)[3], const Vector& base) {
  constexpr double kMost = std::numeric_limits<float>::max();
  const auto sum = [&](double b, double p, double q, double r) {
    return static_cast<float>(
        std::clamp(b + p * weights[0] + q * weights[1] + r * weights[2], -kMost, kMost));
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
  const Vector area = ToDouble(patch.vector_area);
  const Vector centroid = ToDouble(patch.centroid) - ToDouble(rest[0]);
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
