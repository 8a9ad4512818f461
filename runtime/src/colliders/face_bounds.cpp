// SPDX-License-Identifier: MIT
// Source: face_bounds.h.
#include "colliders/face_bounds.h"

#include "base/simd_target.h"
#include "base/vector_math.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "colliders/face_bounds.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "base/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

using V = hn::Vec<Lanes16>;

HWY_INLINE Xyz<V> Mean(const Vec3 (&nodes)[4], V a, V b, V c, V e) {
  const Lanes16 d;
  const auto axis = [&](float Vec3::*k) HWY_ATTR {
    V sum = hn::Mul(a, hn::Set(d, nodes[0].*k));
    sum = Fma(b, hn::Set(d, nodes[1].*k), sum);
    sum = Fma(c, hn::Set(d, nodes[2].*k), sum);
    return Fma(e, hn::Set(d, nodes[3].*k), sum);
  };
  return {axis(&Vec3::x), axis(&Vec3::y), axis(&Vec3::z)};
}

HWY_INLINE V GapFrom(const Vec3& normal, float offset, const Xyz<V>& point) {
  const Lanes16 d;
  V gap = hn::Sub(hn::Mul(point.x, hn::Set(d, normal.x)), hn::Set(d, offset));
  gap = Fma(point.y, hn::Set(d, normal.y), gap);
  return Fma(point.z, hn::Set(d, normal.z), gap);
}

// The bounds of one vector of vertices.
struct BoundVectors {
  V of_all, of_sides, of_fronts, gaps, crossings, of_ways;

  HWY_INLINE explicit BoundVectors(V none)
      : of_all(none), of_sides(none), of_fronts(none), gaps(none), crossings(none), of_ways(none) {}
  HWY_INLINE void Load(const BoundArrays& from, size_t at) {
    const Lanes16 d;
    of_all = hn::Load(d, from.of_all + at);
    of_sides = hn::Load(d, from.of_sides + at);
    of_fronts = hn::Load(d, from.of_fronts + at);
    gaps = hn::Load(d, from.gaps + at);
    crossings = hn::Load(d, from.crossings + at);
    of_ways = hn::Load(d, from.of_ways + at);
  }
  HWY_INLINE void Store(const BoundArrays& to, size_t at) const {
    const Lanes16 d;
    hn::Store(of_all, d, to.of_all + at);
    hn::Store(of_sides, d, to.of_sides + at);
    hn::Store(of_fronts, d, to.of_fronts + at);
    hn::Store(gaps, d, to.gaps + at);
    hn::Store(crossings, d, to.crossings + at);
    hn::Store(of_ways, d, to.of_ways + at);
  }

