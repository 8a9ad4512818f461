// SPDX-License-Identifier: MIT
// Vectors of 16, 8, 4 or 1 floats, and their loads from and stores to arrays of nodes. Included
// once per instruction set, see simd_target.h.

#if defined(PLUSH_BASE_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PLUSH_BASE_LANES_INL_H_
#undef PLUSH_BASE_LANES_INL_H_
#else
#define PLUSH_BASE_LANES_INL_H_
#endif

#include "base/node_vec.h"

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// As many lanes as a register has, at most 16 or 8. Blocks have 16 tets; the last rows of a panel
// come in eights.
using Lanes16 = hn::CappedTag<float, 16>;
using Lanes8 = hn::CappedTag<float, 8>;

template <class D>
inline constexpr size_t kLanes = hn::MaxLanes(D());

// a b + c. The deterministic build rounds twice everywhere, as instruction sets without a fused
// form do.
template <class V>
HWY_INLINE V Fma(V a, V b, V c) {
#ifdef PLUSH_DETERMINISTIC
  return hn::Add(hn::Mul(a, b), c);
#else
  return hn::MulAdd(a, b, c);
#endif
}

// c - a b.
template <class V>
HWY_INLINE V FmaNegated(V a, V b, V c) {
#ifdef PLUSH_DETERMINISTIC
  return hn::Sub(c, hn::Mul(a, b));
#else
  return hn::NegMulAdd(a, b, c);
#endif
}

// a b - c.
template <class V>
HWY_INLINE V FmaMinus(V a, V b, V c) {
#ifdef PLUSH_DETERMINISTIC
  return hn::Sub(hn::Mul(a, b), c);
#else
  return hn::MulSub(a, b, c);
#endif
}

// Vectors x, y and z of one node per lane.
template <class V>
struct Xyz {
  V x, y, z;

  // Written out, because compiler-generated constructors have no target attribute.
  HWY_INLINE Xyz() {}
  HWY_INLINE Xyz(V ax, V ay, V az) : x(ax), y(ay), z(az) {}
};

template <class V>
HWY_INLINE Xyz<V> operator+(const Xyz<V>& a, const Xyz<V>& b) {
  return {hn::Add(a.x, b.x), hn::Add(a.y, b.y), hn::Add(a.z, b.z)};
}
template <class V>
HWY_INLINE Xyz<V> operator-(const Xyz<V>& a, const Xyz<V>& b) {
  return {hn::Sub(a.x, b.x), hn::Sub(a.y, b.y), hn::Sub(a.z, b.z)};
}
template <class V>
HWY_INLINE Xyz<V> operator*(const Xyz<V>& a, V s) {
  return {hn::Mul(a.x, s), hn::Mul(a.y, s), hn::Mul(a.z, s)};
}
template <class V>
HWY_INLINE Xyz<V> Fma(const Xyz<V>& a, V s, const Xyz<V>& c) {
  return {Fma(a.x, s, c.x), Fma(a.y, s, c.y), Fma(a.z, s, c.z)};
}
template <class V>
HWY_INLINE V Dot(const Xyz<V>& a, const Xyz<V>& b) {
  return Fma(a.x, b.x, Fma(a.y, b.y, hn::Mul(a.z, b.z)));
}
template <class V>
HWY_INLINE Xyz<V> Cross(const Xyz<V>& a, const Xyz<V>& b) {
  return {FmaMinus(a.y, b.z, hn::Mul(a.z, b.y)), FmaMinus(a.z, b.x, hn::Mul(a.x, b.z)),
          FmaMinus(a.x, b.y, hn::Mul(a.y, b.x))};
}

// A 3x3 matrix per lane, by columns.
template <class V>
struct Mat {
  Xyz<V> c0, c1, c2;

  HWY_INLINE Mat() {}
  HWY_INLINE Mat(const Xyz<V>& a, const Xyz<V>& b, const Xyz<V>& c) : c0(a), c1(b), c2(c) {}
};

// m v.
template <class V>
HWY_INLINE Xyz<V> Times(const Mat<V>& m, const Xyz<V>& v) {
  return Fma(m.c0, v.x, Fma(m.c1, v.y, m.c2 * v.z));
}

// a b.
template <class V>
HWY_INLINE Mat<V> Times(const Mat<V>& a, const Mat<V>& b) {
  return {Times(a, b.c0), Times(a, b.c1), Times(a, b.c2)};
}

// a b^T.
template <class V>
HWY_INLINE Mat<V> TimesTranspose(const Mat<V>& a, const Mat<V>& b) {
  return {Fma(a.c0, b.c0.x, Fma(a.c1, b.c1.x, a.c2 * b.c2.x)),
          Fma(a.c0, b.c0.y, Fma(a.c1, b.c1.y, a.c2 * b.c2.y)),
          Fma(a.c0, b.c0.z, Fma(a.c1, b.c1.z, a.c2 * b.c2.z))};
}

