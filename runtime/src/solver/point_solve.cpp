// SPDX-License-Identifier: MIT
// SolvePoints: substitution by supernodes for 16 right-hand sides, one per lane.
// Takes eight rows (down) or columns (up) at a time: eight sums hide the latency of a
// multiply-add.
#include "base/simd_target.h"
#include "solver/panel_solve.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "solver/point_solve.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "base/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

inline constexpr size_t kLane = kPointLanes, kStep = kLanes<Lanes16>;
inline constexpr uint32_t kAtOnce = kRowPadding;

// b_R += -L_RJ b_J.
HWY_INLINE void DescendPoints(const Supernode& s, const uint32_t* rows, const float* values,
                              float* x) {
  const Lanes16 d;
  using V = hn::Vec<Lanes16>;
  for (uint32_t r = 0; r < s.num_rows; r += kAtOnce) {
    const float* const l = values + BlockIndex(s.num_rows, s.num_columns, r, 0);
    const size_t next =
        BlockIndex(s.num_rows, s.num_columns, r, 1) - BlockIndex(s.num_rows, s.num_columns, r, 0);
    const uint32_t count = std::min(s.num_rows - r, kAtOnce);
    for (size_t i = 0; i < kLane; i += kStep) {
      V sum[kAtOnce];
      for (V& v : sum) v = hn::Zero(d);
      const float* b = x + kLane * s.first_column + i;
      for (uint32_t j = 0; j < s.num_columns; ++j, b += kLane) {
        const V bj = hn::LoadU(d, b);
        for (size_t k = 0; k < kAtOnce; ++k) sum[k] = Fma(bj, hn::Set(d, l[next * j + k]), sum[k]);
      }
      for (uint32_t k = 0; k < count; ++k) {
        float* const to = x + kLane * rows[r + k] + i;
        hn::StoreU(hn::Add(hn::LoadU(d, to), sum[k]), d, to);
      }
    }
  }
}

// sum += block[r, columns]^T x_r over the rows of a dense block, whose rows are at `at(r)`.
template <class V, class At>
HWY_INLINE void AddPointRows(uint32_t num_rows, uint32_t num_columns, const float* block,
                             uint32_t first, const At& at, V (&sum)[kAtOnce]) {
  const Lanes16 d;
  for (uint32_t chunk = 0; chunk < num_rows; chunk += kChunkRows) {
    const uint32_t end = std::min(chunk + kChunkRows, num_rows);
    const float* l[kAtOnce];
    for (uint32_t k = 0; k < kAtOnce; ++k) {
      l[k] = block + BlockIndex(num_rows, num_columns, chunk, std::min(first + k, num_columns - 1));
    }
    for (uint32_t r = chunk; r < end; ++r) {
      const V xr = hn::LoadU(d, at(r));
      for (size_t k = 0; k < kAtOnce; ++k) sum[k] = Fma(xr, hn::Set(d, l[k][r - chunk]), sum[k]);
    }
  }
}

// x_J = D_JJ^-1 b_J + (-L_RJ)^T x_R. `root`: of PanelFactor::roots, or 0.
HWY_INLINE void AscendPoints(const Supernode& s, const uint32_t* rows, const float* values,
                             float root, float* x) {
  const Lanes16 d;
  using V = hn::Vec<Lanes16>;
  const uint32_t w = s.num_columns;
  HWY_ALIGN float found[kMaxSupernodeColumns * kLane];
  float* const b = x + kLane * s.first_column;
  const float* const diagonal = values + BlockValues(s.num_rows, w);
  for (uint32_t j = 0; j < w; j += kAtOnce) {
    for (size_t i = 0; i < kLane; i += kStep) {
      V sum[kAtOnce];
      for (V& v : sum) v = hn::Zero(d);
      AddPointRows(
          w, w, diagonal, j, [&](uint32_t r) HWY_ATTR { return b + kLane * r + i; }, sum);
      AddPointRows(
          s.num_rows, w, values, j, [&](uint32_t r) HWY_ATTR { return x + kLane * rows[r] + i; },
          sum);
      for (uint32_t k = 0; k < kAtOnce && j + k < w; ++k) {
        hn::StoreU(sum[k], d, found + kLane * (j + k) + i);
      }
    }
  }
  for (size_t i = 0; i < kLane && root > 0.0f; i += kStep) {
    V sum = hn::Zero(d);
    for (uint32_t j = 0; j < w; ++j) sum = hn::Add(sum, hn::LoadU(d, b + kLane * j + i));
    sum = hn::Mul(sum, hn::Set(d, root));
    for (uint32_t j = 0; j < w; ++j) {
      float* const to = found + kLane * j + i;
      hn::StoreU(hn::Add(hn::LoadU(d, to), sum), d, to);
    }
  }
  std::copy(found, found + kLane * w, b);
}

void PointSolve(const PanelFactor& factor, const uint8_t* marks, float* x) {
  const auto is_left_out = [&](size_t k) HWY_ATTR {
    return marks[k] == 0 || factor.supernodes[k].first_column >= factor.num_active;
  };
  for (size_t k = 0; k < factor.supernodes.size(); ++k) {
    if (is_left_out(k)) continue;
    const Supernode& s = factor.supernodes[k];
    DescendPoints(s, factor.rows.data() + s.first_row, factor.values.data() + s.first_value, x);
  }
  std::fill(x + kLane * factor.num_active, x + kLane * factor.num_nodes, 0.0f);
  for (size_t k = factor.supernodes.size(); k-- > 0;) {
    if (is_left_out(k)) continue;
    const Supernode& s = factor.supernodes[k];
    const float root = factor.roots.empty() ? 0.0f : factor.roots[k];
    AscendPoints(s, factor.rows.data() + s.first_row, factor.values.data() + s.first_value, root,
                 x);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(PointSolve);

void SolvePoints(const PanelFactor& factor, std::span<const uint8_t> marks, float* x) {
  HWY_DYNAMIC_DISPATCH(PointSolve)(factor, marks.data(), x);
}

}  // namespace plush
#endif
