// SPDX-License-Identifier: MIT
// The inverse of a tensor of inertia.
#pragma once

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

}  // namespace plush
