// SPDX-License-Identifier: MIT
// Components in flight: predictions that turn with them, their rigid motions, and the angular
// momentum that implicit Euler takes from them. Forces without a moment at x' = x + h v' keep sum m
// x' x v, v and v' the velocities before and after a step of h seconds. So the angular momentum
// changes by h sum m v' x v.
#include "base/vector_math.h"
#include "solver/coarse_level.h"
#include "solver/component_mass.h"

#include <algorithm>
#include <cmath>

namespace plush {

using namespace rigid;

namespace {

// momenta = h m v of the nodes, and their sums over the clusters.
void SumMomenta(const CoarseLevel& level, std::span<const NodeVec> x, std::span<const NodeVec> v,
                float h, std::span<NodeVec> momenta, std::span<ClusterSums> sums) {
  for (size_t i = 0; i < x.size(); ++i) {
    momenta[i] = x[i].w > 0.0f ? NodeVec(v[i] * (h / x[i].w), 0.0f) : NodeVec();
  }
  level.Sum(x, momenta, sums);
}

// The impulses and moments of a component's clusters.
Momenta SumOf(const CoarseLevel& level, size_t c, std::span<const ClusterSums> sums,
              const ComponentMass& mass) {
  Momenta sum;
  for (const uint16_t k : level.Component(c)) {
    mass.Add(sums[k], {ToPoint(sums[k].impulse), ToPoint(sums[k].moment)}, &sum);
  }
  return sum;
}

// Whether the turn has at least half of a component's kinetic energy beside that of its centre.
bool Spins(const CoarseLevel& level, size_t c, std::span<const NodeVec> v,
           std::span<const NodeVec> momenta, float h, const Screw& motion, const Momenta& own) {
  double beside = 0.0, turning = 0.0;  // [kg m^2]
  for (const uint16_t k : level.Component(c)) {
    for (uint32_t m = level.first_member[k]; m < level.first_member[k + 1]; ++m) {
      beside += double(h) * double(Dot(momenta[level.members[m]], v[level.members[m]]));
    }
  }
  for (size_t k = 0; k < 3; ++k) {
    beside -= own.linear.at[k] * motion.shift.at[k];
    turning += own.angular.at[k] * motion.turn.at[k];
  }
  return turning >= 0.5 * beside;
}

// By what a vector as long as the sine of a turn's angle is multiplied for CayleyChange. Beyond 64
// degrees it is longer than that: velocities that a user sets have no limit.
double AngleOverSine(double sine2) {
  constexpr double kLeastCosine2 = 0.19;
  return 2.0 / (1.0 + std::sqrt(std::fmax(1.0 - sine2, kLeastCosine2)));
}

// The turn that ways d of a component's nodes come from: d = shift + W r + bent bend r and what
// they do besides, r from the centre. If the last way was a turn by R, d = shift + (I - R^T) r, as
// velocities are those along it. W is the antisymmetric part of I - R^T, `bend` the rest. (But
// velocities that a user sets are W r alone.) `bent`: how much of `bend` the ways have.
struct LastTurn {
  Screw mean;  // shift, and the axis of W times the sine of the angle
  Matrix W = {};
  Matrix change;  // R - I
  Matrix bend;
  double bent = 0.0;

  LastTurn(const ComponentMass& mass, const Momenta& momenta, const Matrix& arms);

 private:
  void SetTurn();
};

// Finds R from W, whose length is the sine of R's angle.
void LastTurn::SetTurn() {
  double sine2 = 0.0, angle[3];
  for (const double sine : mean.turn.at) sine2 += sine * sine;
  const double to_angle = AngleOverSine(sine2);
  for (size_t i = 0; i < 3; ++i) {
    const size_t j = (i + 1) % 3, k = (i + 2) % 3;
    angle[i] = mean.turn.at[i] * to_angle;
    W[k][j] = mean.turn.at[i];
    W[j][k] = -mean.turn.at[i];
  }
  CayleyChange(angle, &change);
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) bend[i][j] = -change[j][i] - W[i][j];
  }
}

// `arms`: sum of m r d^T. Unless the axis is a principal one, bend r has an angular momentum, too.
// W alone cannot have it: a beam of 24 cm that turns by 0.2 radians a step would start each step
// with strains of 0.3%.
LastTurn::LastTurn(const ComponentMass& mass, const Momenta& momenta, const Matrix& arms) {
  constexpr int kMostFits = 12;       // turns of 0.3 rad need up to 8
  constexpr double kLast2 = 1.0e-14;  // [rad^2]
  const Matrix& spread = mass.square();
  for (int fit = 0; fit < kMostFits; ++fit) {
    Momenta of_turn = momenta;
    for (size_t i = 0; i < 3 && bent > 0.0; ++i) {
      const size_t j = (i + 1) % 3, k = (i + 2) % 3;
      for (size_t l = 0; l < 3; ++l) {
        of_turn.angular.at[i] -= bent * (bend[k][l] * spread[j][l] - bend[j][l] * spread[k][l]);
      }
    }
    const Point before = mean.turn;
    mean = mass.MotionOf(of_turn);
    double moved2 = 0.0;
    for (size_t i = 0; i < 3; ++i) {
      const double moved = mean.turn.at[i] - before.at[i];
      moved2 += moved * moved;
    }
    SetTurn();
    double along = 0.0, square = 0.0;
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = 0; j < 3; ++j) {
        along += bend[i][j] * arms[j][i];
        for (size_t k = 0; k < 3; ++k) {
          along -= bend[i][j] * spread[j][k] * W[i][k];
          square += bend[i][j] * spread[j][k] * bend[i][k];
        }
      }
    }
    bent = square > 0.0 ? std::fmin(std::fmax(along / square, 0.0), 1.0) : 0.0;
    if (!(moved2 > kLast2)) return;
  }
}

}  // namespace