// a^T b.
template <class V>
HWY_INLINE Mat<V> TransposeTimes(const Mat<V>& a, const Mat<V>& b) {
  return {{Dot(a.c0, b.c0), Dot(a.c1, b.c0), Dot(a.c2, b.c0)},
          {Dot(a.c0, b.c1), Dot(a.c1, b.c1), Dot(a.c2, b.c1)},
          {Dot(a.c0, b.c2), Dot(a.c1, b.c2), Dot(a.c2, b.c2)}};
}

// a : b.
template <class V>
HWY_INLINE V Inner(const Mat<V>& a, const Mat<V>& b) {
  return hn::Add(Dot(a.c0, b.c0), hn::Add(Dot(a.c1, b.c1), Dot(a.c2, b.c2)));
}

template <class V>
HWY_INLINE Mat<V> Cofactor(const Mat<V>& m) {
  return {Cross(m.c1, m.c2), Cross(m.c2, m.c0), Cross(m.c0, m.c1)};
}

#if HWY_TARGET == HWY_SCALAR

template <class D, class At>
HWY_INLINE Xyz<hn::Vec<D>> GatherFrom(D d, const At& at, hn::Vec<D>* w) {
  const float* node = at(0);
  if (w != nullptr) *w = hn::Set(d, node[3]);
  return {hn::Set(d, node[0]), hn::Set(d, node[1]), hn::Set(d, node[2])};
}

template <class D, class Put>
HWY_INLINE void ForNodes(D /*d*/, const Xyz<hn::Vec<D>>& v, hn::Vec<D> w, const Put& put) {
  put(0, NodeVec({hn::GetLane(v.x), hn::GetLane(v.y), hn::GetLane(v.z)}, hn::GetLane(w)));
}

HWY_INLINE void StoreBlock(const NodeVec& node, float* to) {
  *reinterpret_cast<NodeVec*>(to) = node;
}

template <class D>
HWY_INLINE void AddToNodes(D /*d*/, const Xyz<hn::Vec<D>>& v, const uint32_t* ids, NodeVec* nodes) {
  NodeVec& node = nodes[ids[0]];
  node.x += hn::GetLane(v.x);
  node.y += hn::GetLane(v.y);
  node.z += hn::GetLane(v.z);
}

template <class D>
HWY_INLINE void StoreNodes(D /*d*/, const Xyz<hn::Vec<D>>& v, hn::Vec<D> w, const uint32_t* ids,
                           NodeVec* nodes) {
  NodeVec& node = nodes[ids[0]];
  node.x = hn::GetLane(v.x);
  node.y = hn::GetLane(v.y);
  node.z = hn::GetLane(v.z);
  node.w = hn::GetLane(w);
}

#else

// Loads four nodes into one register.
template <class D>
HWY_INLINE hn::Vec<D> LoadBlocks(D d, const float* a, const float* b, const float* c,
                                 const float* e) {
  const hn::Half<D> d8;
  const hn::Half<hn::Half<D>> d4;
  return hn::Combine(d, hn::Combine(d8, hn::Load(d4, e), hn::Load(d4, c)),
                     hn::Combine(d8, hn::Load(d4, b), hn::Load(d4, a)));
}

// Gathers the numbers of the N nodes at `at(i)`, with `w` unless it is null.
template <class D, class At>
HWY_INLINE Xyz<hn::Vec<D>> GatherFrom(D d, const At& at, hn::Vec<D>* w) {
  using V = hn::Vec<D>;
  constexpr size_t N = kLanes<D>;
  V a, b, c, e;  // nodes 0, 4, 8, 12 and so on
  if constexpr (N == 16) {
    a = LoadBlocks(d, at(0), at(4), at(8), at(12));
    b = LoadBlocks(d, at(1), at(5), at(9), at(13));
    c = LoadBlocks(d, at(2), at(6), at(10), at(14));
    e = LoadBlocks(d, at(3), at(7), at(11), at(15));
  } else if constexpr (N == 8) {
    const hn::Half<D> d4;
    a = hn::Combine(d, hn::Load(d4, at(4)), hn::Load(d4, at(0)));
    b = hn::Combine(d, hn::Load(d4, at(5)), hn::Load(d4, at(1)));
    c = hn::Combine(d, hn::Load(d4, at(6)), hn::Load(d4, at(2)));
    e = hn::Combine(d, hn::Load(d4, at(7)), hn::Load(d4, at(3)));
  } else {
    a = hn::Load(d, at(0));
    b = hn::Load(d, at(1));
    c = hn::Load(d, at(2));
    e = hn::Load(d, at(3));
  }
  const hn::RepartitionToWide<D> pairs;
  const auto xy_ab = hn::BitCast(pairs, hn::InterleaveLower(d, a, b));  // x0 x1 y0 y1
  const auto xy_ce = hn::BitCast(pairs, hn::InterleaveLower(d, c, e));
  const auto zw_ab = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b));
  const auto zw_ce = hn::BitCast(pairs, hn::InterleaveUpper(d, c, e));
  if (w != nullptr) *w = hn::BitCast(d, hn::InterleaveUpper(pairs, zw_ab, zw_ce));
  return {hn::BitCast(d, hn::InterleaveLower(pairs, xy_ab, xy_ce)),
          hn::BitCast(d, hn::InterleaveUpper(pairs, xy_ab, xy_ce)),
          hn::BitCast(d, hn::InterleaveLower(pairs, zw_ab, zw_ce))};
}