  HWY_INLINE void Add(const FacePlanes& face, const Xyz<V>& from, const Xyz<V>& to, float depth,
                      float rounding, bool are_short) {
    const Lanes16 d;
    const V infinite = hn::Set(d, std::numeric_limits<float>::infinity());
    const V room = hn::Set(d, rounding);
    const V gap = GapFrom(face.normal, face.offset, to);
    const V s0 = GapFrom(face.sides[0], face.side_offsets[0], to);
    const V s1 = GapFrom(face.sides[1], face.side_offsets[1], to);
    const V s2 = GapFrom(face.sides[2], face.side_offsets[2], to);
    const V beside = hn::Max(hn::Max(s0, s1), s2);
    const V outside = hn::Max(beside, hn::Zero(d));
    const V gap2 = hn::Mul(gap, gap);
    const V distance2 = Fma(outside, outside, gap2);
    of_all = hn::Min(of_all, distance2);
    // No distance is less than these.
    const V away = hn::Max(hn::Abs(gap), outside);
    of_sides = hn::Min(of_sides, hn::Max(gap, hn::Mul(away, hn::Set(d, 0.5f))));
    const auto is_front = hn::Ge(gap, room);
    const auto is_above = hn::And(is_front, hn::Le(beside, hn::Zero(d)));
    of_fronts = hn::Min(of_fronts, hn::IfThenElse(is_above, gap2, infinite));
    const auto is_deep = hn::Lt(gap, hn::Set(d, rounding - depth));
    if (are_short && hn::AllFalse(d, is_deep)) return;
    const V start = GapFrom(face.normal, face.offset, from);
    const V f0 = GapFrom(face.sides[0], face.side_offsets[0], from);
    const V f1 = GapFrom(face.sides[1], face.side_offsets[1], from);
    const V f2 = GapFrom(face.sides[2], face.side_offsets[2], from);
    // Beyond the same side all the way, or on one side of the plane, it crosses nothing.
    const V beyond = hn::Max(hn::Max(hn::Min(s0, f0), hn::Min(s1, f1)), hn::Min(s2, f2));
    const V apart = hn::Max(hn::Min(gap, start), hn::Neg(hn::Max(gap, start)));
    of_ways = hn::Min(of_ways, hn::Max(beyond, apart));
    if (hn::AllFalse(d, is_deep)) return;
    const auto may_cross =
        hn::And(hn::And(is_deep, hn::Ge(start, hn::Neg(room))), hn::Le(beyond, room));
    gaps = hn::Min(gaps, hn::IfThenElse(may_cross, gap, infinite));
    // Not beyond any side all the way, it does.
    const V within = hn::Max(hn::Max(hn::Max(s0, f0), hn::Max(s1, f1)), hn::Max(s2, f2));
    const auto crosses =
        hn::And(hn::And(hn::Lt(gap, hn::Set(d, -rounding - depth)), hn::Ge(start, room)),
                hn::Le(within, hn::Neg(room)));
    crossings = hn::IfThenElse(crosses, hn::Set(d, -1.0f), crossings);
  }
};

// Calls visit(index of its first vertex, weights of the nodes) for each vector of vertices. Those
// of vertices beyond the last one are 0.
template <class Visit>
HWY_INLINE void ForVectors(std::span<const Vec4> vertices, const Visit& visit) {
  const Lanes16 d;
  constexpr size_t N = kLanes<Lanes16>;
  for (size_t i = 0; i < vertices.size(); i += N) {
    Vec4 last[N];
    const Vec4* weights = vertices.data() + i;
    if (i + N > vertices.size()) {
      const size_t count = vertices.size() - i;
      std::copy_n(weights, count, last);
      std::fill(last + count, last + N, Vec4{});
      weights = last;
    }
    V a, b, c, e;
    hn::LoadInterleaved4(d, &weights->x, a, b, c, e);
    visit(i, a, b, c, e);
  }
}

void AddAll(std::span<const FacePlanes> faces, bool are_first, const NodeWays& ways,
            std::span<const Vec4> vertices, float depth, float rounding, bool are_short,
            const BoundArrays& to) {
  const Lanes16 d;
  ForVectors(vertices, [&](size_t i, V a, V b, V c, V e) HWY_ATTR {
    const Xyz<V> starts = Mean(ways.from, a, b, c, e), ends = Mean(ways.to, a, b, c, e);
    BoundVectors bounds(hn::Set(d, std::numeric_limits<float>::infinity()));
    if (!are_first) bounds.Load(to, i);
    for (const FacePlanes& face : faces) bounds.Add(face, starts, ends, depth, rounding, are_short);
    bounds.Store(to, i);
  });
}

