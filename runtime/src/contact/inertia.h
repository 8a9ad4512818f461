// SPDX-License-Identifier: MIT
// The inverse of a tensor of inertia, and what a symmetric matrix resists.
#pragma once

#include <cmath>

namespace plush {

/// Replaces a tensor of inertia by its inverse. Returns false, with it unchanged, if all mass lies
/// near a line.
inline bool InvertInertia(double (&I)[3][3]) {
  constexpr double kLeast = 1.0e-6;
  const double trace = I[0][0] + I[1][1] + I[2][2];
  double cofactors[3][3];
  for (int i = 0; i < 3; ++i) {
    const int a = (i + 1) % 3, b = (i + 2) % 3;
    for (int j = 0; j < 3; ++j) {
      const int c = (j + 1) % 3, d = (j + 2) % 3;
      cofactors[i][j] = I[a][c] * I[b][d] - I[a][d] * I[b][c];
    }
  }
  const double determinant =
      I[0][0] * cofactors[0][0] + I[0][1] * cofactors[0][1] + I[0][2] * cofactors[0][2];
  if (!(determinant > kLeast * trace * trace * trace)) return false;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) I[i][j] = cofactors[j][i] / determinant;
  }
  return true;
}

/// Replaces a symmetric matrix by its positive part: its negative eigenvalues become 0. By Jacobi's
/// rotations.
inline void TakePositivePart(double (&A)[3][3]) {
  constexpr int kSweeps = 6;  // four reach round-off
  double V[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
  const auto turn = [](double c, double s, double* a, double* b) {
    const double old = *a;
    *a = c * old - s * *b;
    *b = s * old + c * *b;
  };
  for (int rotation = 0; rotation < 3 * kSweeps; ++rotation) {
    const int i = rotation % 3, j = (i + 1) % 3;
    if (A[i][j] == 0.0) continue;
    const double zeta = (A[j][j] - A[i][i]) / (2.0 * A[i][j]);
    const double t = (zeta < 0.0 ? -1.0 : 1.0) / (std::fabs(zeta) + std::sqrt(1.0 + zeta * zeta));
    const double c = 1.0 / std::sqrt(1.0 + t * t), s = c * t;
    for (int k = 0; k < 3; ++k) turn(c, s, &A[k][i], &A[k][j]);
    for (int k = 0; k < 3; ++k) turn(c, s, &A[i][k], &A[j][k]);
    for (int k = 0; k < 3; ++k) turn(c, s, &V[k][i], &V[k][j]);
  }
  const double values[3] = {std::fmax(A[0][0], 0.0), std::fmax(A[1][1], 0.0),
                            std::fmax(A[2][2], 0.0)};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      A[i][j] = 0.0;
      for (int k = 0; k < 3; ++k) A[i][j] += values[k] * V[i][k] * V[j][k];
    }
  }
}

}  // namespace plush