// Calls put(i, block) for each of the N nodes in `v` and `w`; the block has the layout of a
// NodeVec.
template <class D, class Put>
HWY_INLINE void ForNodes(D d, const Xyz<hn::Vec<D>>& v, hn::Vec<D> w, const Put& put) {
  constexpr size_t N = kLanes<D>;
  static_assert(N >= 4);
  const auto xz_01 = hn::InterleaveLower(d, v.x, v.z);  // x0 z0 x1 z1
  const auto xz_23 = hn::InterleaveUpper(d, v.x, v.z);
  const auto yw_01 = hn::InterleaveLower(d, v.y, w);
  const auto yw_23 = hn::InterleaveUpper(d, v.y, w);
  const auto n0 = hn::InterleaveLower(d, xz_01, yw_01);  // x0 y0 z0 w0
  const auto n1 = hn::InterleaveUpper(d, xz_01, yw_01);
  const auto n2 = hn::InterleaveLower(d, xz_23, yw_23);
  const auto n3 = hn::InterleaveUpper(d, xz_23, yw_23);
  if constexpr (N == 4) {
    put(0, n0);
    put(1, n1);
    put(2, n2);
    put(3, n3);
  } else if constexpr (N == 8) {
    const hn::Half<D> d4;
    put(0, hn::LowerHalf(d4, n0));
    put(1, hn::LowerHalf(d4, n1));
    put(2, hn::LowerHalf(d4, n2));
    put(3, hn::LowerHalf(d4, n3));
    put(4, hn::UpperHalf(d4, n0));
    put(5, hn::UpperHalf(d4, n1));
    put(6, hn::UpperHalf(d4, n2));
    put(7, hn::UpperHalf(d4, n3));
  } else {
    const hn::Half<D> d8;
    const hn::Half<hn::Half<D>> d4;
    const auto four = [&](size_t first, auto block) HWY_ATTR {
      const auto lower = hn::LowerHalf(d8, block), upper = hn::UpperHalf(d8, block);
      put(first, hn::LowerHalf(d4, lower));
      put(first + 4, hn::UpperHalf(d4, lower));
      put(first + 8, hn::LowerHalf(d4, upper));
      put(first + 12, hn::UpperHalf(d4, upper));
    };
    four(0, n0);
    four(1, n1);
    four(2, n2);
    four(3, n3);
  }
}

// Adds N vectors to the nodes `ids`, which are distinct except for the spare one.
template <class D>
HWY_INLINE void AddToNodes(D d, const Xyz<hn::Vec<D>>& v, const uint32_t* ids, NodeVec* nodes) {
  const hn::CappedTag<float, 4> d4;
  ForNodes(d, v, hn::Zero(d), [&](size_t i, auto block) HWY_ATTR {
    float* at = &nodes[ids[i]].x;
    hn::Store(hn::Add(hn::Load(d4, at), block), d4, at);
  });
}

// Writes N nodes, with `w`, to the places `ids`, which are distinct except for the spare one.
template <class D>
HWY_INLINE void StoreNodes(D d, const Xyz<hn::Vec<D>>& v, hn::Vec<D> w, const uint32_t* ids,
                           NodeVec* nodes) {
  const hn::CappedTag<float, 4> d4;
  ForNodes(d, v, w, [&](size_t i, auto block) HWY_ATTR { hn::Store(block, d4, &nodes[ids[i]].x); });
}

// Stores one block of ForNodes.
template <class V>
HWY_INLINE void StoreBlock(V block, float* to) {
  hn::Store(block, hn::CappedTag<float, 4>(), to);
}

#endif

// Gathers the N nodes at places `ids` of `nodes`, with `w` unless it is null.
template <class D>
HWY_INLINE Xyz<hn::Vec<D>> GatherNodes(D d, const NodeVec* nodes, const uint32_t* ids,
                                       hn::Vec<D>* w) {
  return GatherFrom(
      d, [&](size_t i) HWY_ATTR { return &nodes[ids[i]].x; }, w);
}

}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#endif
