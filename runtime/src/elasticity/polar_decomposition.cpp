// SPDX-License-Identifier: MIT
// Based on:
// Tassilo Kugelstadt, Dan Koschier, Jan Bender. Fast Corotated FEM using Operator Splitting. 2018
#include "plush/polar_decomposition.h"

#include "base/vector_math.h"

#include <cmath>

namespace plush {
namespace {

// Longest Newton step [rad]: the Cayley map used here turns by 4 atan(|omega|/4), below pi up to
// |omega| = 4.
constexpr float kMaxStep = 3.0f;
// Steps below this change no float digit of the rotation.
constexpr float kConverged = 1.0e-7f;
// Pivots of H below this fraction of its size count as flat.
constexpr float kFlat = 1.0e-4f;

// Newton step omega = -H^-1 (2 axl(Y)), H = tr(Y) I - sym(Y), Y = R^T F [Kug, Eq. 22-25], where
// axl(Y)_k = 1/2 sum_ij Y_ij eps_ijk. An indefinite H (inverted or far-turned elements) is shifted
// until it is positive definite: the plain step would climb. Zero where nothing is left to do.
Vec3 NewtonStep(const Mat3& Y) {
  // Y_ij is component i of column j: Y_12 = c2.y.
  const Vec3 minus_gradient = {Y.c1.z - Y.c2.y, Y.c2.x - Y.c0.z, Y.c0.y - Y.c1.x};
  const float trace = Y.c0.x + Y.c1.y + Y.c2.z;
  const float h01 = -0.5f * (Y.c1.x + Y.c0.y);
  const float h02 = -0.5f * (Y.c2.x + Y.c0.z);
  const float h12 = -0.5f * (Y.c2.y + Y.c1.z);
  Mat3 H = {{trace - Y.c0.x, h01, h02}, {h01, trace - Y.c1.y, h12}, {h02, h12, trace - Y.c2.z}};
  const float a01 = std::fabs(h01), a02 = std::fabs(h02), a12 = std::fabs(h12);
  const float size = std::fabs(H.c0.x) + std::fabs(H.c1.y) + std::fabs(H.c2.z) + a01 + a02 + a12;
  const float flat = kFlat * size;
  const float minor = H.c0.x * H.c1.y - h01 * h01;
  const bool positive_definite =
      H.c0.x > flat && minor > flat * flat && Determinant(H) > flat * flat * flat;
  if (!positive_definite) {
    // Gershgorin: no eigenvalue of H lies below `lowest`.
    const float lowest =
        std::fmin(H.c0.x - a01 - a02, std::fmin(H.c1.y - a01 - a12, H.c2.z - a02 - a12));
    const float shift = flat - lowest;
    H.c0.x += shift;
    H.c1.y += shift;
    H.c2.z += shift;
  }
  const float det = Determinant(H);
  if (!(det > 0.0f)) return {};
  return Cofactor(H) * minus_gradient * (1.0f / det);  // H is symmetric: H^-1 = cof(H) / det(H)
}

}  // namespace

Quat AnalyticPolarDecomposition(const Mat3& F, const Quat& warm_start, int max_iterations) {
  // Scaling F does not change R; it keeps H away from overflow and underflow.
  const float norm = std::sqrt(SquaredNorm(F));
  if (!(norm > 1.0e-15f) || !std::isfinite(norm)) return warm_start;
  const Mat3 A = F * (1.0f / norm);
  Quat q = warm_start;
  for (int i = 0; i < max_iterations; ++i) {
    Vec3 omega = NewtonStep(TransposeTimes(RotationMatrix(q), A));
    float length2 = Dot(omega, omega);
    if (!(length2 >= kConverged * kConverged)) break;
    if (length2 > kMaxStep * kMaxStep) {
      omega *= kMaxStep / std::sqrt(length2);
      length2 = kMaxStep * kMaxStep;
    }
    // The Cayley map that approximates exp(omega); Eq. 27 as printed turns by about 2 |omega|.
    const float s = length2 * (1.0f / 16.0f);
    const float inverse = 1.0f / (1.0f + s);
    const Vec3 axis = omega * (0.5f * inverse);
    q = q * Quat{axis.x, axis.y, axis.z, (1.0f - s) * inverse};
    // Products round q off the unit sphere by a few ulp: one Newton step for 1/sqrt about 1.
    const float unit = 1.5f - 0.5f * (q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    q = {q.x * unit, q.y * unit, q.z * unit, q.w * unit};
  }
  return q;
}

}  // namespace plush
