// SPDX-License-Identifier: MIT
// Rigid motions that bring components nearest to their prediction: those without pins, and those
// that turn about a hinge. (Those that constraints hold: held_motion.cpp.)
//
// Such a motion changes only the inertial part of the step's objective. So the best one is known
// exactly. Without anything that holds the component, the centres of mass meet, and the rotation is
// that of the polar decomposition of sum m r q^T, r and q from the centres at y and at the
// prediction. The moment of M (predicted - y) is then zero, which is implicit Euler's law of
// angular momentum. On a hinge, r and q are from the hinge.
//
// A spring that holds the component adds k |y - moved|^2, as a mass k that rests there would.
#include "base/vector_math.h"
#include "solver/coarse_level.h"
#include "solver/component_mass.h"

#include <algorithm>
#include <cmath>

namespace plush {

using namespace rigid;

namespace {

// R - I of the rotation R for which tr(R Y) is greatest. Overwrites Y.
void BestTurn(const Hinge& hinge, Matrix* Y, Matrix* change) {
  constexpr int kMostSteps = 8;
  constexpr double kLastStep2 = 1.0e-6;  // converges cubically
  for (int step = 0; step < kMostSteps; ++step) {
    double turn[3];
    NewtonTurn(*Y, hinge, turn);
    const double square = turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2];
    if (square > 1.0) {
      for (double& angle : turn) angle /= std::sqrt(square);
    }
    Matrix next;
    CayleyChange(turn, &next);
    AddProduct(next, *Y, Y);
    AddProduct(next, *change, change);
    for (size_t i = 0; i < 9; ++i) (*change)[i / 3][i % 3] += next[i / 3][i % 3];
    if (!(square > kLastStep2)) break;
  }
}

// Where a cluster's motion and its prediction put its centre.
struct Ends {
  Point moved, predicted;

  Ends(float mass, const ClusterSums& sums, const RigidMotion& motion, const Vec3& origin)
      : moved(From(sums.centre, origin)), predicted(moved) {
    const Vec3 &shift = motion.shift, &b = sums.inertia;
    const double shifts[3] = {shift.x, shift.y, shift.z}, pulls[3] = {b.x, b.y, b.z};
    for (size_t i = 0; i < 3; ++i) {
      moved.at[i] += shifts[i];
      predicted.at[i] += pulls[i] / double(mass);
    }
  }
};

// Adds R sum m r q^T of a cluster, r and q from its centres.
void AddSpread(float mass, const ClusterSums& sums, const Matrix& change, Matrix* Y) {
  const Vec3 &s = sums.squares, &p = sums.products;
  Matrix arms, own = {{s.x, p.x, p.z}, {p.x, s.y, p.y}, {p.z, p.y, s.z}};
  ToMatrix(sums.arms, &arms);
  for (size_t i = 0; i < 9; ++i) {
    double* element = &own[i / 3][i % 3];
    *element = double(mass) * *element + arms[i / 3][i % 3];
    (*Y)[i / 3][i % 3] += *element;
  }
  AddProduct(change, own, Y);
}

// sum += change b.
void AddChange(const Matrix& change, const Point& b, Point* sum) {
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) sum->at[i] += change[i][j] * b.at[j];
  }
}

// A motion at a cluster's centre, `arm` from the component's.
Screw At(const Point& arm, const Screw& motion) {
  Screw at = motion;
  AddCross(motion.turn, arm, &at.shift);
  return at;
}

}  // namespace

void CoarseLevel::Balance(size_t c, const Hinge& hinge, std::span<const ClusterSums> sums,
                          std::span<Vec3> impulses, std::span<Vec3> moments) const {
  if (hinge.kind == Hinge::Kind::kHeld) return;
  const ComponentMass mass(*this, c, hinge, sums);
  Momenta sum;
  for (const uint16_t k : Component(c)) {
    mass.Add(sums[k], {ToPoint(impulses[k]), ToPoint(moments[k])}, &sum);
  }
  const Screw motion = mass.MotionOf(sum);
  for (const uint16_t k : Component(c)) {
    const Screw own = At(mass.ArmOf(sums[k].centre), motion);
    const Momenta share = ComponentMass::Of(double(masses[k]), sums[k], own);
    impulses[k] -= ToVec3(share.linear.at);
    moments[k] -= ToVec3(share.angular.at);
  }
}

