// SPDX-License-Identifier: MIT
// AddCrowdImpulses: the step's pass over the tets of a crowd, one body per lane.
// Source: see element_pass.h.
#include "base/simd_target.h"
#include "elasticity/element_pass.h"

#include <hwy/cache_control.h>

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "elasticity/crowd_elements.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "elasticity/crowd_lanes-inl.h"
#include "elasticity/tet_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

// One tet of a block.
struct CrowdTet {
  const TetBlock& block;
  size_t lane;

  size_t Node(size_t corner) const { return block.nodes[corner][lane]; }

  // Dm^-1, the same for all bodies.
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE Mat<V> DmInv(D d) const {
    const auto number = [&](size_t k) HWY_ATTR { return hn::Set(d, block.dm_inv[k][lane]); };
    return {{number(0), number(1), number(2)},
            {number(3), number(4), number(5)},
            {number(6), number(7), number(8)}};
  }
};

HWY_INLINE void FindCrowdGradients(const CrowdTet& tet, const float* positions, float* F) {
  const Lanes16 d;
  using V = hn::Vec<Lanes16>;
  const Mat<V> B = tet.DmInv(d);
  const float* at[4];
  for (size_t k = 0; k < 4; ++k) at[k] = positions + kCrowdPosition * tet.Node(k);
  for (size_t i = 0; i < kCrowdLanes; i += kLanes<Lanes16>) {
    const Xyz<V> a = LoadCrowd(d, at[0] + i);
    const Mat<V> edges = {LoadCrowd(d, at[1] + i) - a, LoadCrowd(d, at[2] + i) - a,
                          LoadCrowd(d, at[3] + i) - a};
    StoreMat(d, Times(edges, B), F + i);
  }
}

// Prefetches a crowd's data of the tet at `place`, a group ahead, while the current rotations are
// found. A crowd's rotations alone fill a core's own caches.
HWY_INLINE void FetchState(size_t place, const float* kappa, const float* rotations) {
  for (size_t k = 0; k < 4; ++k) {
    hwy::Prefetch(rotations + kCrowdRotation * place + kCrowdLanes * k);
  }
  hwy::Prefetch(kappa + kCrowdLanes * place);
}

HWY_INLINE void AddCrowdTet(const CrowdTet& tet, const float* positions,
                            const ElementSettings& settings, float stiffness, float bulk,
                            const float* active, const float* F, float* kappa,
                            const float* rotation, float* rhs, float* lowest_det_f) {
  const Lanes16 d;
  using V = hn::Vec<Lanes16>;
  const Mat<V> B = tet.DmInv(d);
  const V k = hn::Set(d, stiffness);
  float* to[4];
  const float* inverse_mass[4];
  for (size_t c = 0; c < 4; ++c) {
    to[c] = rhs + kCrowdVector * tet.Node(c);
    inverse_mass[c] = positions + kCrowdPosition * tet.Node(c) + 3 * kCrowdLanes;
  }
  for (size_t i = 0; i < kCrowdLanes; i += kLanes<Lanes16>) {
    const Mat<V> R = RotationMatrix(d, LoadRotation(d, rotation + i));
    const Mat<V> Fi = LoadMat(d, F + i);
    const Mat<V> C = Cofactor(Fi);
    V pressure = hn::LoadU(d, kappa + i);
    const V det = Dot(Fi.c0, C.c0);
    hn::StoreU(hn::Min(hn::LoadU(d, lowest_det_f + i), det), d, lowest_det_f + i);
    if (settings.relaxation > 0.0f) {
      const auto w = [&](size_t c) HWY_ATTR { return hn::LoadU(d, inverse_mass[c] + i); };
      pressure = RelaxedMultiplier(d, settings, det, C, k, hn::Set(d, bulk),
                                   InverseInertia(B, w(0), w(1), w(2), w(3)), pressure);
      hn::StoreU(pressure, d, kappa + i);
    }
    const auto counts = hn::Gt(hn::LoadU(d, active + i), hn::Zero(d));
    const Mat<V> P = StretchImpulse(d, settings, Fi, R, C, hn::IfThenElseZero(counts, k),
                                    hn::IfThenElseZero(counts, pressure));
    const Mat<V> G = TimesTranspose(P, B);
    StoreCrowd(d, LoadCrowd(d, to[1] + i) + G.c0, to[1] + i);
    StoreCrowd(d, LoadCrowd(d, to[2] + i) + G.c1, to[2] + i);
    StoreCrowd(d, LoadCrowd(d, to[3] + i) + G.c2, to[3] + i);
    StoreCrowd(d, LoadCrowd(d, to[0] + i) - (G.c0 + G.c1 + G.c2), to[0] + i);
  }
}

void CrowdImpulses(const ElementView& elements, const float* positions,
                   const ElementSettings& settings, float* kappa, const float* active, size_t from,
                   size_t to, const uint16_t* tets, float* rotations, float* rhs,
                   float* lowest_det_f) {
  HWY_ALIGN float F[kGroup][9 * kCrowdLanes];
  const size_t num_places = kBlockTets * elements.blocks.size();
  for (size_t b = from; b < to; ++b) {
    const TetBlock& block = elements.blocks[b];
    const float* stiffness = elements.StiffnessOf(b);
    const float* bulk = elements.BulkOf(b);
    const uint32_t counting = tets == nullptr ? 0xffffu : tets[b - from];
    const size_t num_tets = CountTets(block);
    for (size_t begin = 0, end = 0; begin < num_tets; begin = end) {
      end = begin + 1;
      if ((counting >> begin & 1u) == 0) continue;
      while (end < num_tets && end < begin + kGroup && (counting >> end & 1u) != 0) ++end;
      const size_t place = kBlockTets * b + begin;
      for (size_t t = begin; t < end; ++t) {
        const size_t ahead = kBlockTets * b + t + kGroup;
        if (ahead < num_places) FetchState(ahead, kappa, rotations);
        FindCrowdGradients({block, t}, positions, F[t - begin]);
      }
      PolarNewton(end - begin, F[0], active, 0, settings.polar_iterations,
                  rotations + kCrowdRotation * place);
      for (size_t t = begin; t < end; ++t) {
        if (!(stiffness[t] > 0.0f)) continue;  // no tet in this place
        const size_t at = kBlockTets * b + t;
        AddCrowdTet({block, t}, positions, settings, stiffness[t], bulk[t], active, F[t - begin],
                    kappa + kCrowdLanes * at, rotations + kCrowdRotation * at, rhs, lowest_det_f);
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

HWY_EXPORT(CrowdImpulses);

void AddCrowdImpulses(const ElementView& elements, const float* positions,
                      const ElementSettings& settings, float* kappa, const float* active,
                      size_t begin, size_t end, float* rotations, float* rhs, float* lowest_det_f,
                      std::span<const uint16_t> tets) {
  HWY_DYNAMIC_DISPATCH(CrowdImpulses)
  (elements, positions, settings, kappa, active, begin, end, tets.data(), rotations, rhs,
   lowest_det_f);
}

}  // namespace plush
#endif
