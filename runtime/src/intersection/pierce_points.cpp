// SPDX-License-Identifier: MIT
// Source: pierce_points.h. The sums are not fused.
#include "intersection/pierce_points.h"

#include "base/simd_target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "intersection/pierce_points.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "base/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

using V = hn::Vec<Lanes16>;
using Vector = Xyz<V>;

HWY_INLINE Vector LoadFrom(const float* from, const uint32_t* columns) {
  const Lanes16 d;
  const hn::RebindToSigned<Lanes16> di;
  const auto at = hn::BitCast(di, hn::LoadU(hn::RebindToUnsigned<Lanes16>(), columns));
  return {hn::GatherIndex(d, from, at), hn::GatherIndex(d, from + 1, at),
          hn::GatherIndex(d, from + 2, at)};
}

HWY_INLINE V DotUnfused(const Vector& a, const Vector& b) {
  return hn::Add(hn::Add(hn::Mul(a.x, b.x), hn::Mul(a.y, b.y)), hn::Mul(a.z, b.z));
}

HWY_INLINE Vector CrossUnfused(const Vector& a, const Vector& b) {
  return {hn::Sub(hn::Mul(a.y, b.z), hn::Mul(a.z, b.y)),
          hn::Sub(hn::Mul(a.z, b.x), hn::Mul(a.x, b.z)),
          hn::Sub(hn::Mul(a.x, b.y), hn::Mul(a.y, b.x))};
}

void Pierce(const float* of_edges, const float* of_triangles, size_t count,
            PiercingColumns* columns) {
  const Lanes16 d;
  const V zero = hn::Zero(d), one = hn::Set(d, 1.0f);
  for (size_t i = 0; i < count; i += kLanes<Lanes16>) {
    const Vector p = LoadFrom(of_edges, columns->edges[0] + i);
    const Vector q = LoadFrom(of_edges, columns->edges[1] + i);
    const Vector a = LoadFrom(of_triangles, columns->triangles[0] + i);
    const Vector b = LoadFrom(of_triangles, columns->triangles[1] + i);
    const Vector c = LoadFrom(of_triangles, columns->triangles[2] + i);
    const Vector normal = CrossUnfused(b - a, c - a);
    const V before = DotUnfused(normal, p - a), whole = hn::Sub(before, DotUnfused(normal, q - a));
    V part = hn::Div(before, whole);
    part = hn::IfThenElse(hn::Lt(part, zero), zero, hn::IfThenElse(hn::Gt(part, one), one, part));
    part = hn::IfThenElse(hn::Eq(whole, zero), zero, part);
    const Vector way = q - p;
    hn::StoreU(hn::Add(p.x, hn::Mul(way.x, part)), d, columns->points[0] + i);
    hn::StoreU(hn::Add(p.y, hn::Mul(way.y, part)), d, columns->points[1] + i);
    hn::StoreU(hn::Add(p.z, hn::Mul(way.z, part)), d, columns->points[2] + i);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(Pierce);

void PiercePoints(const float* of_edges, const float* of_triangles, size_t count,
                  PiercingColumns* columns) {
  HWY_DYNAMIC_DISPATCH(Pierce)(of_edges, of_triangles, count, columns);
}

}  // namespace plush
#endif
