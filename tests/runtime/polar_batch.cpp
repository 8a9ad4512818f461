// SPDX-License-Identifier: MIT
#include "runtime/polar_batch.h"

#include "base/simd_target.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/polar_batch.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "elasticity/tet_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

constexpr size_t kVectorMats = kLanes<Lanes16>;

// Node indices that address the numbers of a vector's matrices: one node per rotation, three per
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

// Transposes as many matrices as there are lanes, so that equal numbers of all of them are
// adjacent. Each matrix is read as three nodes: numbers 0 to 3, 4 to 7 and 5 to 8.
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

// Finds the rotations of a few blocks of 16 matrices.
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

HWY_EXPORT(RotateAll);

void AnalyticPolarDecompositions(std::span<const Mat3> F, std::span<Quat> rotations,
                                 int max_iterations) {
  HWY_DYNAMIC_DISPATCH(RotateAll)(F.data(), F.size(), max_iterations, rotations.data());
}

}  // namespace plush
#endif