void CoarseLevel::TurnAsOne(size_t c, const Hinge& hinge, std::span<const ClusterSums> sums,
                            std::span<RigidMotion> motions) const {
  if (hinge.kind == Hinge::Kind::kHeld) return;
  const ComponentMass mass(*this, c, hinge, sums);
  Momenta sum;
  for (const uint16_t k : Component(c)) {
    const Screw own = {ToPoint(motions[k].shift), ToPoint(AngleOf(motions[k].change))};
    mass.Add(sums[k], ComponentMass::Of(double(masses[k]), sums[k], own), &sum);
  }
  const Screw mean = mass.MotionOf(sum);
  double square = 0.0;
  for (const double angle : mean.turn.at) square += angle * angle;
  if (!(square < 1.0)) return;  // C knows nothing of larger turns: see TakeBackMotions
  Matrix change;
  CayleyChange(mean.turn.at, &change);
  for (const uint16_t k : Component(c)) {
    // What the cluster does besides, and then the mean motion.
    Point to = mass.ArmOf(sums[k].centre), shift = ToPoint(motions[k].shift);
    const Screw at = At(to, mean);
    for (size_t i = 0; i < 3; ++i) {
      const double besides = shift.at[i] - at.shift.at[i];
      to.at[i] += besides;
      shift.at[i] = mean.shift.at[i] + besides;
    }
    AddChange(change, to, &shift);
    Matrix own;
    ToMatrix(TurnBy(AngleOf(motions[k].change) - ToVec3(mean.turn.at)), &own);
    AddProduct(change, own, &own);
    for (size_t i = 0; i < 9; ++i) own[i / 3][i % 3] += change[i / 3][i % 3];
    motions[k] = {sums[k].centre, ToVec3(shift.at), ToMat3(own)};
  }
}

void ComponentHold::Add(float stiffness, const Vec3& r) {
  const double k = double(stiffness), at[3] = {r.x, r.y, r.z};
  mass += k;
  for (size_t i = 0; i < 3; ++i) {
    moment[i] += k * at[i];
    for (size_t j = 0; j < 3; ++j) spread[i][j] += k * at[i] * at[j];
  }
}

ComponentMatch::ComponentMatch(const CoarseLevel& level, size_t c, const Hinge& hinge,
                               std::span<const ClusterSums> sums, const ComponentHold& hold,
                               std::span<const RigidMotion> motions)
    : origin(sums[level.Component(c)[0]].centre), mass(hold.mass) {
  std::copy_n(hold.moment, 3, moved);
  std::copy_n(hold.moment, 3, predicted);
  for (const uint16_t k : level.Component(c)) {
    const Ends ends(level.masses[k], sums[k], motions[k], origin);
    mass += double(level.masses[k]);
    for (size_t i = 0; i < 3; ++i) {
      moved[i] += double(level.masses[k]) * ends.moved.at[i];
      predicted[i] += double(level.masses[k]) * ends.predicted.at[i];
    }
  }
  for (size_t i = 0; i < 3; ++i) moved[i] /= mass, predicted[i] /= mass;
  if (hinge.IsOnPoints()) {
    std::copy_n(From(hinge, origin).at, 3, moved);
    std::copy_n(From(hinge, origin).at, 3, predicted);
  }
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      Y[i][j] = hold.spread[i][j] - moved[i] * hold.moment[j] - hold.moment[i] * predicted[j] +
                hold.mass * moved[i] * predicted[j];
    }
  }
  for (const uint16_t k : level.Component(c)) {
    const Ends ends(level.masses[k], sums[k], motions[k], origin);
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = 0; j < 3; ++j) {
        Y[i][j] += double(level.masses[k]) * (ends.moved.at[i] - moved[i]) *
                   (ends.predicted.at[j] - predicted[j]);
      }
    }
    Matrix own;
    ToMatrix(motions[k].change, &own);
    AddSpread(level.masses[k], sums[k], own, &Y);
  }
}

void ComponentMatch::AddTo(const CoarseLevel& level, size_t c, std::span<const ClusterSums> sums,
                           const double* to, const Matrix& change,
                           std::span<RigidMotion> motions) const {
  for (const uint16_t k : level.Component(c)) {
    const Ends ends(level.masses[k], sums[k], motions[k], origin);
    const Point start = From(sums[k].centre, origin);
    double shift[3];
    for (size_t i = 0; i < 3; ++i) {
      const double* row = change[i];
      shift[i] = to[i] - moved[i] + (ends.moved.at[i] - start.at[i]);
      for (size_t j = 0; j < 3; ++j) shift[i] += row[j] * (ends.moved.at[j] - moved[j]);
    }
    Matrix own;
    ToMatrix(motions[k].change, &own);
    AddProduct(change, own, &own);
    for (size_t i = 0; i < 9; ++i) own[i / 3][i % 3] += change[i / 3][i % 3];
    motions[k] = {sums[k].centre, ToVec3(shift), ToMat3(own)};
  }
}

void CoarseLevel::KeepMomenta(size_t c, const Hinge& hinge, std::span<const ClusterSums> sums,
                              const ComponentHold& hold, std::span<RigidMotion> motions) const {
  if (hinge.kind == Hinge::Kind::kHeld) return;
  ComponentMatch match(*this, c, hinge, sums, hold, motions);
  Matrix change = {};
  BestTurn(hinge, &match.Y, &change);
  match.AddTo(*this, c, sums, match.predicted, change, motions);
}

}  // namespace plush
