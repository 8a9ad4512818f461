// SPDX-License-Identifier: MIT
// Rotations of single matrices, and of many that lie one after the other.
// Based on:
// Tassilo Kugelstadt, Dan Koschier, Jan Bender. Fast Corotated FEM using Operator Splitting. 2018
#include "elasticity/polar_decomposition.h"

#include "base/simd_target.h"
#include "base/vector_math.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "elasticity/polar_decomposition.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "elasticity/tet_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

constexpr size_t kVectorMats = kLanes<Lanes16>;

// Places among the nodes that hold numbers of a vector's matrices: one for a rotation, three for a
// matrix.
struct Places {
  uint32_t of_rotations[kVectorMats];
  uint32_t of_thirds[3][kVectorMats];
};

constexpr Places MakePlaces() {
  Places places = {};
  for (uint32_t i = 0; i < kVectorMats; ++i) {
    places.of_rotations[i] = i;
    for (uint32_t k = 0; k < 3; ++k) places.of_thirds[k][i] = 3 * i + k;
  }
  return places;
}
constexpr Places kPlaces = MakePlaces();

HWY_INLINE void CopyFour(const float* from, NodeVec* to) {
  std::memcpy(static_cast<void*>(to), from, sizeof(NodeVec));
}

// The numbers of as many matrices as there are lanes, each of all of them beside each other. By way
// of three nodes each: numbers 0 to 3, 4 to 7 and 5 to 8.
HWY_INLINE void TransposeMats(const Mat3* F, float* out) {
  static_assert(sizeof(Mat3) == 9 * sizeof(float) && sizeof(NodeVec) == 4 * sizeof(float));
  const Lanes16 d;
  using V = hn::Vec<Lanes16>;
  NodeVec thirds[3 * kVectorMats];
  for (size_t i = 0; i < kVectorMats; ++i) {
    const float* m = &F[i].c0.x;
    CopyFour(m, &thirds[3 * i]);
    CopyFour(m + 4, &thirds[3 * i + 1]);
    CopyFour(m + 5, &thirds[3 * i + 2]);
  }
  V m3, m7, m8;
  const Xyz<V> a = GatherNodes(d, thirds, kPlaces.of_thirds[0], &m3);
  const Xyz<V> b = GatherNodes(d, thirds, kPlaces.of_thirds[1], &m7);
  GatherNodes(d, thirds, kPlaces.of_thirds[2], &m8);
  StoreMat(d, Mat<V>{a, {m3, b.x, b.y}, {b.z, m7, m8}}, out);
}

HWY_INLINE void TransposeRotations(const Quat* rotations, float* out) {
  static_assert(sizeof(Quat) == sizeof(NodeVec));
  const Lanes16 d;
  NodeVec nodes[kVectorMats];
  for (size_t i = 0; i < kVectorMats; ++i) CopyFour(&rotations[i].x, &nodes[i]);
  Rotation<hn::Vec<Lanes16>> q;
  const auto axis = GatherNodes(d, nodes, kPlaces.of_rotations, &q.w);
  q.x = axis.x;
  q.y = axis.y;
  q.z = axis.z;
  StoreRotation(d, q, out);
}

HWY_INLINE void StoreRotations(const float* from, Quat* rotations) {
  const Lanes16 d;
  NodeVec nodes[kVectorMats];
  const auto q = LoadRotation(d, from);
  StoreNodes(d, {q.x, q.y, q.z}, q.w, kPlaces.of_rotations, nodes);
  std::memcpy(rotations, nodes, sizeof(nodes));
}

// Rotations of a few blocks of 16 matrices.
HWY_INLINE void RotateBlocks(const Mat3* F, size_t num_blocks, int max_iterations,
                             Quat* rotations) {
  HWY_ALIGN float m[kGroup][9 * kBlockTets];
  HWY_ALIGN float q[kGroup][4 * kBlockTets];
  HWY_ALIGN float all[kBlockTets];
  std::fill_n(all, kBlockTets, 1.0f);
  for (size_t b = 0; b < num_blocks; ++b) {
    for (size_t i = 0; i < kBlockTets; i += kVectorMats) {
      TransposeMats(F + kBlockTets * b + i, m[b] + i);
      TransposeRotations(rotations + kBlockTets * b + i, q[b] + i);
    }
  }
  PolarNewton(num_blocks, m[0], all, 0, max_iterations, q[0]);
  for (size_t b = 0; b < num_blocks; ++b) {
    for (size_t i = 0; i < kBlockTets; i += kVectorMats) {
      StoreRotations(q[b] + i, rotations + kBlockTets * b + i);
    }
  }
}

