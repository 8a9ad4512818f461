// SPDX-License-Identifier: MIT
// The rigid motion of a component that meets its constraints and, among those that do, brings it
// nearest to its prediction.
#include "solver/coarse_level.h"
#include "solver/component_mass.h"

#include <algorithm>
#include <cmath>

namespace plush {

using namespace rigid;

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
  const ComponentMatch match(*this, c, {}, sums, hold, motions);
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
    Matrix H;
    double moment[3];
    TurnEquations(Y, &H, moment);
    for (size_t i = 0; i < 3; ++i) {
      six.matrix[i][i] = match.mass;
      six.right[i] = match.mass * (match.predicted[i] - match.moved[i] - shift[i]);
      six.right[3 + i] = moment[i];
      std::copy_n(H[i], 3, &six.matrix[3 + i][3]);
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
    SolveIndependent(six.matrix, six.right, least, x);
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
  SolveIndependent(of_held.matrix, of_held.right, least, x);
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
