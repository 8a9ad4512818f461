// SPDX-License-Identifier: MIT
// Random deformations, and derivatives by finite differences, for tests of materials.
#pragma once

#include "materials/matrix3.h"
#include "runtime/tet_fixtures.h"

#include <Eigen/Dense>

namespace plush::test {

using Matrix = Matrix3<double>;

inline Eigen::Vector3d ToEigen(const Vector3<double>& v) { return {v.x, v.y, v.z}; }
inline Eigen::Matrix3d ToEigen(const Matrix& m) {
  Eigen::Matrix3d result;
  result << ToEigen(m.c0), ToEigen(m.c1), ToEigen(m.c2);
  return result;
}
inline Vector3<double> FromEigen(const Eigen::Vector3d& v) { return {v.x(), v.y(), v.z()}; }
inline Matrix FromEigen(const Eigen::Matrix3d& m) {
  return {FromEigen(Eigen::Vector3d(m.col(0))), FromEigen(Eigen::Vector3d(m.col(1))),
          FromEigen(Eigen::Vector3d(m.col(2)))};
}

inline double NormOf(const Matrix& m) { return std::sqrt(Inner(m, m)); }

/// A gradient with the given singular values; the last may be negative.
inline Matrix WithSingularValues(Random* random, const Eigen::Vector3d& sigma) {
  return FromEigen(Eigen::Matrix3d(random->Rotation() * sigma.asDiagonal() * random->Rotation()));
}

/// Singular values in [0.3, 3].
inline Matrix RandomGradient(Random* random) {
  Eigen::Vector3d sigma;
  for (int i = 0; i < 3; ++i) sigma[i] = random->Uniform(0.3, 3.0);
  return WithSingularValues(random, sigma);
}

/// Derivative of `function`, scalar- or matrix-valued, at F in the direction dF: central
/// differences of fourth order.
template <class Function>
auto FiniteDifference(const Function& function, const Matrix& F, const Matrix& dF,
                      double h = 1e-3) {
  const auto difference = [&](double step) {
    return (function(F + dF * step) - function(F - dF * step)) * (0.5 / step);
  };
  return difference(h) * (4.0 / 3.0) - difference(2.0 * h) * (1.0 / 3.0);
}

}  // namespace plush::test
