// SPDX-License-Identifier: MIT
// Rigid motions that bring components nearest to their prediction: those without pins, and those
// that turn about a hinge or where constraints let them.
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

namespace {

// The rigid motion of a component that brings it from where `motions` take it nearest to its
// prediction: the sum of m |y - predicted|^2 is least where `moved` comes to `predicted`, and tr(R
// Y) is greatest.
struct Match {
  Vec3 origin;
  double mass = 0.0, moved[3] = {}, predicted[3] = {};  // centres, from the origin
  Matrix Y = {};                                        // sum of m r q^T

  Match(const CoarseLevel& level, size_t c, const Hinge& hinge, std::span<const ClusterSums> sums,
        const ComponentHold& hold, std::span<const RigidMotion> motions)
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

  // Adds the motion by which `moved` comes to `to`, and everything turns by `change`.
  void AddTo(const CoarseLevel& level, size_t c, std::span<const ClusterSums> sums,
             const double* to, const Matrix& change, std::span<RigidMotion> motions) const {
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
};

}  // namespace

void CoarseLevel::KeepMomenta(size_t c, const Hinge& hinge, std::span<const ClusterSums> sums,
                              const ComponentHold& hold, std::span<RigidMotion> motions) const {
  if (hinge.kind == Hinge::Kind::kHeld) return;
  Match match(*this, c, hinge, sums, hold, motions);
  Matrix change = {};
  BestTurn(hinge, &match.Y, &change);
  match.AddTo(*this, c, sums, match.predicted, change, motions);
}

namespace {

// Six equations: three of a shift and three of a turn.
struct Six {
  double matrix[6][6] = {}, right[6] = {};

  // Adds `weight` g g^T, and `along` g to the right-hand side.
  void Add(const double (&g)[6], double weight, double along) {
    for (size_t i = 0; i < 6; ++i) {
      right[i] += along * g[i];
      for (size_t j = 0; j < 6; ++j) matrix[i][j] += weight * g[i] * g[j];
    }
  }

  // The last one if each is the largest that is left: near the least eigenvalue. Overwrites.
  double LeastPivot() {
    bool is_done[6] = {};
    double least = 0.0;
    for (int step = 0; step < 6; ++step) {
      size_t k = 6;
      for (size_t i = 0; i < 6; ++i) {
        if (!is_done[i] && (k == 6 || matrix[i][i] > matrix[k][k])) k = i;
      }
      is_done[k] = true;
      least = matrix[k][k];
      if (!(least > 0.0)) break;
      for (size_t i = 0; i < 6; ++i) {
        const double share = matrix[i][k] / least;
        for (size_t j = 0; j < 6 && !is_done[i]; ++j) matrix[i][j] -= share * matrix[k][j];
      }
    }
    return least;
  }