void CoarseLevel::TurnPredictions(std::span<const NodeVec> x, std::span<const NodeVec> v, float h,
                                  std::span<const Hinge> hinges, bool only_spins,
                                  std::span<NodeVec> momenta, std::span<NodeVec> y) const {
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
    const Momenta own = SumOf(*this, c, sums, mass);
    if (only_spins && !Spins(*this, c, v, momenta, h, mass.MotionOf(own), own)) continue;
    const LastTurn last(mass, own, arms);
    const Matrix &W = last.W, &change = last.change, &bend = last.bend;
    const double bent = last.bent;
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
    const Vec3 shift = ToVec3(last.mean.shift.at), centre = mass.Centre();
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
  constexpr double kManyClusters = 1000.0;
  const double whole = CrossesClusters(h, kManyClusters) ? 0.1 : 0.3, most = whole + 0.1;  // [rad]
  ClusterSums sums[kMaxClusters];
  SumMomenta(*this, x, v, h, momenta, sums);
  for (size_t c = 0; c < num_components(); ++c) {
    if (!HingePinsOf(c).empty()) continue;
    const ComponentMass mass(*this, c, {}, sums);
    const Screw way = mass.MotionOf(SumOf(*this, c, sums, mass));
    double square = 0.0;
    for (const double angle : way.turn.at) square += angle * angle;
    const double share = std::fmin((most - std::sqrt(square)) / (most - whole), 1.0);
    if (!(share > 0.0)) continue;
    Momenta lost;
    for (const uint16_t k : Component(c)) {
      for (uint32_t m = first_member[k]; m < first_member[k + 1]; ++m) {
        const uint32_t node = members[m];
        const double of_node = 1.0 / double(x[node].w);
        const Point was = ToPoint(before[node]), is = ToPoint(v[node]);
        Point way_beside, slowed;
        for (size_t i = 0; i < 3; ++i) {
          way_beside.at[i] = of_node * (double(h) * is.at[i] - way.shift.at[i]);
          slowed.at[i] = of_node * (was.at[i] - is.at[i]);
        }
        // (r - way_beside) x was - r x is
        AddCross(was, way_beside, &lost.angular);
        AddCross(From(x[node], mass.Centre()), slowed, &lost.angular);
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

namespace {

// Calls use(component, its mass, motion) for the rigid motions of components whose nodes at `x`
// have velocities `v`. Returns their kinetic energy [J]. `momenta` may be v.
template <class Use>
double ForRigidParts(const CoarseLevel& level, std::span<const NodeVec> x,
                     std::span<const NodeVec> v, std::span<NodeVec> momenta, const Use& use) {
  ClusterSums sums[kMaxClusters];
  SumMomenta(level, x, v, 1.0f, momenta, sums);
  Hinge hinges[kMaxClusters];
  level.FindHinges({&x[0].x, sizeof(NodeVec) / sizeof(float), 1}, hinges);
  double twice = 0.0;
  for (size_t c = 0; c < level.num_components(); ++c) {
    const ComponentMass mass(level, c, hinges[c], sums);
    const Momenta own = SumOf(level, c, sums, mass);
    const Screw motion = mass.MotionOf(own);
    for (size_t k = 0; k < 3; ++k) {
      twice += own.linear.at[k] * motion.shift.at[k] + own.angular.at[k] * motion.turn.at[k];
    }
    use(c, mass, motion);
  }
  return 0.5 * twice;
}

}  // namespace

double CoarseLevel::FindRigidPart(std::span<const NodeVec> x, std::span<const NodeVec> v,
                                  std::span<NodeVec> rigid) const {
  return ForRigidParts(
      *this, x, v, rigid, [&](size_t c, const ComponentMass& mass, const Screw& motion) {
        if (c == 0) std::fill(rigid.begin(), rigid.end(), NodeVec());
        const Vec3 shift = ToVec3(motion.shift.at), turn = ToVec3(motion.turn.at);
        for (const uint16_t k : Component(c)) {
          for (uint32_t m = first_member[k]; m < first_member[k + 1]; ++m) {
            const uint32_t node = members[m];
            rigid[node] = NodeVec(shift + Cross(turn, x[node] - mass.Centre()), 0.0f);
          }
        }
      });
}

double CoarseLevel::FindRigidMotions(std::span<const NodeVec> x, float h, std::span<NodeVec> v,
                                     std::span<RigidMotion> motions) const {
  for (RigidMotion& motion : motions) motion = {};
  return ForRigidParts(
      *this, x, v, v, [&](size_t c, const ComponentMass& mass, const Screw& motion) {
        const Vec3 sine = ToVec3(motion.turn.at) * h;
        const double to_angle = AngleOverSine(double(Dot(sine, sine)));
        const double angle[3] = {sine.x * to_angle, sine.y * to_angle, sine.z * to_angle};
        Matrix change;
        CayleyChange(angle, &change);
        for (const uint16_t k : Component(c)) {
          motions[k] = {mass.Centre(), ToVec3(motion.shift.at) * h, ToMat3(change)};
        }
      });
}

}  // namespace plush
