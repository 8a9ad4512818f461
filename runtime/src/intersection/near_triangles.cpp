// SPDX-License-Identifier: MIT
// Source: near_triangles.h.
#include "intersection/near_triangles.h"

#include "base/simd_target.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "intersection/near_triangles.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "base/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

using V = hn::Vec<Lanes16>;
using Vector = Xyz<V>;
constexpr size_t kSize = TriangleBlock::kSize;

HWY_INLINE Vector LoadFrom(const float (&axes)[3][kSize], size_t i) {
  const Lanes16 d;
  return {hn::LoadU(d, axes[0] + i), hn::LoadU(d, axes[1] + i), hn::LoadU(d, axes[2] + i)};
}

HWY_INLINE Vector SetFrom(const float (&axes)[3][kSize], size_t i) {
  const Lanes16 d;
  return {hn::Set(d, axes[0][i]), hn::Set(d, axes[1][i]), hn::Set(d, axes[2][i])};
}

HWY_INLINE V SumNorm(const Vector& a) {
  return hn::Add(hn::Add(hn::Abs(a.x), hn::Abs(a.y)), hn::Abs(a.z));
}

void Measure(float reach, TriangleBlock* block) {
  const Lanes16 d;
  // With u = 2^-24, N the product of the norms of two edges, R the reach: a normal's component errs
  // by 4 u N, so a corner's height by 8 u N R, its projection and the plane's by 3 u N R each. In
  // all less than 24 u N R. Products of greater coordinates could be infinite.
  constexpr float kMostReach = 1.0e9f;
  const float rounding = reach <= kMostReach
                             ? 24.0f * 0.5f * std::numeric_limits<float>::epsilon() * reach
                             : std::numeric_limits<float>::infinity();
  for (size_t i = 0; i < kSize; i += kLanes<Lanes16>) {
    const Vector p = LoadFrom(block->corners[0], i);
    const Vector e = LoadFrom(block->corners[1], i) - p, f = LoadFrom(block->corners[2], i) - p;
    const Vector normal = Cross(e, f);
    for (int k = 0; k < 3; ++k) {
      const auto corner = [&](int c) HWY_ATTR { return hn::LoadU(d, block->corners[c][k] + i); };
      hn::StoreU(hn::Min(hn::Min(corner(0), corner(1)), corner(2)), d, block->low[k] + i);
      hn::StoreU(hn::Max(hn::Max(corner(0), corner(1)), corner(2)), d, block->high[k] + i);
    }
    hn::StoreU(normal.x, d, block->normal[0] + i);
    hn::StoreU(normal.y, d, block->normal[1] + i);
    hn::StoreU(normal.z, d, block->normal[2] + i);
    const V plane = Dot(normal, p);
    const V error = Fma(hn::Mul(SumNorm(e), SumNorm(f)), hn::Set(d, rounding),
                        hn::Set(d, 1.0e-25f));  // the latter for underflow
    hn::StoreU(hn::Add(plane, error), d, block->above + i);
    hn::StoreU(hn::Sub(plane, error), d, block->below + i);
  }
}

// Whether three corners are on one side of a plane.
HWY_INLINE hn::Mask<Lanes16> OnOneSide(const Vector& normal, V above, V below, const Vector& p,
                                       const Vector& q, const Vector& r) {
  const V a = Dot(normal, p), b = Dot(normal, q), c = Dot(normal, r);
  return hn::Or(hn::Gt(hn::Min(hn::Min(a, b), c), above), hn::Lt(hn::Max(hn::Max(a, b), c), below));
}

// Adds pairs of triangle i of a block, number `of_a`, and triangles of another block, from the
// number `count` of pairs on. Returns their number.
HWY_INLINE uint32_t PairOne(const TriangleBlock& a, size_t i, uint32_t of_a, const TriangleBlock& b,
                            const uint32_t* of_b, size_t count_b, uint32_t* first, uint32_t* second,
                            uint32_t count) {
  const Lanes16 d;
  const hn::RebindToUnsigned<Lanes16> du;
  for (size_t j = 0; j < kSize; j += kLanes<Lanes16>) {
    if (kLanes<Lanes16> < kSize && j >= count_b) break;
    auto are_near = hn::FirstN(d, count_b - j);
    for (int k = 0; k < 3; ++k) {
      are_near = hn::And(are_near, hn::Le(hn::LoadU(d, b.low[k] + j), hn::Set(d, a.high[k][i])));
      are_near = hn::And(are_near, hn::Le(hn::Set(d, a.low[k][i]), hn::LoadU(d, b.high[k] + j)));
    }
    if (hn::AllFalse(d, are_near)) continue;
    const auto of_a_apart =
        OnOneSide(SetFrom(a.normal, i), hn::Set(d, a.above[i]), hn::Set(d, a.below[i]),
                  LoadFrom(b.corners[0], j), LoadFrom(b.corners[1], j), LoadFrom(b.corners[2], j));
    const auto of_b_apart =
        OnOneSide(LoadFrom(b.normal, j), hn::LoadU(d, b.above + j), hn::LoadU(d, b.below + j),
                  SetFrom(a.corners[0], i), SetFrom(a.corners[1], i), SetFrom(a.corners[2], i));
    are_near = hn::AndNot(hn::Or(of_a_apart, of_b_apart), are_near);
    const auto which = hn::RebindMask(du, are_near);
    hn::StoreU(hn::Set(du, of_a), du, first + count);
    hn::StoreU(hn::Compress(hn::LoadU(du, of_b + j), which), du, second + count);
    count += static_cast<uint32_t>(hn::CountTrue(du, which));
  }
  return count;
}

uint32_t Pair(const TriangleBlocks& a, uint32_t begin, const TriangleBlocks& b, NearPairs* pairs) {
  const uint32_t count_a = static_cast<uint32_t>(a.triangles.size());
  const uint32_t count_b = static_cast<uint32_t>(b.triangles.size());
  const uint32_t *const of_a = a.triangles.data(), *const of_b = b.triangles.data();
  uint32_t *const first = pairs->first.data(), *const second = pairs->second.data();
  // A variable of its own: what is stored could be the other one.
  uint32_t count = pairs->count, i = begin;
  for (; i < count_a; ++i) {
    pairs->count = count;
    if (!pairs->HasRoom(count_b)) break;
    for (uint32_t j = 0; j < count_b; j += kSize) {
      count = PairOne(a.blocks[i / kSize], i % kSize, of_a[i], b.blocks[j / kSize], of_b + j,
                      count_b - j, first, second, count);
    }
  }
  pairs->count = count;
  return i;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(Measure);
HWY_EXPORT(Pair);

void MeasureTriangles(float reach, std::span<TriangleBlock> blocks) {
  for (TriangleBlock& block : blocks) HWY_DYNAMIC_DISPATCH(Measure)(reach, &block);
}

uint32_t PairNear(const TriangleBlocks& a, uint32_t begin, const TriangleBlocks& b,
                  NearPairs* pairs) {
  return HWY_DYNAMIC_DISPATCH(Pair)(a, begin, b, pairs);
}

}  // namespace plush
#endif