void FindAll(const PlaneAbove& plane, const NodeWays& ways, std::span<const Vec4> vertices,
             float reach, float rounding, const float* short_way, const BoundArrays& of) {
  const Lanes16 d;
  const bool has_plane = !IsZero(plane.normal);
  const V room = hn::Set(d, 2.0f * rounding), none = hn::Set(d, -1.0f);
  ForVectors(vertices, [&](size_t i, V a, V b, V c, V e) HWY_ATTR {
    BoundVectors bounds(none);
    bounds.Load(of, i);
    const V front = hn::Add(hn::Sqrt(bounds.of_fronts), room);
    const V distance = hn::Sub(hn::Min(hn::Sqrt(bounds.of_all), hn::Set(d, reach)), room);
    // So far the face nearest to the end stays one that has it in front, wherever the end moves: by
    // s, the distance from that face grows by s at most, and each other distance shrinks by s.
    const V of_side = hn::Sub(hn::Sub(bounds.of_sides, hn::Mul(front, hn::Set(d, 0.5f))), room);
    const auto crosses = hn::Lt(bounds.gaps, hn::Set(d, std::numeric_limits<float>::infinity()));
    const auto is_near = hn::Lt(front, hn::Set(d, reach));
    V clearance = hn::IfThenElse(hn::AndNot(crosses, is_near), hn::Min(distance, of_side), none);
    const V along = short_way == nullptr ? hn::Sub(bounds.of_ways, room)
                                         : hn::Sub(distance, hn::Set(d, *short_way));
    V of_way = hn::Min(along, clearance);
    if (has_plane) {
      const V gap = hn::Min(GapFrom(plane.normal, plane.offset, Mean(ways.from, a, b, c, e)),
                            GapFrom(plane.normal, plane.offset, Mean(ways.to, a, b, c, e)));
      const V above = hn::Min(hn::Sub(gap, room), hn::Set(d, reach));
      const V if_above = hn::IfThenElse(hn::Gt(above, hn::Zero(d)), above, none);
      clearance = hn::Max(clearance, if_above);
      of_way = hn::Max(of_way, if_above);
    }
    hn::Store(clearance, d, of.of_all + i);
    hn::Store(of_way, d, of.of_ways + i);
    const auto is_sure = hn::Lt(bounds.crossings, hn::Zero(d));
    const V infinite = hn::Set(d, std::numeric_limits<float>::infinity());
    const V gaps = hn::IfThenElse(is_sure, hn::Sub(bounds.gaps, room), hn::Neg(infinite));
    hn::Store(hn::IfThenElse(hn::Gt(clearance, hn::Zero(d)), infinite, gaps), d, of.gaps + i);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(AddAll);
HWY_EXPORT(FindAll);

FacePlanes::FacePlanes(const MeshFace& face)
    : normal(face.normal), offset(Dot(face.normal, face.corners[0])) {
  for (int k = 0; k < 3; ++k) {
    const Vec3& from = face.corners[k];
    const Vec3 out = Cross(face.corners[(k + 1) % 3] - from, normal);
    const float length = Length(out);
    is_exact = is_exact && length > 0.0f;
    if (!is_exact) return;
    sides[k] = out * (1.0f / length);
    side_offsets[k] = Dot(sides[k], from);
  }
}

VertexBounds::VertexBounds(const NodeWays& ways, std::span<const Vec4> vertices, float depth,
                           float reach, float rounding)
    : ways_(ways), vertices_(vertices), depth_(depth), reach_(reach), rounding_(rounding) {
  constexpr float kShort = 0.05f;  // [reach]
  float longest2 = 0.0f;
  for (int k = 0; k < 4; ++k) {
    const Vec3 way = ways.to[k] - ways.from[k];
    longest2 = std::max(longest2, Dot(way, way));
  }
  longest_ = std::sqrt(longest2);
  are_short_ = longest_ < kShort * reach;
}

void VertexBounds::Add(std::span<const FacePlanes> faces, bool are_first) {
  HWY_DYNAMIC_DISPATCH(AddAll)
  (faces, are_first, ways_, vertices_, depth_, rounding_, are_short_, arrays_);
}

VertexClearances VertexBounds::FindClearances(const PlaneAbove& plane) {
  HWY_DYNAMIC_DISPATCH(FindAll)
  (plane, ways_, vertices_, reach_, rounding_, are_short_ ? &longest_ : nullptr, arrays_);
  const size_t count = vertices_.size();
  return {{arrays_.of_all, count}, {arrays_.of_ways, count}, {arrays_.gaps, count}};
}

}  // namespace plush
#endif
