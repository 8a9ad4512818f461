// SPDX-License-Identifier: MIT
#include "solver/volume_sweep.h"

#include "elasticity/tet_element.h"

#include <cmath>

namespace plush {
namespace {

// A flat tet is lifted by no more than this in det F per sweep.
constexpr float kMostLift = 0.25f;
// A gradient counts as at least this share of that of the rest shape, squared and mass-weighted: a
// lift then moves nodes by at most a rest height or so, also where a tet is flat in two directions.
constexpr float kLeastResponse = 0.05f;
// What is aimed at above the bound, so that sweeps over tets that undo each other's lifts end.
constexpr float kLiftMargin = 0.05f;

// Mass-weighted move of a node along `gradient`: w (I - n n^T) gradient.
Vec3 Move(const NodeMobility& mobility, const Vec3& gradient) {
  const Vec3& n = mobility.held_normal;
  return (gradient - n * Dot(n, gradient)) * mobility.inverse_mass;
}

// The same where the normal is held in one direction only: nodes may leave a plane.
Vec3 LiftMove(const NodeMobility& mobility, const Vec3& gradient) {
  const Vec3& n = mobility.held_normal;
  const float into = std::fmin(Dot(n, gradient), 0.0f);
  return (gradient - n * into) * mobility.inverse_mass;
}

// The bound on the tet's det F where its nodes have moved by `u` to `x`. Lifts become velocity: to
// push a tet that began inside out all the way would throw its nodes.
float LeastDetF(const Tet& tet, const Mat3& dm_inv, std::span<const Vec3> x,
                std::span<const Vec3> u) {
  const float before = Determinant(DeformationGradient(
      x[tet.a] - u[tet.a], x[tet.b] - u[tet.b], x[tet.c] - u[tet.c], x[tet.d] - u[tet.d], dm_inv));
  return std::fmin(before, kLeastDetF);
}

}  // namespace

SweepChanges SweepVolumes(const ElementView& elements, std::span<const NodeMobility> mobility,
                          float dt, std::span<Vec3> x, std::span<Vec3> u, std::span<float> kappa) {
  const auto move = [&](uint32_t node, const Vec3& by) {
    x[node] += by;
    u[node] += by;
  };
  SweepChanges changes;
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Tet& tet = elements.tets[t];
    const float stiffness = elements.lame.Lambda(t) * elements.volumes[t] * dt * dt;
    const Mat3 F = DeformationGradient(x[tet.a], x[tet.b], x[tet.c], x[tet.d], elements.dm_inv[t]);
    const float det = Determinant(F);
    if (det < changes.lowest_det_f) changes.lowest_det_f = det;
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
    const float gain = std::fabs(response * change);
    if (gain > changes.largest) changes.largest = gain;
    move(tet.a, move_a * change);
    move(tet.b, move_b * change);
    move(tet.c, move_c * change);
    move(tet.d, move_d * change);
  }
  return changes;
}

bool HasFlatTet(const ElementView& elements, std::span<const Vec3> x) {
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Tet& tet = elements.tets[t];
    const Vec3& a = x[tet.a];
    const float six_volume = Determinant(Mat3{x[tet.b] - a, x[tet.c] - a, x[tet.d] - a});
    if (six_volume * Determinant(elements.dm_inv[t]) < kLeastDetF) return true;
  }
  return false;
}

bool LiftFlatTets(const ElementView& elements, std::span<const NodeMobility> mobility,
                  std::span<Vec3> x, std::span<Vec3> u) {
  bool lifted = false;
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Tet& tet = elements.tets[t];
    const Mat3& dm_inv = elements.dm_inv[t];
    const Mat3 F = DeformationGradient(x[tet.a], x[tet.b], x[tet.c], x[tet.d], dm_inv);
    const float det = Determinant(F);
    if (!(det < kLeastDetF)) continue;
    const float missing = LeastDetF(tet, dm_inv, x, u) - det;
    if (!(missing > 0.0f)) continue;
    const uint32_t nodes[4] = {tet.a, tet.b, tet.c, tet.d};
    const Mat3 at = NodeGradients(Cofactor(F), dm_inv), rest = Transpose(dm_inv);
    const Vec3 gradients[4] = {-(at.c0 + at.c1 + at.c2), at.c0, at.c1, at.c2};
    const Vec3 rest_gradients[4] = {-(rest.c0 + rest.c1 + rest.c2), rest.c0, rest.c1, rest.c2};
    Vec3 moves[4];
    float response = 0.0f, rest_response = 0.0f;
    for (int i = 0; i < 4; ++i) {
      moves[i] = LiftMove(mobility[nodes[i]], gradients[i]);
      response += Dot(moves[i], gradients[i]);
      rest_response += mobility[nodes[i]].inverse_mass * Dot(rest_gradients[i], rest_gradients[i]);
    }
    const float change = std::fmin(missing + kLiftMargin, kMostLift) /
                         std::fmax(response, kLeastResponse * rest_response);
    if (!(response > 0.0f) || !std::isfinite(response) || !std::isfinite(change)) continue;
    for (int i = 0; i < 4; ++i) {
      x[nodes[i]] += moves[i] * change;
      u[nodes[i]] += moves[i] * change;
    }
    lifted = true;
  }
  return lifted;
}

}  // namespace plush
