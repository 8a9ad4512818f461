// SPDX-License-Identifier: MIT
// SolveCrowd: substitution by supernodes for 16 bodies, one per lane.
// Takes four rows (down) or columns (up) at a time: 3 vector loads and 4 numbers of L give 12
// multiply-adds.
#include "base/simd_target.h"
#include "solver/panel_solve.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "solver/crowd_solve.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "elasticity/crowd_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

inline constexpr size_t kStep = kLanes<Lanes16>;

// b_R += -L_RJ b_J.
HWY_INLINE void Descend(const Supernode& s, const uint32_t* rows, const float* values, float* x) {
  const Lanes16 d;
  using V = hn::Vec<Lanes16>;
  const float* b = x + kCrowdVector * s.first_column;
  for (uint32_t r = 0; r < s.num_rows; r += 4) {
    // Missing rows of a partial chunk have zero values; read the last row in their place.
    float* to[4];
    for (uint32_t k = 0; k < 4; ++k) {
      to[k] = x + kCrowdVector * rows[std::min(r + k, s.num_rows - 1)];
    }
    const float* l = values + BlockIndex(s.num_rows, s.num_columns, r, 0);
    const size_t next =
        BlockIndex(s.num_rows, s.num_columns, r, 1) - BlockIndex(s.num_rows, s.num_columns, r, 0);
    for (size_t i = 0; i < kCrowdLanes; i += kStep) {
      Xyz<V> sum[4];
      for (Xyz<V>& v : sum) v = {hn::Zero(d), hn::Zero(d), hn::Zero(d)};
      for (uint32_t j = 0; j < s.num_columns; ++j) {
        const Xyz<V> bj = LoadCrowd(d, b + kCrowdVector * j + i);
        for (size_t k = 0; k < 4; ++k) sum[k] = Fma(bj, hn::Set(d, l[next * j + k]), sum[k]);
      }
      for (uint32_t k = 0; k < 4 && r + k < s.num_rows; ++k) {
        StoreCrowd(d, LoadCrowd(d, to[k] + i) + sum[k], to[k] + i);
      }
    }
  }
}

// sum += block[r, columns]^T x_r over the rows of a dense block, whose rows are at `at(r)`.
template <class D, class V, class At>
HWY_INLINE void AddRows(D d, uint32_t num_rows, uint32_t num_columns, const float* block,
                        uint32_t first, const At& at, Xyz<V> (&sum)[4]) {
  uint32_t column[4];
  for (uint32_t k = 0; k < 4; ++k) column[k] = std::min(first + k, num_columns - 1);
  for (uint32_t chunk = 0; chunk < num_rows; chunk += kChunkRows) {
    const uint32_t end = std::min(chunk + kChunkRows, num_rows);
    const float* l[4];
    for (size_t k = 0; k < 4; ++k) {
      l[k] = block + BlockIndex(num_rows, num_columns, chunk, column[k]);
    }
    for (uint32_t r = chunk; r < end; ++r) {
      const Xyz<V> xr = LoadCrowd(d, at(r));
      for (size_t k = 0; k < 4; ++k) sum[k] = Fma(xr, hn::Set(d, l[k][r - chunk]), sum[k]);
    }
  }
}

// x_J = D_JJ^-1 b_J + (-L_RJ)^T x_R. `root`: of PanelFactor::roots, or 0.
HWY_INLINE void Ascend(const Supernode& s, const uint32_t* rows, const float* values, float root,
                       float* x) {
  const Lanes16 d;
  using V = hn::Vec<Lanes16>;
  const uint32_t w = s.num_columns;
  HWY_ALIGN float found[kMaxSupernodeColumns * kCrowdVector];
  float* b = x + kCrowdVector * s.first_column;
  const float* diagonal = values + BlockValues(s.num_rows, w);
  for (uint32_t j = 0; j < w; j += 4) {
    for (size_t i = 0; i < kCrowdLanes; i += kStep) {
      Xyz<V> sum[4];
      for (Xyz<V>& v : sum) v = {hn::Zero(d), hn::Zero(d), hn::Zero(d)};
      AddRows(
          d, w, w, diagonal, j, [&](uint32_t r) HWY_ATTR { return b + kCrowdVector * r + i; }, sum);
      AddRows(
          d, s.num_rows, w, values, j,
          [&](uint32_t r) HWY_ATTR { return x + kCrowdVector * rows[r] + i; }, sum);
      for (uint32_t k = 0; k < 4 && j + k < w; ++k) {
        StoreCrowd(d, sum[k], found + kCrowdVector * (j + k) + i);
      }
    }
  }
  for (size_t i = 0; i < kCrowdLanes && root > 0.0f; i += kStep) {
    Xyz<V> sum = {hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    for (uint32_t j = 0; j < w; ++j) sum = sum + LoadCrowd(d, b + kCrowdVector * j + i);
    sum = sum * hn::Set(d, root);
    for (uint32_t j = 0; j < w; ++j) {
      float* const to = found + kCrowdVector * j + i;
      StoreCrowd(d, LoadCrowd(d, to) + sum, to);
    }
  }
  std::copy(found, found + kCrowdVector * w, b);
}

void CrowdSolve(const PanelFactor& factor, float* x) {
  for (const Supernode& s : factor.supernodes) {
    if (s.first_column >= factor.num_active) continue;
    Descend(s, factor.rows.data() + s.first_row, factor.values.data() + s.first_value, x);
  }
  std::fill(x + kCrowdVector * factor.num_active, x + kCrowdVector * factor.num_nodes, 0.0f);
  for (size_t k = factor.supernodes.size(); k-- > 0;) {
    const Supernode& s = factor.supernodes[k];
    if (s.first_column >= factor.num_active) continue;
    const float root = factor.roots.empty() ? 0.0f : factor.roots[k];
    Ascend(s, factor.rows.data() + s.first_row, factor.values.data() + s.first_value, root, x);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(CrowdSolve);

void SolveCrowd(const PanelFactor& factor, float* x) {
  HWY_DYNAMIC_DISPATCH(CrowdSolve)(factor, x);
}

}  // namespace plush
#endif
