// SPDX-License-Identifier: MIT
// Source: component_mass.h.
#include "solver/component_mass.h"

#include <algorithm>
#include <limits>

namespace plush::rigid {
namespace {

// Mean of r r^T over a cluster, r from its centre.
void Square(const ClusterSums& sums, Matrix* out) {
  const Vec3 &s = sums.squares, &p = sums.products;
  ToMatrix({{s.x, p.x, p.z}, {p.x, s.y, p.y}, {p.z, p.y, s.z}}, out);
}

}  // namespace

Point From(const Vec3& x, const Vec3& origin) {
  return {{double(x.x) - double(origin.x), double(x.y) - double(origin.y),
           double(x.z) - double(origin.z)}};
}

Point From(const Hinge& hinge, const Vec3& origin) {
  return {{hinge.at[0] - double(origin.x), hinge.at[1] - double(origin.y),
           hinge.at[2] - double(origin.z)}};
}

void ToMatrix(const Mat3& a, Matrix* out) {
  const Vec3* columns[3] = {&a.c0, &a.c1, &a.c2};
  for (size_t j = 0; j < 3; ++j) {
    (*out)[0][j] = columns[j]->x, (*out)[1][j] = columns[j]->y, (*out)[2][j] = columns[j]->z;
  }
}

Mat3 ToMat3(const Matrix& a) {
  Vec3 columns[3];
  for (size_t j = 0; j < 3; ++j) {
    const double column[3] = {a[0][j], a[1][j], a[2][j]};
    columns[j] = ToVec3(column);
  }
  return {columns[0], columns[1], columns[2]};
}

void AddCross(const Point& a, const Point& b, Point* sum) {
  for (size_t i = 0; i < 3; ++i) {
    const size_t j = (i + 1) % 3, k = (i + 2) % 3;
    sum->at[i] += a.at[j] * b.at[k] - a.at[k] * b.at[j];
  }
}

void AddProduct(const Matrix& a, const Matrix& b, Matrix* sum) {
  Matrix product;
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      product[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
    }
  }
  for (size_t i = 0; i < 9; ++i) (*sum)[i / 3][i % 3] += product[i / 3][i % 3];
}

void CayleyChange(const double* angle, Matrix* out) {
  const double a[3] = {0.5 * angle[0], 0.5 * angle[1], 0.5 * angle[2]};
  const double square = a[0] * a[0] + a[1] * a[1] + a[2] * a[2], scale = 2.0 / (1.0 + square);
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) (*out)[i][j] = scale * a[i] * a[j];
    (*out)[i][i] -= scale * square;
  }
  for (size_t i = 0; i < 3; ++i) {
    const size_t j = (i + 1) % 3, k = (i + 2) % 3;
    (*out)[k][j] += scale * a[i];
    (*out)[j][k] -= scale * a[i];
  }
}

void TurnEquations(const Matrix& Y, Matrix* H, double (&g)[3]) {
  const double trace = Y[0][0] + Y[1][1] + Y[2][2];
  for (size_t i = 0; i < 3; ++i) {
    const size_t j = (i + 1) % 3, k = (i + 2) % 3;
    for (size_t l = 0; l < 3; ++l) (*H)[i][l] = -0.5 * (Y[i][l] + Y[l][i]);
    (*H)[i][i] += trace;
    g[i] = Y[j][k] - Y[k][j];
  }
}

void NewtonTurn(const Matrix& Y, const Hinge& hinge, double* turn) {
  constexpr double kLeastPivot = 1.0e-6;
  const double trace = Y[0][0] + Y[1][1] + Y[2][2], least = 2.0 * kLeastPivot * trace;
  if (hinge.kind == Hinge::Kind::kLine) {
    const double* a = hinge.axis;
    double resistance = trace, moment = 0.0;
    for (size_t i = 0; i < 3; ++i) {
      const size_t j = (i + 1) % 3, k = (i + 2) % 3;
      moment += a[i] * (Y[j][k] - Y[k][j]);
      for (size_t l = 0; l < 3; ++l) resistance -= a[i] * Y[i][l] * a[l];
    }
    const double angle = resistance > least ? moment / resistance : 0.0;
    for (size_t i = 0; i < 3; ++i) turn[i] = angle * a[i];
    return;
  }
  Matrix H;
  double g[3];
  TurnEquations(Y, &H, g);
  const double each = trace > 0.0 ? least : std::numeric_limits<double>::infinity();
  SolveIndependent(H, g, {each, each, each}, turn);
}