  // Unknowns that what is before them determines, up to `least` of their diagonal, are zero.
  void Solve(const double (&least)[6], double (&x)[6]) {
    for (size_t k = 0; k < 6; ++k) {
      const double pivot = matrix[k][k];
      const double inverse = pivot > least[k] ? 1.0 / pivot : 0.0;
      for (size_t i = k + 1; i < 6; ++i) {
        const double share = matrix[i][k] * inverse;
        for (size_t j = k + 1; j < 6; ++j) matrix[i][j] -= share * matrix[k][j];
        right[i] -= share * right[k];
      }
      matrix[k][k] = inverse;
    }
    for (size_t k = 6; k-- > 0;) {
      for (size_t j = k + 1; j < 6; ++j) right[k] -= matrix[k][j] * x[j];
      x[k] = right[k] * matrix[k][k];
    }
  }
};

// What a motion of six numbers changes of the distance of a point at arm `a`.
void Gradient(const Vec3& direction, const double* a, double (&g)[6]) {
  const double n[3] = {direction.x, direction.y, direction.z};
  for (size_t i = 0; i < 3; ++i) {
    const size_t j = (i + 1) % 3, k = (i + 2) % 3;
    g[i] = n[i];
    g[3 + i] = a[j] * n[k] - a[k] * n[j];
  }
}

}  // namespace

bool LeaveMotion(std::span<const HeldDirection> held) {
  constexpr double kLeast = 2.0e-3;  // points bent off a line by 5% of its length are on it
  const Vec3 origin = held[0].place;
  double mean[3] = {}, spread = 0.0;
  for (const HeldDirection& at : held) {
    for (size_t i = 0; i < 3; ++i) mean[i] += From(at.place, origin).at[i] / double(held.size());
  }
  const auto arm_of = [&](const HeldDirection& at) {
    Point arm = From(at.place, origin);
    for (size_t i = 0; i < 3; ++i) arm.at[i] -= mean[i];
    return arm;
  };
  for (const HeldDirection& at : held) {
    for (const double coordinate : arm_of(at).at) spread += coordinate * coordinate;
  }
  const double size = std::sqrt(spread / double(held.size()));
  if (!(size > 0.0)) return true;
  Six six;
  for (const HeldDirection& at : held) {
    Point arm = arm_of(at);
    for (double& coordinate : arm.at) coordinate /= size;
    double g[6];
    Gradient(at.direction, arm.at, g);
    six.Add(g, 1.0, 0.0);
  }
  return six.LeastPivot() < kLeast * double(held.size());
}

// Newton's method: each direction charges kStiff masses of the component times the square of its
// distance.
void CoarseLevel::KeepHeldMomenta(size_t c, std::span<const ClusterSums> sums,
                                  const ComponentHold& hold, std::span<HeldDirection> held,
                                  std::span<RigidMotion> motions) const {
  constexpr double kStiff = 1.0e6, kLeastPivot = 1.0e-6, kRounding = 1.0e-13;
  constexpr double kLastStep2 = 1.0e-14;  // [rad^2]
  constexpr int kMostSteps = 12;
  const Match match(*this, c, {}, sums, hold, motions);
  const double stiffness = kStiff * match.mass;
  Matrix change = {};
  double shift[3] = {};
  const auto arm_of = [&](const HeldDirection& at, double(&arm)[3]) {
    const Point from = From(at.place, match.origin);
    for (size_t i = 0; i < 3; ++i) arm[i] = from.at[i] - match.moved[i];
  };
  // Where the motion so far has the arm, and what it makes of the distance.
  const auto now = [&](const HeldDirection& at, double(&arm)[3]) {
    double before[3], distance = at.distance;
    arm_of(at, before);
    const double n[3] = {at.direction.x, at.direction.y, at.direction.z};
    for (size_t i = 0; i < 3; ++i) {
      double by_turn = 0.0;
      for (size_t j = 0; j < 3; ++j) by_turn += change[i][j] * before[j];
      arm[i] = before[i] + by_turn;
      distance += n[i] * (shift[i] + by_turn);
    }
    return distance;
  };
  for (int step = 0; step < kMostSteps; ++step) {
    Matrix Y;
    std::copy_n(&match.Y[0][0], 9, &Y[0][0]);
    AddProduct(change, Y, &Y);
    Six six;
    const double trace = Y[0][0] + Y[1][1] + Y[2][2];
    for (size_t i = 0; i < 3; ++i) {
      const size_t j = (i + 1) % 3, k = (i + 2) % 3;
      six.matrix[i][i] = match.mass;
      six.right[i] = match.mass * (match.predicted[i] - match.moved[i] - shift[i]);
      six.right[3 + i] = Y[j][k] - Y[k][j];
      for (size_t l = 0; l < 3; ++l) six.matrix[3 + i][3 + l] = -0.5 * (Y[i][l] + Y[l][i]);
      six.matrix[3 + i][3 + i] += trace;
    }
    for (const HeldDirection& at : held) {
      double arm[3], g[6];
      const double distance = now(at, arm);
      Gradient(at.direction, arm, g);
      six.Add(g, stiffness, -stiffness * distance);
    }
    double least[6], x[6];
    for (size_t i = 0; i < 6; ++i) {
      const double rounding = kRounding * six.matrix[i][i];
      least[i] = i < 3 ? rounding : std::fmax(kLeastPivot * trace, rounding);
    }
    six.Solve(least, x);
    const double square = x[3] * x[3] + x[4] * x[4] + x[5] * x[5];
    const double share = square > 1.0 ? 1.0 / std::sqrt(square) : 1.0;
    const double turn[3] = {share * x[3], share * x[4], share * x[5]};
    for (size_t i = 0; i < 3; ++i) shift[i] += share * x[i];
    Matrix next;
    CayleyChange(turn, &next);
    AddProduct(next, change, &change);
    for (size_t i = 0; i < 9; ++i) change[i / 3][i % 3] += next[i / 3][i % 3];
    if (!(square > kLastStep2)) break;
  }
  // Impulses with the resultant and the moment of these charges: the smallest ones. (Directions
  // that contradict each other charge far more.)
  Six of_held;
  for (const HeldDirection& at : held) {
    double arm[3], g[6];
    const double distance = now(at, arm);
    Gradient(at.direction, arm, g);
    of_held.Add(g, 1.0, -stiffness * distance);
  }
  double least[6], x[6];
  for (size_t i = 0; i < 6; ++i) least[i] = kLeastPivot * of_held.matrix[i][i];
  of_held.Solve(least, x);
  for (HeldDirection& at : held) {
    double arm[3], g[6];
    now(at, arm);
    Gradient(at.direction, arm, g);
    at.impulse = 0.0;
    for (size_t i = 0; i < 6; ++i) at.impulse += g[i] * x[i];
  }
  double to[3];
  for (size_t i = 0; i < 3; ++i) to[i] = match.moved[i] + shift[i];
  match.AddTo(*this, c, sums, to, change, motions);
}

}  // namespace plush
