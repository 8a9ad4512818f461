// SPDX-License-Identifier: MIT
// Source: free_turn.h.
#include "contact/free_turn.h"

#include "contact/inertia.h"
#include "solver/panel_solve.h"

#include <algorithm>
#include <cstddef>

namespace plush {

static Vec3 Column(const double (&m)[3][3], int l) {
  return {static_cast<float>(m[0][l]), static_cast<float>(m[1][l]), static_cast<float>(m[2][l])};
}

void FindKept(const FactoredSystem& system, std::span<NodeVec> z, FreeTurn* turn) {
  const size_t count = turn->nodes.size();
  for (size_t i = 0; i < count; ++i) {
    const NodeVec& node = turn->nodes[i];
    z[i] = NodeVec();
    if (node.w > 0.0f) z[i] = (node - turn->centre) * (1.0f / node.w);
  }
  z[count] = NodeVec();
  SolvePanels(system.factor, system.workspace, z);
  turn->z = z.first(count);
}

Turning FreeTurn::Answer(const Vec3& to_moment, const Vec3& to_kept) const {
  const Vec3 kept_turn = yielding * to_moment;
  return {yielding * (to_moment - to_kept + kept * kept_turn), kept_turn};
}

TurnedPoint::TurnedPoint(const FreeTurn& turn, const EmbeddedPoint& point)
    : arm(point.Of(turn.nodes) - turn.centre), z(point.Of(turn.z)) {}

void TurnedPoint::Push(const Vec3& impulse, FreeTurn* turn) const {
  turn->moment += Cross(arm, impulse);
  turn->kept_moment += Cross(z, impulse);
  turn->turning = turn->Answer(turn->moment, turn->kept_moment);
}

float TurnedPoint::Bound(float own, const FreeTurn& turn) const {
  const auto answer = [&](const Vec3& axis) { return axis * own + MovedBy(Answer(turn, axis)); };
  return BoundOf({answer({1, 0, 0}), answer({0, 1, 0}), answer({0, 0, 1})});
}

void TurnResistance::Add(const Vec3& arm, const Vec3& impulse) {
  const double r[3] = {arm.x, arm.y, arm.z}, p[3] = {impulse.x, impulse.y, impulse.z};
  const double along = r[0] * p[0] + r[1] * p[1] + r[2] * p[2];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      G_[i][j] += (i == j ? along : 0.0) - 0.5 * (r[i] * p[j] + r[j] * p[i]);
    }
  }
}

void TurnResistance::ApplyTo(FreeTurn* turn) const {
  double G[3][3];
  std::copy_n(&G_[0][0], 9, &G[0][0]);
  TakePositivePart(G);
  // (I + G)^-1 = (1 + I^-1 G)^-1 I^-1, which holds for the line of a hinge, too.
  const Mat3 own = turn->yielding;
  const Mat3 more = own * Mat3{Column(G, 0), Column(G, 1), Column(G, 2)};
  const Mat3 whole = more + Mat3{{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}};
  const Mat3 cofactor = Cofactor(whole);
  const float inverse = 1.0f / Determinant(whole);
  for (auto column : {&Mat3::c0, &Mat3::c1, &Mat3::c2}) {
    turn->yielding.*column = TransposeTimes(cofactor, own.*column) * inverse;
  }
}

namespace {

Vec3 CentreOfMass(std::span<const NodeVec> at) {
  double mass = 0.0, sum[3] = {};
  for (const NodeVec& node : at) {
    const double m = 1.0 / double(node.w);
    mass += m, sum[0] += m * double(node.x), sum[1] += m * double(node.y),
        sum[2] += m * double(node.z);
  }
  return {static_cast<float>(sum[0] / mass), static_cast<float>(sum[1] / mass),
          static_cast<float>(sum[2] / mass)};
}

// InvertInertia if turns are about a line only.
bool InvertAbout(const double (&axis)[3], double (&I)[3][3]) {
  constexpr double kLeast = 1.0e-6;
  double about = 0.0;
  for (int k = 0; k < 3; ++k) {
    for (int l = 0; l < 3; ++l) about += axis[k] * I[k][l] * axis[l];
  }
  if (!(about > kLeast * (I[0][0] + I[1][1] + I[2][2]))) return false;
  for (int k = 0; k < 3; ++k) {
    for (int l = 0; l < 3; ++l) I[k][l] = axis[k] * axis[l] / about;
  }
  return true;
}

}  // namespace

FreeTurn FindFreeTurn(const FactoredSystem& system, std::span<const NodeVec> at,
                      std::span<NodeVec> z, const Hinge& hinge) {
  const size_t count = at.size();
  const Vec3 centre = hinge.IsOnPoints()
                          ? Vec3{static_cast<float>(hinge.at[0]), static_cast<float>(hinge.at[1]),
                                 static_cast<float>(hinge.at[2])}
                          : CentreOfMass(at);
  FreeTurn turn = {.centre = centre, .nodes = at};
  FindKept(system, z, &turn);
  double inertia[3][3] = {}, kept[3][3] = {};  // first, sums of m r r^T and of m z r^T
  for (size_t i = 0; i < count; ++i) {
    if (!(at[i].w > 0.0f)) continue;
    const double m = 1.0 / double(at[i].w);
    const Vec3 from = at[i] - centre;
    const double r[3] = {from.x, from.y, from.z}, of_z[3] = {z[i].x, z[i].y, z[i].z};
    for (int l = 0; l < 3; ++l) {
      const double share = m * r[l];
      for (int k = 0; k < 3; ++k) inertia[k][l] += share * r[k];
      for (int k = 0; k < 3; ++k) kept[k][l] += share * of_z[k];
    }
  }
  for (double(*sums)[3] : {inertia, kept}) {
    const double trace = sums[0][0] + sums[1][1] + sums[2][2];
    for (int k = 0; k < 3; ++k) {
      for (int l = 0; l < 3; ++l) sums[k][l] = (k == l ? trace : 0.0) - sums[k][l];
    }
  }
  turn.kept = {Column(kept, 0), Column(kept, 1), Column(kept, 2)};
  turn.acts =
      hinge.kind == Hinge::Kind::kLine ? InvertAbout(hinge.axis, inertia) : InvertInertia(inertia);
  turn.yielding = {Column(inertia, 0), Column(inertia, 1), Column(inertia, 2)};
  return turn;
}

}  // namespace plush
