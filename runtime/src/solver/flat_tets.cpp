// SPDX-License-Identifier: MIT
#include "elasticity/tet_element.h"
#include "solver/volume_sweep.h"

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

// Mass-weighted move of a node along `gradient`, without what goes against the held normal.
Vec3 LiftMove(const Vec3& held_normal, float inverse_mass, const Vec3& gradient) {
  const float into = std::fmin(Dot(held_normal, gradient), 0.0f);
  return (gradient - held_normal * into) * inverse_mass;
}

// The bound on a tet's det F. Lifts become velocity: to push a tet that began inside out all the
// way would throw its nodes.
float LeastDetF(const Tet& tet, const Mat3& dm_inv, NodeVectors before) {
  const float det = Determinant(
      DeformationGradient(before[tet.a], before[tet.b], before[tet.c], before[tet.d], dm_inv));
  return std::fmin(det, kLeastDetF);
}

}  // namespace

bool LiftFlatTets(const ElementView& elements, std::span<const NodeVec> held_normals,
                  NodeVectors before, std::span<NodeVec> x) {
  bool lifted = false;
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Tet& tet = elements.tets[t];
    const Mat3 dm_inv = elements.DmInv(t);
    const Mat3 F = DeformationGradient(x[tet.a], x[tet.b], x[tet.c], x[tet.d], dm_inv);
    const float det = Determinant(F);
    if (!(det < kLeastDetF)) continue;
    const float missing = LeastDetF(tet, dm_inv, before) - det;
    if (!(missing > 0.0f)) continue;
    const uint32_t nodes[4] = {tet.a, tet.b, tet.c, tet.d};
    const Mat3 at = NodeGradients(Cofactor(F), dm_inv), rest = Transpose(dm_inv);
    const Vec3 gradients[4] = {-(at.c0 + at.c1 + at.c2), at.c0, at.c1, at.c2};
    const Vec3 rest_gradients[4] = {-(rest.c0 + rest.c1 + rest.c2), rest.c0, rest.c1, rest.c2};
    Vec3 moves[4];
    float response = 0.0f, rest_response = 0.0f;
    for (int i = 0; i < 4; ++i) {
      moves[i] = LiftMove(held_normals.empty() ? Vec3{} : Vec3(held_normals[nodes[i]]),
                          x[nodes[i]].w, gradients[i]);
      response += Dot(moves[i], gradients[i]);
      rest_response += x[nodes[i]].w * Dot(rest_gradients[i], rest_gradients[i]);
    }
    const float change = std::fmin(missing + kLiftMargin, kMostLift) /
                         std::fmax(response, kLeastResponse * rest_response);
    if (!(response > 0.0f) || !std::isfinite(response) || !std::isfinite(change)) continue;
    for (int i = 0; i < 4; ++i) x[nodes[i]] += moves[i] * change;
    lifted = true;
  }
  return lifted;
}

}  // namespace plush
