// SPDX-License-Identifier: MIT
// Rotations of matrices that lie one after the other.
#include "base/simd_target.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "elasticity/polar_batch.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "elasticity/polar_newton-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

constexpr size_t kVectorMats = kLanes<Lanes16>;

// Places of the first of three nodes of each matrix, of the second and of the third.
struct Places {
  uint32_t of_quats[kVectorMats];
  uint32_t of_thirds[3][kVectorMats];
};

constexpr Places MakePlaces() {
  Places places = {};
  for (uint32_t i = 0; i < kVectorMats; ++i) {
    places.of_quats[i] = i;
    for (uint32_t k = 0; k < 3; ++k) places.of_thirds[k][i] = 3 * i + k;
  }
  return places;
}
constexpr Places kPlaces = MakePlaces();

HWY_INLINE void CopyFour(const float* from, NodeVec* to) {
  std::memcpy(static_cast<void*>(to), from, sizeof(NodeVec));
}

// Nine numbers of each matrix, by way of twelve in three nodes: 0 to 3, 4 to 7 and 5 to 8.
template <class D, class V = hn::Vec<D>>
HWY_INLINE Mat<V> LoadMats(D d, const Mat3* F) {
  static_assert(sizeof(Mat3) == 9 * sizeof(float) && sizeof(NodeVec) == 4 * sizeof(float));
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
  return {a, {m3, b.x, b.y}, {b.z, m7, m8}};
}

// Rotations of as many matrices as there are lanes.
HWY_INLINE void RotateVector(const Mat3* F, int max_iterations, Quat* rotations) {
  static_assert(sizeof(Quat) == sizeof(NodeVec));
  const Lanes16 d;
  using V = hn::Vec<Lanes16>;
  NodeVec quats[kVectorMats];
  for (size_t i = 0; i < kVectorMats; ++i) CopyFour(&rotations[i].x, &quats[i]);
  Rotation<V> rotation;
  const Xyz<V> axis = GatherNodes(d, quats, kPlaces.of_quats, &rotation.w);
  rotation.x = axis.x;
  rotation.y = axis.y;
  rotation.z = axis.z;
  const auto all = hn::FirstN(d, kVectorMats);
  PolarNewton(d, LoadMats(d, F), all, max_iterations, &rotation);
  StoreNodes(d, {rotation.x, rotation.y, rotation.z}, rotation.w, kPlaces.of_quats, quats);
  std::memcpy(rotations, quats, sizeof(quats));
}

void RotateAll(const Mat3* F, size_t count, int max_iterations, Quat* rotations) {
  size_t i = 0;
  for (; i + kVectorMats <= count; i += kVectorMats) {
    RotateVector(F + i, max_iterations, rotations + i);
  }
  if (i == count) return;
  Mat3 last[kVectorMats];
  Quat found[kVectorMats];
  for (Mat3& m : last) m = {{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}};
  std::copy(F + i, F + count, last);
  std::copy(rotations + i, rotations + count, found);
  RotateVector(last, max_iterations, found);
  std::copy(found, found + (count - i), rotations + i);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(RotateAll);

void AnalyticPolarDecompositions(std::span<const Mat3> F, std::span<Quat> rotations,
                                 int max_iterations) {
  HWY_DYNAMIC_DISPATCH(RotateAll)(F.data(), F.size(), max_iterations, rotations.data());
}

}  // namespace plush
#endif
