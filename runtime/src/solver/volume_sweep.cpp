// SPDX-License-Identifier: MIT
#include "solver/volume_sweep.h"

#include "base/simd_target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "solver/volume_sweep.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "solver/volume_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

// Takes the part along the held normals out of a gradient.
template <class D, class V = hn::Vec<D>>
HWY_INLINE Xyz<V> Free(D d, const Xyz<V>& gradient, const NodeVec* held, const uint32_t* ids) {
  const Xyz<V> n = GatherNodes(d, held, ids, static_cast<V*>(nullptr));
  return gradient - n * Dot(n, gradient);
}

// The lower one of `lowest` and, where there is a tet, `det`; never NaN. By comparison, because
// instruction sets differ in what the least of a number and NaN is.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Lower(D d, V lowest, V det, V det_dm_inv) {
  const auto lower = hn::And(hn::Gt(det_dm_inv, hn::Zero(d)), hn::Lt(det, lowest));
  return hn::IfThenElse(lower, det, lowest);
}

template <bool kHolds>
SweepChanges Sweep(const ElementView& elements, const NodeVec* held, float dt, NodeVec* x,
                   float* kappa) {
  const Lanes16 d;
  using V = hn::Vec<Lanes16>;
  constexpr size_t N = kLanes<Lanes16>;
  const V dt2 = hn::Set(d, dt * dt);
  V lowest = hn::Set(d, 1.0f), largest = hn::Zero(d);
  for (size_t b = 0; b < elements.blocks.size(); ++b) {
    const TetBlock& block = elements.blocks[b];
    const float* bulk = elements.BulkOf(b);
    for (size_t i = 0; i < kBlockTets; i += N) {
      const uint32_t* ids[4] = {block.nodes[0] + i, block.nodes[1] + i, block.nodes[2] + i,
                                block.nodes[3] + i};
      V wa, wb, wc, wd;
      const Xyz<V> xa = GatherNodes(d, x, ids[0], &wa), xb = GatherNodes(d, x, ids[1], &wb);
      const Xyz<V> xc = GatherNodes(d, x, ids[2], &wc), xd = GatherNodes(d, x, ids[3], &wd);
      const V s = hn::LoadU(d, block.det_dm_inv + i);
      const V k = hn::Mul(hn::LoadU(d, bulk + i), dt2);
      VolumeGradients<V> g = GradientsOfVolume(d, xa, xb, xc, xd, s);
      if constexpr (kHolds) {
        g.a = Free(d, g.a, held, ids[0]);
        g.b = Free(d, g.b, held, ids[1]);
        g.c = Free(d, g.c, held, ids[2]);
        g.d = Free(d, g.d, held, ids[3]);
      }
      const V response =
          Fma(wa, Dot(g.a, g.a),
              Fma(wb, Dot(g.b, g.b), Fma(wc, Dot(g.c, g.c), hn::Mul(wd, Dot(g.d, g.d)))));
      float* multiplier = kappa + kBlockTets * b + i;
      const V before = hn::LoadU(d, multiplier);
      const V step = MultiplierStep(d, g.det, before, k, response);
      hn::StoreU(hn::Add(before, step), d, multiplier);
      // A tet without resistance moves nothing, whatever its multiplier was.
      const V change = hn::IfThenElseZero(hn::Gt(k, hn::Zero(d)), step);
      lowest = Lower(d, lowest, Fma(response, change, g.det), s);
      const V corrected = hn::Abs(hn::Mul(response, change));
      largest = hn::IfThenElse(hn::Gt(corrected, largest), corrected, largest);
      StoreNodes(d, Fma(g.a, hn::Mul(change, wa), xa), wa, ids[0], x);
      StoreNodes(d, Fma(g.b, hn::Mul(change, wb), xb), wb, ids[1], x);
      StoreNodes(d, Fma(g.c, hn::Mul(change, wc), xc), wc, ids[2], x);
      StoreNodes(d, Fma(g.d, hn::Mul(change, wd), xd), wd, ids[3], x);
    }
  }
  return {hn::GetLane(hn::MinOfLanes(d, lowest)), hn::GetLane(hn::MaxOfLanes(d, largest))};
}

SweepChanges SweepFree(const ElementView& elements, float dt, NodeVec* x, float* kappa) {
  return Sweep<false>(elements, nullptr, dt, x, kappa);
}

SweepChanges SweepHeld(const ElementView& elements, const NodeVec* held, float dt, NodeVec* x,
                       float* kappa) {
  return Sweep<true>(elements, held, dt, x, kappa);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(SweepFree);
HWY_EXPORT(SweepHeld);

SweepChanges SweepVolumes(const ElementView& elements, std::span<const NodeVec> held_normals,
                          float dt, std::span<NodeVec> x, std::span<float> kappa) {
  if (held_normals.empty()) {
    return HWY_DYNAMIC_DISPATCH(SweepFree)(elements, dt, x.data(), kappa.data());
  }
  return HWY_DYNAMIC_DISPATCH(SweepHeld)(elements, held_normals.data(), dt, x.data(), kappa.data());
}

}  // namespace plush
#endif