void RotateAll(const Mat3* F, size_t count, int max_iterations, Quat* rotations) {
  size_t i = 0;
  while (count - i >= kBlockTets) {
    const size_t num_blocks = std::min(kGroup, (count - i) / kBlockTets);
    RotateBlocks(F + i, num_blocks, max_iterations, rotations + i);
    i += kBlockTets * num_blocks;
  }
  if (i == count) return;
  Mat3 last[kBlockTets];
  Quat found[kBlockTets];
  for (Mat3& m : last) m = {{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}};
  std::copy(F + i, F + count, last);
  std::copy(rotations + i, rotations + count, found);
  RotateBlocks(last, 1, max_iterations, found);
  std::copy(found, found + (count - i), rotations + i);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

namespace {

// Longest Newton step: the Cayley map used here turns by 4 atan(|omega|/4), so this one by a
// quarter turn. Where H is positive definite no step needs to turn further, and longer ones can
// alternate between two rotations for ever.
constexpr float kMaxStep = 1.65685425f;  // 4 tan(pi/8)
// Steps below this change no float digit of the rotation.
constexpr float kConverged = 1.0e-7f;
// Pivots of H below this fraction of its size count as flat.
constexpr float kFlat = 1.0e-4f;
// Gradients below this fraction of H's size say too little where H is indefinite.
constexpr float kSaddle = 1.0e-2f;

// Whether the symmetric H has no eigenvalue below `least`.
bool IsAbove(const Mat3& H, float least) {
  const Mat3 S = {{H.c0.x - least, H.c0.y, H.c0.z},
                  {H.c1.x, H.c1.y - least, H.c1.z},
                  {H.c2.x, H.c2.y, H.c2.z - least}};
  return S.c0.x > 0.0f && S.c0.x * S.c1.y - S.c1.x * S.c0.y > 0.0f && Determinant(S) > 0.0f;
}

// The longest column, times `length` over its own.
Vec3 LongestColumn(const Mat3& m, float length) {
  Vec3 longest = m.c0;
  if (Dot(m.c1, m.c1) > Dot(longest, longest)) longest = m.c1;
  if (Dot(m.c2, m.c2) > Dot(longest, longest)) longest = m.c2;
  const float own = Length(longest);
  return own > 0.0f ? longest * (length / own) : Vec3{};
}

// Newton step omega = -H^-1 (2 axl(Y)), H = tr(Y) I - sym(Y), Y = R^T F [Kug, Eq. 22-25], where
// axl(Y)_k = 1/2 sum_ij Y_ij eps_ijk. Zero where nothing is left to do.
//
// An indefinite H (inverted or far-turned elements) is shifted until it is positive definite: the
// plain step would climb. At a saddle, half a turn away say, the gradient vanishes and the step
// follows the lowest curvature instead.
Vec3 NewtonStep(const Mat3& Y) {
  // Y_ij is component i of column j: Y_12 = c2.y.
  const Vec3 minus_gradient = {Y.c1.z - Y.c2.y, Y.c2.x - Y.c0.z, Y.c0.y - Y.c1.x};
  const float trace = Y.c0.x + Y.c1.y + Y.c2.z;
  const float h01 = -0.5f * (Y.c1.x + Y.c0.y);
  const float h02 = -0.5f * (Y.c2.x + Y.c0.z);
  const float h12 = -0.5f * (Y.c2.y + Y.c1.z);
  Mat3 H = {{trace - Y.c0.x, h01, h02}, {h01, trace - Y.c1.y, h12}, {h02, h12, trace - Y.c2.z}};
  // Of Y, so that it does not vanish with H: a flattened element a quarter turn away has H = 0.
  const float size = std::fabs(H.c0.x) + std::fabs(H.c1.y) + std::fabs(H.c2.z) + std::fabs(h01) +
                     std::fabs(h02) + std::fabs(h12) + Length(minus_gradient);
  const float flat = kFlat * size;
  if (!IsAbove(H, flat)) {
    if (!(flat > 0.0f)) return {};
    float shift = flat;
    while (!IsAbove(H, 0.5f * flat - shift)) shift *= 4.0f;  // ends: |H| <= size
    H.c0.x += shift;
    H.c1.y += shift;
    H.c2.z += shift;
    if (shift > flat && Length(minus_gradient) < kSaddle * size) {
      // Columns of the inverse are rich in the direction of the lowest eigenvalue.
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
    // Newton's step overshoots: for a rigid rotation by theta it is tan(theta) long. Together with
    // the map below this scale turns by atan(|omega|) up to the fifth order. Uncorrected, the last
    // step before convergence leaves theta^3 / 3, always forwards, which drives spinning bodies.
    omega *= 1.0f / (1.0f + (5.0f / 16.0f) * length2);
    length2 = Dot(omega, omega);
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

HWY_EXPORT(RotateAll);

void AnalyticPolarDecompositions(std::span<const Mat3> F, std::span<Quat> rotations,
                                 int max_iterations) {
  HWY_DYNAMIC_DISPATCH(RotateAll)(F.data(), F.size(), max_iterations, rotations.data());
}

}  // namespace plush
#endif
