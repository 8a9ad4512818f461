// SPDX-License-Identifier: MIT
// Source: elastic_energy.h. With singular values s1 >= s2 >= |s3|, s3 of the sign of det F, the
// trace f = s1 + s2 + s3 is the largest root of (f^2 - a)^2 - 8 J f - 4 c, with a the sum of their
// squares, c that of the squares of their products in pairs, and J = det F.
#include "elasticity/elastic_energy.h"

#include <algorithm>
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

// Invariants of the deformation gradients of a block's tets (1 x 16 each). A place without a tet
// has those of the identity.
struct Invariants {
  double a[kBlockTets], c[kBlockTets], J[kBlockTets];

  Invariants(const TetBlock& block, NodeVectors x) {
    std::fill_n(a, kBlockTets, 3.0), std::fill_n(c, kBlockTets, 3.0),
        std::fill_n(J, kBlockTets, 1.0);
    for (size_t i = 0; i < kBlockTets; ++i) {
      if (!(block.det_dm_inv[i] > 0.0f)) continue;
      const auto column = [&](size_t k) {
        return Vec3{block.dm_inv[k][i], block.dm_inv[k + 1][i], block.dm_inv[k + 2][i]};
      };
      const Mat3 F =
          DeformationGradient(x[block.nodes[0][i]], x[block.nodes[1][i]], x[block.nodes[2][i]],
                              x[block.nodes[3][i]], {column(0), column(3), column(6)});
      const Vec3d p(F.c0), q(F.c1), r(F.c2);
      const Vec3d pq = Cross(p, q), qr = Cross(q, r), rp = Cross(r, p);
      a[i] = Dot(p, p) + Dot(q, q) + Dot(r, r);
      c[i] = Dot(pq, pq) + Dot(qr, qr) + Dot(rp, rp);
      J[i] = Dot(pq, r);
    }
  }

  // The largest roots by Newton's method from above, where the polynomial is convex: sqrt(3 a) is
  // at least f. Two or three steps, unless the two smaller singular values cancel each other.
  void FindTraces(double* f) const {
    constexpr int kMostSteps = 32;
    constexpr double kConverged = 1.0e-12;
    double steps[kBlockTets];
    for (size_t i = 0; i < kBlockTets; ++i) f[i] = std::sqrt(3.0 * a[i]);
    for (int k = 0; k < kMostSteps; ++k) {
      double most = 0.0;
      for (size_t i = 0; i < kBlockTets; ++i) {
        const double u = f[i] * f[i] - a[i];
        const double step =
            (u * u - 8.0 * J[i] * f[i] - 4.0 * c[i]) / (4.0 * f[i] * u - 8.0 * J[i]);
        steps[i] = step > kConverged * f[i] ? step : 0.0;
      }
      for (size_t i = 0; i < kBlockTets; ++i) f[i] -= steps[i], most = std::max(most, steps[i]);
      if (most == 0.0) break;
    }
  }
};

}  // namespace

double ElasticEnergy(const ElementView& elements, NodeVectors x, float most_bulk) {
  double sum = 0.0;
  for (size_t b = 0; b < elements.blocks.size(); ++b) {
    const Invariants of(elements.blocks[b], x);
    const float *stiffness = elements.StiffnessOf(b), *bulk = elements.BulkOf(b);
    double f[kBlockTets];
    of.FindTraces(f);
    for (size_t i = 0; i < kBlockTets; ++i) {
      const double k = double(stiffness[i]), J = of.J[i] - 1.0;
      const double lambda = std::fmin(double(bulk[i]), 0.5 * double(most_bulk) * k);
      sum += k * (of.a[i] - 2.0 * f[i] + 3.0) + lambda * J * J;
    }
  }
  return 0.5 * sum;
}

}  // namespace plush
