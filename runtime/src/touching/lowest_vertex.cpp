// SPDX-License-Identifier: MIT
// Source: lowest_vertex.h. The sums are not fused: they have the bits of MeanOf.
#include "touching/lowest_vertex.h"

#include "base/simd_target.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "touching/lowest_vertex.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "base/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

// MinOfLanes gives this for infinite lanes on targets that emulate it.
constexpr float kLargest = std::numeric_limits<float>::max();

// The columns of N rows of 4 floats. Lanes hold the rows that RowsOfLanes says: exchanges within
// blocks of 4 lanes take half the time of those that keep the order.
template <class D, class V>
HWY_INLINE void LoadColumns(D d, const float* rows, V* a, V* b, V* c, V* e) {
#if HWY_TARGET == HWY_SCALAR
  hn::LoadInterleaved4(d, rows, *a, *b, *c, *e);
#else
  constexpr size_t N = kLanes<D>;
  const hn::RepartitionToWide<D> pairs;
  const V r0 = hn::LoadU(d, rows), r1 = hn::LoadU(d, rows + N);
  const V r2 = hn::LoadU(d, rows + 2 * N), r3 = hn::LoadU(d, rows + 3 * N);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
  *a = hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23));
  *b = hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23));
  *c = hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23));
  *e = hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23));
#endif
}

template <class D>
HWY_INLINE hn::Vec<D> RowsOfLanes(D d) {
  const auto lane = hn::Iota(d, 0);
#if HWY_TARGET == HWY_SCALAR
  return lane;
#else
  const auto in_block = hn::And(lane, hn::Set(d, 3));
  return hn::Add(hn::Mul(in_block, hn::Set(d, kLanes<D> / 4)), hn::ShiftRight<2>(lane));
#endif
}

LowVertex FindLowest(const Vec4* weights, size_t count, const float* gaps) {
  const Lanes16 d;
  const hn::RebindToUnsigned<Lanes16> du;
  using V = hn::Vec<Lanes16>;
  constexpr size_t N = kLanes<Lanes16>;
  constexpr float kNone = std::numeric_limits<float>::infinity();
  LowVertex lowest = {0, kNone};
  size_t i = 0;
  if (count >= N) {
    const V g0 = hn::Set(d, gaps[0]), g1 = hn::Set(d, gaps[1]);
    const V g2 = hn::Set(d, gaps[2]), g3 = hn::Set(d, gaps[3]);
    V best = hn::Set(d, kNone);
    auto first = hn::Zero(du);  // of the vectors that hold the best
    // The last vector overlaps the one before: a vertex seen twice changes nothing.
    for (bool is_last = false; !is_last; i += N) {
      is_last = i + N >= count;
      if (is_last) i = count - N;
      V a, b, c, e;
      LoadColumns(d, &weights[i].x, &a, &b, &c, &e);
      const V gap =
          hn::Add(hn::Add(hn::Add(hn::Mul(a, g0), hn::Mul(b, g1)), hn::Mul(c, g2)), hn::Mul(e, g3));
      const auto less = hn::Lt(gap, best);
      best = hn::IfThenElse(less, gap, best);
      first =
          hn::IfThenElse(hn::RebindMask(du, less), hn::Set(du, static_cast<uint32_t>(i)), first);
    }
    const V least = hn::MinOfLanes(d, best);
    const auto at = hn::Add(first, RowsOfLanes(du));
    const auto none = hn::Set(du, static_cast<uint32_t>(count));
    const auto index = hn::IfThenElse(hn::RebindMask(du, hn::Eq(best, least)), at, none);
    lowest = {hn::GetLane(hn::MinOfLanes(du, index)), hn::GetLane(least)};
    return lowest.gap < kLargest ? lowest : LowVertex{0, kNone};
  }
  for (; i < count; ++i) {
    const float gap = MeanOf(gaps, weights[i]);
    if (gap < lowest.gap) lowest = {static_cast<uint32_t>(i), gap};
  }
  return lowest;
}

