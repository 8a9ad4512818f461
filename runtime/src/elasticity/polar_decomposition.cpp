// SPDX-License-Identifier: MIT
// AnalyticPolarDecomposition for one matrix: Newton's method, safe for inverted and flat tets.
// Based on:
// Tassilo Kugelstadt, Dan Koschier, Jan Bender. Fast Corotated FEM using Operator Splitting. 2018
#include "elasticity/polar_decomposition.h"

#include "base/vector_math.h"

#include <cmath>

namespace plush {
namespace {

// Longest Newton step. The Cayley map used here turns by 4 atan(|omega|/4), so this step makes a
// quarter turn. With a positive definite H no step needs to turn further, and longer ones can
// alternate between two rotations for ever.
constexpr float kMaxStep = 1.65685425f;  // 4 tan(pi/8)
// Steps below this change no digit of the rotation.
constexpr float kConverged = 1.0e-7f;
// Pivots of H below this fraction of its size count as flat.
constexpr float kFlat = 1.0e-4f;
// If H is indefinite, gradients below this fraction of its size give no useful direction.
constexpr float kSaddle = 1.0e-2f;

// Whether the symmetric H has no eigenvalue below `least`.
bool IsAbove(const Mat3& H, float least) {
  const Mat3 S = {{H.c0.x - least, H.c0.y, H.c0.z},
                  {H.c1.x, H.c1.y - least, H.c1.z},
                  {H.c2.x, H.c2.y, H.c2.z - least}};
  return S.c0.x > 0.0f && S.c0.x * S.c1.y - S.c1.x * S.c0.y > 0.0f && Determinant(S) > 0.0f;
}

// The longest column, scaled to `length`.
Vec3 LongestColumn(const Mat3& m, float length) {
  Vec3 longest = m.c0;
  if (Dot(m.c1, m.c1) > Dot(longest, longest)) longest = m.c1;
  if (Dot(m.c2, m.c2) > Dot(longest, longest)) longest = m.c2;
  const float own = Length(longest);
  return own > 0.0f ? longest * (length / own) : Vec3{};
}

// Newton step omega = -H^-1 (2 axl(Y)), H = tr(Y) I - sym(Y), Y = R^T F [Kug, Eq. 22-25], where
// axl(Y)_k = 1/2 sum_ij Y_ij eps_ijk. Zero once converged.
//
// An indefinite H (inverted or far-turned elements) is shifted until it is positive definite,
// because the plain step would climb. At a saddle, for example half a turn away, the gradient
// vanishes; the step then follows the lowest curvature.
Vec3 NewtonStep(const Mat3& Y) {
  // Y_ij is component i of column j: Y_12 = c2.y.
  const Vec3 minus_gradient = {Y.c1.z - Y.c2.y, Y.c2.x - Y.c0.z, Y.c0.y - Y.c1.x};
  const float trace = Y.c0.x + Y.c1.y + Y.c2.z;
  const float h01 = -0.5f * (Y.c1.x + Y.c0.y);
  const float h02 = -0.5f * (Y.c2.x + Y.c0.z);
  const float h12 = -0.5f * (Y.c2.y + Y.c1.z);
  Mat3 H = {{trace - Y.c0.x, h01, h02}, {h01, trace - Y.c1.y, h12}, {h02, h12, trace - Y.c2.z}};
  // Size of Y, not of H: H = 0 for a flattened element a quarter turn away.
  const float size = std::fabs(H.c0.x) + std::fabs(H.c1.y) + std::fabs(H.c2.z) + std::fabs(h01) +
                     std::fabs(h02) + std::fabs(h12) + Length(minus_gradient);
  const float flat = kFlat * size;
  if (!IsAbove(H, flat)) {
    if (!(flat > 0.0f) || !std::isfinite(size)) return {};
    float shift = flat;
    while (!IsAbove(H, 0.5f * flat - shift)) shift *= 4.0f;  // ends: |H| <= size
    H.c0.x += shift;
    H.c1.y += shift;
    H.c2.z += shift;
    if (shift > flat && Length(minus_gradient) < kSaddle * size) {
      // The inverse's columns point mostly along the eigenvector of the lowest eigenvalue.
      const Vec3 down = LongestColumn(Cofactor(H), kMaxStep);
      return Dot(down, minus_gradient) < 0.0f ? -down : down;
    }
  }
  const float det = Determinant(H);
  if (!(det > 0.0f)) return {};
  return Cofactor(H) * minus_gradient * (1.0f / det);  // H is symmetric: H^-1 = cof(H) / det(H)
}

}  // namespace

Quat AnalyticPolarDecomposition(const Mat3& F, const Quat& warm_start, int max_iterations) {
  // Scaling F does not change R, and keeps H from overflow and underflow.
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
    // Newton's step overshoots: for a rigid rotation by theta it is tan(theta) long. This scale and
    // the map below together turn by atan(|omega|) up to the fifth order. Uncorrected, the last
    // step before convergence would leave an error of theta^3 / 3, always forwards, which drives
    // spinning bodies.
    omega *= 1.0f / (1.0f + (5.0f / 16.0f) * length2);
    length2 = Dot(omega, omega);
    // The Cayley map that approximates exp(omega); Eq. 27 as printed turns by about 2 |omega|.
    const float s = length2 * (1.0f / 16.0f);
    const float inverse = 1.0f / (1.0f + s);
    const Vec3 axis = omega * (0.5f * inverse);
    q = q * Quat{axis.x, axis.y, axis.z, (1.0f - s) * inverse};
    // Products drift off the unit sphere by a few ulp. Correct by one Newton step for 1/sqrt about
    // 1.
    const float unit = 1.5f - 0.5f * (q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    q = {q.x * unit, q.y * unit, q.z * unit, q.w * unit};
  }
  return q;
}

}  // namespace plush
