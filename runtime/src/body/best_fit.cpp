// SPDX-License-Identifier: MIT
// Fits the rest shape to the current one: S = sum m (x - xc) (X - Xc)^T. Its polar rotation
// minimises sum m |x - R X - t|^2.
#include "body/best_fit.h"

#include "base/vector_math.h"
#include "elasticity/polar_decomposition.h"

#include <cmath>
#include <cstddef>
#include <limits>

namespace plush {
namespace {

// The rotation R that maximises tr(R^T S). Newton's method can end half a turn away, so it starts
// from `near` and from the three half turns about it.
Quat BestRotation(const Mat3& S, const Quat& near) {
  constexpr int kIterations = 64;
  constexpr Quat kStarts[4] = {{0, 0, 0, 1}, {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
  Quat best = near;
  float best_trace = -std::numeric_limits<float>::infinity();
  for (const Quat& start : kStarts) {
    const Quat q = AnalyticPolarDecomposition(S, near * start, kIterations);
    const Mat3 Y = TransposeTimes(RotationMatrix(q), S);
    const float trace = Y.c0.x + Y.c1.y + Y.c2.z;
    if (trace > best_trace) {
      best_trace = trace;
      best = q;
    }
  }
  return best;
}

// Factor that keeps S and its products in float's range.
double UnitOf(const double (&S)[3][3]) {
  double largest = 0.0;
  for (const auto& row : S) {
    for (const double entry : row) largest = std::fmax(largest, std::fabs(entry));
  }
  return largest > 1.0e15 ? 1.0 / largest : 1.0;
}

}  // namespace

Centre FindCentre(const Body& body) {
  Centre centre;
  for (size_t i = 0; i < body.x.size(); ++i) {
    const double m = body.Mass(i);
    const Vec3 &x = body.x[i], &X = body.simulation.nodes[i];
    centre.mass += m;
    centre.x[0] += m * x.x;
    centre.x[1] += m * x.y;
    centre.x[2] += m * x.z;
    centre.X[0] += m * X.x;
    centre.X[1] += m * X.y;
    centre.X[2] += m * X.z;
  }
  for (int k = 0; k < 3; ++k) {
    centre.x[k] /= centre.mass;
    centre.X[k] /= centre.mass;
  }
  return centre;
}

BestFit FindBestFit(const Body& body) {
  const Centre centre = FindCentre(body);
  double S[3][3] = {};
  for (size_t i = 0; i < body.x.size(); ++i) {
    const double m = body.Mass(i);
    const Vec3 &x = body.x[i], &X = body.simulation.nodes[i];
    const double r[3] = {x.x - centre.x[0], x.y - centre.x[1], x.z - centre.x[2]};
    const double R[3] = {X.x - centre.X[0], X.y - centre.X[1], X.z - centre.X[2]};
    for (int row = 0; row < 3; ++row) {
      for (int column = 0; column < 3; ++column) S[row][column] += m * r[row] * R[column];
    }
  }
  const double unit = UnitOf(S);
  const auto column = [&S, unit](int c) {
    return Vec3{static_cast<float>(S[0][c] * unit), static_cast<float>(S[1][c] * unit),
                static_cast<float>(S[2][c] * unit)};
  };
  BestFit fit;
  fit.rotation = BestRotation({column(0), column(1), column(2)}, body.Rotations().Get(0));
  const Vec3 turned = RotationMatrix(fit.rotation) * Vec3{static_cast<float>(centre.X[0]),
                                                          static_cast<float>(centre.X[1]),
                                                          static_cast<float>(centre.X[2])};
  const double s = body.scale;
  fit.position[0] = body.origin[0] + s * centre.x[0] - s * double(turned.x);
  fit.position[1] = body.origin[1] + s * centre.x[1] - s * double(turned.y);
  fit.position[2] = body.origin[2] + s * centre.x[2] - s * double(turned.z);
  return fit;
}

}  // namespace plush
