// SPDX-License-Identifier: MIT
// SweepCrowdVolumes: corrects one tet after another in all bodies of a crowd, one body per lane.
// Sources: volume_sweep.h.
#include "base/simd_target.h"
#include "solver/volume_sweep.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "solver/crowd_volume.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "elasticity/crowd_lanes-inl.h"
#include "solver/volume_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

// Lowers or raises a number in memory to `v`. Keeps it if `v` is NaN, on every instruction set.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void Lower(D d, V v, float* lowest) {
  const V before = hn::LoadU(d, lowest);
  hn::StoreU(hn::IfThenElse(hn::Lt(v, before), v, before), d, lowest);
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE void Raise(D d, V v, float* largest) {
  const V before = hn::LoadU(d, largest);
  hn::StoreU(hn::IfThenElse(hn::Gt(v, before), v, before), d, largest);
}

// Corrects one tet in the bodies from lane `i` on.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void SweepTet(D d, float* const (&at)[4], size_t i, float det_dm_inv, float stiffness,
                         float* kappa, float* lowest, float* largest) {
  const Xyz<V> xa = LoadCrowd(d, at[0] + i), xb = LoadCrowd(d, at[1] + i);
  const Xyz<V> xc = LoadCrowd(d, at[2] + i), xd = LoadCrowd(d, at[3] + i);
  const auto inverse_mass = [&](size_t k)
                                HWY_ATTR { return hn::LoadU(d, at[k] + 3 * kCrowdLanes + i); };
  const V wa = inverse_mass(0), wb = inverse_mass(1), wc = inverse_mass(2), wd = inverse_mass(3);
  const VolumeGradients<V> g = GradientsOfVolume(d, xa, xb, xc, xd, hn::Set(d, det_dm_inv));
  const V before = hn::LoadU(d, kappa + i);
  if (!(stiffness > 0.0f)) {
    Lower(d, g.det, lowest + i);
    hn::StoreU(hn::Zero(d), d, kappa + i);
    return;
  }
  const V response =
      Fma(wa, Dot(g.a, g.a),
          Fma(wb, Dot(g.b, g.b), Fma(wc, Dot(g.c, g.c), hn::Mul(wd, Dot(g.d, g.d)))));
  const V change = MultiplierStep(d, g.det, before, hn::Set(d, stiffness), response);
  hn::StoreU(hn::Add(before, change), d, kappa + i);
  Lower(d, Fma(response, change, g.det), lowest + i);
  Raise(d, hn::Abs(hn::Mul(response, change)), largest + i);
  StoreCrowd(d, Fma(g.a, hn::Mul(change, wa), xa), at[0] + i);
  StoreCrowd(d, Fma(g.b, hn::Mul(change, wb), xb), at[1] + i);
  StoreCrowd(d, Fma(g.c, hn::Mul(change, wc), xc), at[2] + i);
  StoreCrowd(d, Fma(g.d, hn::Mul(change, wd), xd), at[3] + i);
}

void CrowdSweep(const ElementView& elements, float dt, float* positions, float* kappa,
                CrowdSweepChanges* out) {
  const Lanes16 d;
  for (size_t l = 0; l < kCrowdLanes; ++l) {
    out->lowest_det_f[l] = 1.0f;
    out->largest[l] = 0.0f;
  }
  for (size_t b = 0; b < elements.blocks.size(); ++b) {
    const TetBlock& block = elements.blocks[b];
    const float* bulk = elements.BulkOf(b);
    for (size_t t = 0; t < CountTets(block); ++t) {
      if (!(block.det_dm_inv[t] > 0.0f)) continue;
      float* const at[4] = {positions + kCrowdPosition * block.nodes[0][t],
                            positions + kCrowdPosition * block.nodes[1][t],
                            positions + kCrowdPosition * block.nodes[2][t],
                            positions + kCrowdPosition * block.nodes[3][t]};
      float* multipliers = kappa + kCrowdLanes * (kBlockTets * b + t);
      for (size_t i = 0; i < kCrowdLanes; i += kLanes<Lanes16>) {
        SweepTet(d, at, i, block.det_dm_inv[t], bulk[t] * (dt * dt), multipliers, out->lowest_det_f,
                 out->largest);
      }
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(CrowdSweep);

void SweepCrowdVolumes(const ElementView& elements, float dt, float* positions, float* kappa,
                       CrowdSweepChanges* out_changes) {
  HWY_DYNAMIC_DISPATCH(CrowdSweep)(elements, dt, positions, kappa, out_changes);
}

}  // namespace plush
#endif
