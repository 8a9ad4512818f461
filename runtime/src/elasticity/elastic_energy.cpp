// SPDX-License-Identifier: MIT
// Source: elastic_energy.h. With singular values s1 >= s2 >= |s3|, s3 of the sign of det F, the
// trace f = s1 + s2 + s3 is the largest root of (f^2 - a)^2 - 8 J f - 4 c, with a the sum of their
// squares, c that of the squares of their products in pairs, and J = det F.
#include "elasticity/elastic_energy.h"

#include <cmath>

namespace plush {
namespace {

// In float, invariants would hide strains below 3e-4.
struct Vec3d {
  double x, y, z;

  explicit Vec3d(const Vec3& v) : x(double(v.x)), y(double(v.y)), z(double(v.z)) {}
  Vec3d(double x_, double y_, double z_) : x(x_), y(y_), z(z_) {}
};

double Dot(const Vec3d& a, const Vec3d& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Vec3d Cross(const Vec3d& a, const Vec3d& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// The largest root by Newton's method from above, where the polynomial is convex: sqrt(3 a) is at
// least f. Two or three steps, unless the two smaller singular values cancel each other.
double TraceOf(double a, double c, double J) {
  constexpr int kMostSteps = 32;
  constexpr double kConverged = 1.0e-12;
  double f = std::sqrt(3.0 * a);
  for (int i = 0; i < kMostSteps; ++i) {
    const double u = f * f - a;
    const double slope = 4.0 * f * u - 8.0 * J;
    const double step = (u * u - 8.0 * J * f - 4.0 * c) / slope;
    if (!(step > kConverged * f)) break;
    f -= step;
  }
  return f;
}

}  // namespace

double ElasticEnergy(const ElementView& elements, NodeVectors x, float most_bulk) {
  double sum = 0.0;
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Tet& tet = elements.tets[t];
    const Mat3 F = DeformationGradient(x[tet.a], x[tet.b], x[tet.c], x[tet.d], elements.DmInv(t));
    const Vec3d p(F.c0), q(F.c1), r(F.c2);
    const Vec3d pq = Cross(p, q), qr = Cross(q, r), rp = Cross(r, p);
    const double J = Dot(pq, r), a = Dot(p, p) + Dot(q, q) + Dot(r, r);
    const double c = Dot(pq, pq) + Dot(qr, qr) + Dot(rp, rp);
    const double k = elements.Stiffness(t);
    const double bulk = std::fmin(double(elements.Bulk(t)), 0.5 * double(most_bulk) * k);
    sum += k * (a - 2.0 * TraceOf(a, c, J) + 3.0) + bulk * (J - 1.0) * (J - 1.0);
  }
  return 0.5 * sum;
}

}  // namespace plush
