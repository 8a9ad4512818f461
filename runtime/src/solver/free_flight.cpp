// SPDX-License-Identifier: MIT
// Components in flight: predictions that turn with them, and the angular momentum that implicit
// Euler takes from them. It changes their angular momentum by h sum m v' x v in a step of h
// seconds, v' and v the velocities after and before: with forces without a moment at x', sum m x' x
// (v' - v) = 0, and x' = x + h v'.
#include "base/vector_math.h"
#include "solver/coarse_level.h"
#include "solver/component_mass.h"

#include <cmath>

namespace plush {

using namespace rigid;

namespace {

// momenta = h m v of the nodes, and their sums over the clusters.
void SumMomenta(const CoarseLevel& level, std::span<const NodeVec> x, std::span<const NodeVec> v,
                float h, std::span<NodeVec> momenta, std::span<ClusterSums> sums) {
  for (size_t i = 0; i < x.size(); ++i) {
    momenta[i] = NodeVec();
    if (x[i].w > 0.0f) momenta[i] = v[i] * (h / x[i].w);
  }
  level.Sum(x, momenta, sums);
}

// The mean motion that a component makes with the impulses and moments of its clusters.
Screw MeanMotion(const CoarseLevel& level, size_t c, std::span<const ClusterSums> sums,
                 const ComponentMass& mass) {
  Momenta sum;
  for (const uint16_t k : level.Component(c)) {
    mass.Add(sums[k], {ToPoint(sums[k].impulse), ToPoint(sums[k].moment)}, &sum);
  }
  return mass.MotionOf(sum);
}

}  // namespace

void CoarseLevel::TurnPredictions(std::span<const NodeVec> x, std::span<const NodeVec> v, float h,
                                  std::span<const Hinge> hinges, std::span<NodeVec> momenta,
                                  std::span<NodeVec> y) const {
  ClusterSums sums[kMaxClusters];
  SumMomenta(*this, x, v, h, momenta, sums);
  for (size_t c = 0; c < num_components(); ++c) {
    if (hinges[c].kind == Hinge::Kind::kHeld) continue;
    const ComponentMass mass(*this, c, hinges[c], sums);
    Matrix arms = {};  // sum of m r d^T, r from the centre, of ways d
    for (const uint16_t k : Component(c)) {
      const Point impulse = ToPoint(sums[k].impulse), arm = mass.ArmOf(sums[k].centre);
      Matrix own;
      ToMatrix(sums[k].arms, &own);
      for (size_t i = 0; i < 3; ++i) {
        for (size_t j = 0; j < 3; ++j) arms[i][j] += own[i][j] + arm.at[i] * impulse.at[j];
      }
    }
    // The mean motion d = shift + W r, and the rotation R = I + change of its turn. If the last way
    // was such a turn, d = shift + (I - R^T) r, as velocities are those along it: W r + bend r.
    // (But velocities that a user sets are not.) `bent`: how much of `bend` the ways have.
    const Screw mean = MeanMotion(*this, c, sums, mass);
    Matrix change, W = {}, bend;
    CayleyChange(mean.turn.at, &change);
    for (size_t i = 0; i < 3; ++i) {
      const size_t j = (i + 1) % 3, k = (i + 2) % 3;
      W[k][j] = mean.turn.at[i];
      W[j][k] = -mean.turn.at[i];
    }
    double along = 0.0, square = 0.0;
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = 0; j < 3; ++j) bend[i][j] = -change[j][i] - W[i][j];
    }
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = 0; j < 3; ++j) {
        along += bend[i][j] * arms[j][i];
        for (size_t k = 0; k < 3; ++k) {
          const double spread = mass.square()[j][k];
          along -= bend[i][j] * spread * W[i][k];
          square += bend[i][j] * spread * bend[i][k];
        }
      }
    }
    const double bent = square > 0.0 ? std::fmin(std::fmax(along / square, 0.0), 1.0) : 0.0;
    // Straight on leads by d to r + d. The turn leads by shift to R (r + d - shift - W r - bent
    // bend r). The difference is by_arm r + change (d - shift).
    Matrix by_arm;
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = 0; j < 3; ++j) by_arm[i][j] = -W[i][j] - bent * bend[i][j];
    }
    Matrix turned = {};
    AddProduct(change, by_arm, &turned);
    for (size_t i = 0; i < 9; ++i) {
      (&by_arm[0][0])[i] += (&turned[0][0])[i] + (&change[0][0])[i];
    }
    const Mat3 of_arm = ToMat3(by_arm), of_way = ToMat3(change);
    const Vec3 shift = ToVec3(mean.shift.at), centre = mass.Centre();
    for (const uint16_t k : Component(c)) {
      for (uint32_t m = first_member[k]; m < first_member[k + 1]; ++m) {
        const uint32_t node = members[m];
        y[node] += of_arm * (x[node] - centre) + of_way * (v[node] * h - shift);
      }
    }
  }
}

void CoarseLevel::KeepTurns(std::span<const NodeVec> x, std::span<const NodeVec> before, float h,
                            std::span<NodeVec> momenta, std::span<NodeVec> v) const {
  // Where waves cross many clusters, faster turns strain the body.
  constexpr double kManyClusters = 100.0;
  const double whole = CrossesClusters(h, kManyClusters) ? 0.1 : 0.3, most = whole + 0.1;  // [rad]
  ClusterSums sums[kMaxClusters];
  SumMomenta(*this, x, v, h, momenta, sums);
  for (size_t c = 0; c < num_components(); ++c) {
    if (!HingePinsOf(c).empty()) continue;
    const ComponentMass mass(*this, c, {}, sums);
    const Screw way = MeanMotion(*this, c, sums, mass);
    double square = 0.0;
    for (const double angle : way.turn.at) square += angle * angle;
    const double share = std::fmin((most - std::sqrt(square)) / (most - whole), 1.0);
    if (!(share > 0.0)) continue;
    Momenta lost;
    for (const uint16_t k : Component(c)) {
      for (uint32_t m = first_member[k]; m < first_member[k + 1]; ++m) {
        const NodeVec& impulse = momenta[members[m]];
        Point beside = ToPoint(impulse);
        for (size_t i = 0; i < 3; ++i) beside.at[i] -= way.shift.at[i] / double(x[members[m]].w);
        AddCross(ToPoint(before[members[m]]), beside, &lost.angular);
      }
    }
    for (double& number : lost.angular.at) number *= share;
    const Screw found = mass.MotionOf(lost);
    square = 0.0;
    for (const double speed : found.turn.at) square += speed * speed;
    if (!(square * double(h) * double(h) < most * most)) continue;
    const Vec3 more = ToVec3(found.turn.at), centre = mass.Centre();
    for (const uint16_t k : Component(c)) {
      for (uint32_t m = first_member[k]; m < first_member[k + 1]; ++m) {
        v[members[m]] += Cross(more, x[members[m]] - centre);
      }
    }
  }
}

}  // namespace plush
