// SPDX-License-Identifier: MIT
// Source: place_vertices.h. The sums are not fused.
#include "intersection/place_vertices.h"

#include "base/simd_target.h"
#include "collision/vertex_positions.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "intersection/place_vertices.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "base/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

using V = hn::Vec<Lanes16>;

void Place(const Vec3* nodes, const Vec4* weights, size_t count, float* positions) {
  const Lanes16 d;
  constexpr size_t N = kLanes<Lanes16>;
  size_t i = 0;
  for (; i + N <= count; i += N) {
    V w[4];
    hn::LoadInterleaved4(d, &weights[i].x, w[0], w[1], w[2], w[3]);
    Xyz<V> sum(hn::Zero(d), hn::Zero(d), hn::Zero(d));
    for (int k = 0; k < 4; ++k) {
      sum.x = hn::Add(sum.x, hn::Mul(hn::Set(d, nodes[k].x), w[k]));
      sum.y = hn::Add(sum.y, hn::Mul(hn::Set(d, nodes[k].y), w[k]));
      sum.z = hn::Add(sum.z, hn::Mul(hn::Set(d, nodes[k].z), w[k]));
    }
    hn::StoreInterleaved4(sum.x, sum.y, sum.z, hn::Zero(d), d, positions + 4 * i);
  }
  const TetLanes tet = {
      {ToLanes(nodes[0]), ToLanes(nodes[1]), ToLanes(nodes[2]), ToLanes(nodes[3])}};
  for (; i < count; ++i) Store4(VertexLanes(tet, weights[i]), positions + 4 * i);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(Place);

void PlaceVertices(const Vec3 (&nodes)[4], std::span<const Vec4> weights, float* positions) {
  HWY_DYNAMIC_DISPATCH(Place)(nodes, weights.data(), weights.size(), positions);
}

}  // namespace plush
#endif
