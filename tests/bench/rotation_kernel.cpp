// SPDX-License-Identifier: MIT
#include "bench/rotation_kernel.h"

#include "base/simd_target.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/rotation_kernel.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "elasticity/tet_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

void RotateGroups(const float* F, size_t num_blocks, int max_iterations, float* rotations) {
  HWY_ALIGN float all[kBlockTets];
  std::fill_n(all, kBlockTets, 1.0f);
  for (size_t b = 0; b < num_blocks; b += kGroup) {
    PolarNewton(std::min(kGroup, num_blocks - b), F + 9 * kBlockTets * b, all, 0, max_iterations,
                rotations + 4 * kBlockTets * b);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(RotateGroups);

void bench::RotateBlocks(std::span<const float> F, int max_iterations, std::span<float> rotations) {
  HWY_DYNAMIC_DISPATCH(RotateGroups)
  (F.data(), F.size() / (9 * kBlockTets), max_iterations, rotations.data());
}

}  // namespace plush
#endif
