// SPDX-License-Identifier: MIT
#include "world/moments.h"

#include "base/vector_math.h"
#include "elasticity/polar_decomposition.h"

#include <limits>

namespace plush {
namespace {

struct Centre {
  double mass = 0.0;
  double x[3] = {};  // of the current positions, in the body's coordinates [m]
  double X[3] = {};  // of the rest positions [m]
};

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

// The rotation R that maximises tr(R^T S). Newton's search from one start can end half a turn away,
// so it starts from `near` and from the three half turns about it.
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

}  // namespace

BodyMoments MeasureMoments(const Body& body) {
  BodyMoments moments;
  const Centre centre = FindCentre(body);
  moments.mass = centre.mass;
  for (int k = 0; k < 3; ++k) moments.centre[k] = body.origin[k] + centre.x[k];
  for (size_t i = 0; i < body.x.size(); ++i) {
    const double m = body.Mass(i);
    const double r[3] = {body.x[i].x - centre.x[0], body.x[i].y - centre.x[1],
                         body.x[i].z - centre.x[2]};
    const double v[3] = {body.v[i].x, body.v[i].y, body.v[i].z};
    for (int k = 0; k < 3; ++k) {
      const int a = (k + 1) % 3, b = (k + 2) % 3;
      moments.linear_momentum[k] += m * v[k];
      moments.angular_momentum[k] += m * (r[a] * v[b] - r[b] * v[a]);
    }
    moments.kinetic_j += 0.5 * m * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  }
  const ElementSummary summary = SummariseElements(body.elements, body.x.span(), body.Rotations());
  moments.volume = summary.volume;
  moments.elastic_j = summary.elastic_j;
  return moments;
}

Pose FitPose(const Body& body) {
  const Centre centre = FindCentre(body);
  // sum m (x - xc) (X - Xc)^T: its polar rotation minimises sum m |x - R X - t|^2.
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
  const auto column = [&S](int c) {
    return Vec3{static_cast<float>(S[0][c]), static_cast<float>(S[1][c]),
                static_cast<float>(S[2][c])};
  };
  Pose pose;
  pose.rotation = BestRotation({column(0), column(1), column(2)}, body.Rotations().Get(0));
  const Vec3 turned = RotationMatrix(pose.rotation) * Vec3{static_cast<float>(centre.X[0]),
                                                           static_cast<float>(centre.X[1]),
                                                           static_cast<float>(centre.X[2])};
  pose.position = {static_cast<float>(body.origin[0] + centre.x[0] - turned.x),
                   static_cast<float>(body.origin[1] + centre.x[1] - turned.y),
                   static_cast<float>(body.origin[2] + centre.x[2] - turned.z)};
  return pose;
}

}  // namespace plush