uint32_t FindLowTets(uint32_t count, const CdgTet* tets, const float* gaps, float depth,
                     NearTets* near) {
  const Lanes16 d;
  const hn::RebindToSigned<Lanes16> di;
  using V = hn::Vec<Lanes16>;
  constexpr size_t N = kLanes<Lanes16>;
  static_assert(NearTets::kCount % N == 0);
  constexpr int32_t kWords = sizeof(CdgTet) / sizeof(int32_t);
  const auto* nodes = reinterpret_cast<const int32_t*>(tets);
  const V limit = hn::Set(d, -depth);
  V floor = hn::Set(d, std::numeric_limits<float>::infinity());
  uint32_t low = 0;
  for (uint32_t i = 0; i < count; i += N) {
    const auto at =
        hn::Mul(hn::BitCast(di, hn::LoadU(hn::RebindToUnsigned<Lanes16>(), near->tets + i)),
                hn::Set(di, kWords));
    V least, fallen, greatest;
    for (int32_t k = 0; k < 4; ++k) {
      const V now = hn::GatherIndex(d, gaps, hn::GatherIndex(di, nodes + k, at));
      const V then = hn::LoadU(d, near->gaps[k] + i);
      const V size = hn::Max(hn::Abs(now), hn::Abs(then)), fall = hn::Sub(then, now);
      least = k == 0 ? now : hn::Min(least, now);
      fallen = k == 0 ? fall : hn::Max(fallen, fall);
      greatest = k == 0 ? size : hn::Max(greatest, size);
    }
    const V bound = hn::Sub(hn::Sub(hn::LoadU(d, near->lowest + i), hn::Max(fallen, hn::Zero(d))),
                            hn::Mul(greatest, hn::Set(d, kRoundingOfSums)));
    const auto may = hn::And(hn::Lt(least, limit), hn::Not(hn::Ge(bound, limit)));
    const auto is_one =
        hn::Lt(hn::Iota(d, static_cast<float>(i)), hn::Set(d, static_cast<float>(count)));
    const auto other = hn::AndNot(may, is_one);
    floor = hn::Min(floor, hn::IfThenElse(other, hn::Max(bound, least), floor));
    uint8_t bytes[8] = {};
    hn::StoreMaskBits(d, may, bytes);
    low |= (bytes[0] | uint32_t{bytes[1]} << 8) << i;
  }
  near->floor = hn::GetLane(hn::MinOfLanes(d, floor));
  return low & (0xffffu >> (NearTets::kCount - count));
}

LowVertex FindLowestBeside(const uint32_t* taken, const uint32_t* nodes, size_t count,
                           float* gaps) {
  const Lanes16 d;
  const hn::RebindToUnsigned<Lanes16> du;
  constexpr float kNone = std::numeric_limits<float>::infinity();
  const auto none = hn::Set(d, kNone);
  const auto t0 = hn::Set(du, taken[0]), t1 = hn::Set(du, taken[1]);
  const auto t2 = hn::Set(du, taken[2]), t3 = hn::Set(du, taken[3]);
  auto best = none;
  auto first = hn::Zero(du);  // of the vectors that hold the best
  for (size_t i = 0; i < count; i += kLanes<Lanes16>) {
    const auto node = hn::LoadU(du, nodes + i);
    const auto is_taken = hn::Or(hn::Or(hn::Eq(node, t0), hn::Eq(node, t1)),
                                 hn::Or(hn::Eq(node, t2), hn::Eq(node, t3)));
    const auto gap = hn::IfThenElse(hn::RebindMask(d, is_taken), none, hn::LoadU(d, gaps + i));
    hn::StoreU(gap, d, gaps + i);
    const auto less = hn::Lt(gap, best);
    best = hn::IfThenElse(less, gap, best);
    first = hn::IfThenElse(hn::RebindMask(du, less), hn::Set(du, static_cast<uint32_t>(i)), first);
  }
  const auto least = hn::MinOfLanes(d, best);
  const auto at = hn::Add(first, hn::Iota(du, 0));
  const auto end = hn::Set(du, static_cast<uint32_t>(count));
  const auto index = hn::IfThenElse(hn::RebindMask(du, hn::Eq(best, least)), at, end);
  const LowVertex lowest = {hn::GetLane(hn::MinOfLanes(du, index)), hn::GetLane(least)};
  return lowest.gap < kLargest ? lowest : LowVertex{0, kNone};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(FindLowest);
HWY_EXPORT(FindLowTets);
HWY_EXPORT(FindLowestBeside);

LowVertex LowestVertex(std::span<const Vec4> weights, const float* gaps) {
  return HWY_DYNAMIC_DISPATCH(FindLowest)(weights.data(), weights.size(), gaps);
}

uint32_t LowTets(uint32_t count, std::span<const CdgTet> tets, const float* gaps, float depth,
                 NearTets* near) {
  return HWY_DYNAMIC_DISPATCH(FindLowTets)(count, tets.data(), gaps, depth, near);
}

LowVertex LowestBeside(const uint32_t* taken, const uint32_t* nodes, size_t count, float* gaps) {
  return HWY_DYNAMIC_DISPATCH(FindLowestBeside)(taken, nodes, count, gaps);
}

}  // namespace plush
#endif
