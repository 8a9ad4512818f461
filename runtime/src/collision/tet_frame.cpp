// SPDX-License-Identifier: MIT
#include "collision/tet_frame.h"

#include <cmath>
#include <limits>

namespace plush {
namespace {

struct Vector {
  double x, y, z;
};

Vector Difference(const Vec3& a, const Vec3& b) {
  return {double(a.x) - double(b.x), double(a.y) - double(b.y), double(a.z) - double(b.z)};
}
Vector Cross(const Vector& a, const Vector& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
Vector operator*(const Vector& a, double s) { return {a.x * s, a.y * s, a.z * s}; }
double Dot(const Vector& a, const Vector& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
double SumNorm(const Vector& a) { return std::fabs(a.x) + std::fabs(a.y) + std::fabs(a.z); }

TetFrame NoFrame() {
  TetFrame frame = {};
  for (float& margin : frame.margin) margin = TetFrame::kNoFrame;
  return frame;
}

// Rounding in float, in steps of epsilon |gradient| reach, of what a query does in a frame: the
// coefficients (1), a ray's start within 3 reaches (7) and its way across the body (4), the slabs
// (3); the vertices' places (2), their weights' sum (1), and the rounding of the exact test (4).
// Rounded up.
constexpr double kFrameRounding = 32.0 * std::numeric_limits<float>::epsilon();

// Of the gradients themselves in double, per condition of the tet.
constexpr double kGradientRounding = 16.0 * std::numeric_limits<double>::epsilon();

constexpr double kSteps = 256.0;

}  // namespace

TetFrame MakeTetFrame(const std::array<Vec3, 4>& nodes, float reach) {
  const Vector b = Difference(nodes[1], nodes[0]);
  const Vector c = Difference(nodes[2], nodes[0]);
  const Vector d = Difference(nodes[3], nodes[0]);
  Vector gradients[4] = {{}, Cross(c, d), Cross(d, b), Cross(b, c)};
  const double determinant = Dot(b, gradients[1]);
  const double edges = std::sqrt(Dot(b, b) + Dot(c, c) + Dot(d, d));
  const double condition = edges * edges * edges / std::fabs(determinant);
  const double rounding = kSteps * kGradientRounding * condition * (1.0 + condition);
  if (!(rounding <= double(TetFrame::kMostMargin))) return NoFrame();
  for (int i = 1; i < 4; ++i) gradients[i] = gradients[i] * (kSteps / determinant);
  gradients[0] = {-(gradients[1].x + gradients[2].x + gradients[3].x),
                  -(gradients[1].y + gradients[2].y + gradients[3].y),
                  -(gradients[1].z + gradients[2].z + gradients[3].z)};
  const Vector base = {nodes[0].x, nodes[0].y, nodes[0].z};
  TetFrame frame;
  for (int i = 0; i < 4; ++i) {
    const double margin = kFrameRounding * SumNorm(gradients[i]) * double(reach) + rounding;
    const double length = std::sqrt(Dot(gradients[i], gradients[i]));
    // Beyond 1e18 a step is shorter than float's products can follow.
    if (!(margin <= double(TetFrame::kMostMargin)) || !(length < 1.0e18)) return NoFrame();
    frame.x[i] = static_cast<float>(gradients[i].x);
    frame.y[i] = static_cast<float>(gradients[i].y);
    frame.z[i] = static_cast<float>(gradients[i].z);
    frame.offset[i] = static_cast<float>((i == 0 ? kSteps : 0.0) - Dot(gradients[i], base));
    frame.margin[i] = static_cast<float>(margin);
    frame.step[i] = static_cast<float>(0.999999 / length);
  }
  return frame;
}

}  // namespace plush
