// SPDX-License-Identifier: MIT
#include "solver/volume_sweep.h"

#include "elasticity/tet_element.h"

namespace plush {
namespace {

// Mass-weighted move of a node along `gradient`: w (I - n n^T) gradient.
Vec3 Move(const NodeMobility& mobility, const Vec3& gradient) {
  const Vec3& n = mobility.held_normal;
  return (gradient - n * Dot(n, gradient)) * mobility.inverse_mass;
}

}  // namespace

void SweepVolumes(const ElementView& elements, std::span<const NodeMobility> mobility, float dt,
                  std::span<Vec3> x, std::span<Vec3> u, std::span<float> kappa) {
  const auto move = [&](uint32_t node, const Vec3& by) {
    x[node] += by;
    u[node] += by;
  };
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Tet& tet = elements.tets[t];
    const float stiffness = elements.lame.Lambda(t) * elements.volumes[t] * dt * dt;
    const Mat3 F = DeformationGradient(x[tet.a], x[tet.b], x[tet.c], x[tet.d], elements.dm_inv[t]);
    const float det = Determinant(F);
    if (!(stiffness > 0.0f)) {
      kappa[t] = 0.0f;
      continue;
    }
    const Mat3 gradients = NodeGradients(Cofactor(F), elements.dm_inv[t]);
    const Vec3 gradient_a = -(gradients.c0 + gradients.c1 + gradients.c2);
    const Vec3 move_a = Move(mobility[tet.a], gradient_a);
    const Vec3 move_b = Move(mobility[tet.b], gradients.c0);
    const Vec3 move_c = Move(mobility[tet.c], gradients.c1);
    const Vec3 move_d = Move(mobility[tet.d], gradients.c2);
    const float response = Dot(move_a, gradient_a) + Dot(move_b, gradients.c0) +
                           Dot(move_c, gradients.c1) + Dot(move_d, gradients.c2);
    const float alpha = 1.0f / stiffness;
    const float change = (1.0f - det - alpha * kappa[t]) / (response + alpha);
    kappa[t] += change;
    move(tet.a, move_a * change);
    move(tet.b, move_b * change);
    move(tet.c, move_c * change);
    move(tet.d, move_d * change);
  }
}

}  // namespace plush
