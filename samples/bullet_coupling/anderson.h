// SPDX-License-Identifier: MIT
// Anderson's acceleration of the fixed point x = G(x) of six numbers.
// Source:
// Donald G. Anderson. Iterative Procedures for Nonlinear Integral Equations. 1965
#pragma once

#include <array>
#include <cstddef>
#include <vector>

/// A force [N] and a torque, divided by a length so that it is a force, too.
using Wrench = std::array<double, 6>;

inline double Dot(const Wrench& a, const Wrench& b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// a + s b.
inline Wrench Sum(const Wrench& a, double s, const Wrench& b) {
  Wrench sum = a;
  for (size_t i = 0; i < a.size(); ++i) sum[i] += s * b[i];
  return sum;
}

class Anderson {
 public:
  /// `relaxation`: the share of G(x) - x that a step goes beyond what earlier ones explain.
  explicit Anderson(double relaxation) : relaxation_(relaxation) {}

  /// The next x, from all x tried so far and what G made of them: the mean of them whose change is
  /// least, if G is linear.
  Wrench Next(const Wrench& x, const Wrench& g_of_x);

 private:
  double relaxation_;
  std::vector<Wrench> places_, changes_;
};
