// SPDX-License-Identifier: MIT
// The diagonal blocks of the hybrid stiffness, one tet after the other.
// Source: see force_differential.h.
#include "base/vector_math.h"
#include "elasticity/force_differential.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

// m += s a a^T.
void AddSquare(const Vec3& a, float s, Mat3* m) {
  m->c0 += a * (s * a.x);
  m->c1 += a * (s * a.y);
  m->c2 += a * (s * a.z);
}

}  // namespace

void AddStiffnessDiagonal(const ElementView& elements, const ElementSettings& settings, TetsAt at,
                          std::span<Mat3> blocks) {
  const float dt2 = settings.dt * settings.dt;
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const uint32_t slot = elements.slots[t];
    const float* s =
        &at.stretches[kStretchNumbers * kBlockTets * (slot / kBlockTets) + slot % kBlockTets];
    const auto number = [s](size_t k) { return s[kBlockTets * k]; };
    const Mat3 S = {{number(0), number(3), number(4)},
                    {number(3), number(1), number(5)},
                    {number(4), number(5), number(2)}};
    const Mat3 R = RotationMatrix(at.rotations.Get(slot));
    const Mat3 cofactor = R * Cofactor(S);
    const float change = Determinant(S) - 1.0f, bulk = elements.Bulk(t);
    const float pressure = VolumePressure(settings.law, elements.Stiffness(t), bulk, change);
    const float wanted = LimitedBulk(settings.law, elements.Stiffness(t), bulk) * change;
    const float secant = pressure == wanted ? bulk : pressure / change;
    const float off =
        std::fabs(S.c0.x - 1.0f) + std::fabs(S.c1.y - 1.0f) + std::fabs(S.c2.z - 1.0f);
    const float stretch = dt2 * elements.Stiffness(t);
    const float plain = std::fmin(off * (1.0f / 3.0f), 1.0f) * stretch;
    const float symmetric =
        stretch - plain + settings.dt * settings.damping * elements.Stiffness(t);
    const Mat3 rows = Transpose(elements.DmInv(t));
    const Vec3 gradients[4] = {-(rows.c0 + rows.c1 + rows.c2), rows.c0, rows.c1, rows.c2};
    const Tet& tet = elements.tets[t];
    const uint32_t nodes[4] = {tet.a, tet.b, tet.c, tet.d};
    for (int k = 0; k < 4; ++k) {
      Mat3* block = &blocks[nodes[k]];
      const Vec3& g = gradients[k];
      const float same = (plain + 0.5f * symmetric) * Dot(g, g);
      block->c0.x += same;
      block->c1.y += same;
      block->c2.z += same;
      AddSquare(R * g, 0.5f * symmetric, block);
      AddSquare(cofactor * g, dt2 * secant, block);
    }
  }
}

}  // namespace plush