ComponentMass::ComponentMass(const CoarseLevel& level, size_t c, const Hinge& hinge,
                             std::span<const ClusterSums> sums)
    : hinge_(hinge), origin_(sums[level.Component(c)[0]].centre) {
  for (const uint16_t k : level.Component(c)) {
    const Point at = From(sums[k].centre, origin_);
    mass_ += double(level.masses[k]);
    for (size_t i = 0; i < 3; ++i) centre_.at[i] += double(level.masses[k]) * at.at[i];
  }
  for (double& coordinate : centre_.at) coordinate /= mass_;
  if (hinge.IsOnPoints()) {
    of_mass_ = centre_;
    centre_ = From(hinge, origin_);
    for (size_t i = 0; i < 3; ++i) of_mass_.at[i] -= centre_.at[i];
  }
  for (const uint16_t k : level.Component(c)) {
    const Point arm = ArmOf(sums[k].centre);
    Matrix own;
    Square(sums[k], &own);
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = 0; j < 3; ++j) {
        square_[i][j] += double(level.masses[k]) * (own[i][j] + arm.at[i] * arm.at[j]);
      }
    }
  }
}

Point ComponentMass::ArmOf(const Vec3& x) const {
  Point arm = From(x, origin_);
  for (size_t i = 0; i < 3; ++i) arm.at[i] -= centre_.at[i];
  return arm;
}

void ComponentMass::Add(const ClusterSums& sums, const Momenta& of_cluster, Momenta* sum) const {
  for (size_t i = 0; i < 3; ++i) {
    sum->linear.at[i] += of_cluster.linear.at[i];
    sum->angular.at[i] += of_cluster.angular.at[i];
  }
  AddCross(ArmOf(sums.centre), of_cluster.linear, &sum->angular);
}

Screw ComponentMass::MotionOf(const Momenta& momenta) const {
  Screw motion;
  Point angular = momenta.angular;
  for (size_t i = 0; i < 3; ++i) motion.shift.at[i] = momenta.linear.at[i] / mass_;
  if (hinge_.IsOnPoints()) {
    Point momentum;  // of the hinge's way
    for (size_t i = 0; i < 3; ++i) {
      motion.shift.at[i] = hinge_.way[i];
      momentum.at[i] = -mass_ * hinge_.way[i];
    }
    AddCross(of_mass_, momentum, &angular);
  }
  Matrix Y;
  std::copy(&square_[0][0], &square_[0][0] + 9, &Y[0][0]);
  for (size_t i = 0; i < 3; ++i) {
    const size_t j = (i + 1) % 3, k = (i + 2) % 3;
    Y[j][k] += 0.5 * angular.at[i];
    Y[k][j] -= 0.5 * angular.at[i];
  }
  NewtonTurn(Y, hinge_, motion.turn.at);
  return motion;
}

Momenta ComponentMass::Of(double mass, const ClusterSums& sums, const Screw& own) {
  Momenta momenta;
  Matrix S;
  Square(sums, &S);
  for (size_t i = 0; i < 3; ++i) {
    double turned = (S[0][0] + S[1][1] + S[2][2]) * own.turn.at[i];
    for (size_t j = 0; j < 3; ++j) turned -= S[i][j] * own.turn.at[j];
    momenta.linear.at[i] = mass * own.shift.at[i];
    momenta.angular.at[i] = mass * turned;
  }
  return momenta;
}

}  // namespace plush::rigid
