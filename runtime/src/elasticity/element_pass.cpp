// SPDX-License-Identifier: MIT
// The step's pass over the tets of one body, in groups of blocks of 16 tets, one tet per lane.
// Source: see element_pass.h.
#include "elasticity/element_pass.h"

#include "base/simd_target.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "elasticity/element_pass.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "elasticity/tet_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

// F of the tets in lanes [first, first + N) of a block, and InverseInertia.
template <class D, class V = hn::Vec<D>>
HWY_INLINE Mat<V> LoadGradient(D d, const TetBlock& block, size_t first, const Mat<V>& B,
                               const NodeVec* x, V* inverse_inertia) {
  V wa, wb, wc, wd;
  const Xyz<V> a = GatherNodes(d, x, block.nodes[0] + first, &wa);
  const Xyz<V> b = GatherNodes(d, x, block.nodes[1] + first, &wb);
  const Xyz<V> c = GatherNodes(d, x, block.nodes[2] + first, &wc);
  const Xyz<V> e = GatherNodes(d, x, block.nodes[3] + first, &wd);
  *inverse_inertia = InverseInertia(B, wa, wb, wc, wd);
  return Times(Mat<V>{b - a, c - a, e - a}, B);
}

// Deformation gradients of a group of blocks.
struct GroupGradients {
  HWY_ALIGN float F[kGroup][9 * kBlockTets];
  HWY_ALIGN float inverse_inertia[kGroup][kBlockTets];
};

// Deformation gradients and rotations of the blocks [begin, end), `rotations` (4 x 16 each) warm.
// Several passes share this code, which is long.
HWY_NOINLINE void FindRotations(const ElementView& elements, const NodeVec* x, int polar_iterations,
                                size_t begin, size_t end, GroupGradients* group, float* rotations) {
  const Lanes16 d;
  constexpr size_t N = kLanes<Lanes16>;
  const bool is_far = IsFar(elements);
  for (size_t b = begin; b < end; ++b) {
    const TetBlock& block = elements.blocks[b];
    if (is_far) FetchRest(elements, b + kGroup);
    for (size_t i = 0; i < kBlockTets; i += N) {
      hn::Vec<Lanes16> inverse_inertia;
      StoreMat(d, LoadGradient(d, block, i, LoadMat(d, block.dm_inv[0] + i), x, &inverse_inertia),
               group->F[b - begin] + i);
      hn::StoreU(inverse_inertia, d, group->inverse_inertia[b - begin] + i);
    }
  }
  const size_t stride = elements.stiffness.empty() ? sizeof(TetBlock) / sizeof(float) : kBlockTets;
  PolarNewton(end - begin, group->F[0], elements.StiffnessOf(begin), stride, polar_iterations,
              rotations);
}

// Adds the impulses of the blocks [begin, end) to the nodes, and lowers `lowest` to the tets' det
// F.
template <bool kDamps>
HWY_INLINE void AddImpulses(const ElementView& elements, const ElementSettings& settings,
                            const float* stretches, float* kappa, size_t begin, size_t end,
                            const GroupGradients& group, const RotationView& rotations,
                            NodeVec* rhs, hn::Vec<Lanes16>* lowest) {
  const Lanes16 d;
  using V = hn::Vec<Lanes16>;
  constexpr size_t N = kLanes<Lanes16>;
  const bool is_far = IsFar(elements);
  for (size_t b = begin; b < end; ++b) {
    const TetBlock& block = elements.blocks[b];
    if (is_far) FetchState(elements, b + kGroup, kappa, rotations);
    for (size_t i = 0; i < kBlockTets; i += N) {
      const V k = hn::LoadU(d, elements.StiffnessOf(b) + i);
      const Mat<V> F = LoadMat(d, group.F[b - begin] + i);
      const Mat<V> R = RotationMatrix(d, LoadRotation(d, rotations.Block(b) + i));
      const Mat<V> C = Cofactor(F);
      float* multiplier = kappa + kBlockTets * b + i;
      V pressure = hn::LoadU(d, multiplier);
      const V det = Dot(F.c0, C.c0);
      const auto is_tet = hn::Gt(k, hn::Zero(d));
      *lowest = hn::IfThenElse(is_tet, hn::Min(*lowest, det), *lowest);
      if (settings.relaxation > 0.0f) {
        pressure = RelaxedMultiplier(d, settings, det, C, k, hn::LoadU(d, elements.BulkOf(b) + i),
                                     hn::LoadU(d, group.inverse_inertia[b - begin] + i), pressure);
        hn::StoreU(pressure, d, multiplier);
      }
      Mat<V> P = StretchImpulse(d, settings, F, R, C, k, pressure);
      if constexpr (kDamps) {
        const Mat<V> S = LoadMat(d, stretches + 9 * kBlockTets * b + i);
        AddViscousImpulse(d, settings, F, R, S, k, &P);
      }
      const Mat<V> G = TimesTranspose(P, LoadMat(d, block.dm_inv[0] + i));
      AddToNodes(d, G.c0, block.nodes[1] + i, rhs);
      AddToNodes(d, G.c1, block.nodes[2] + i, rhs);
      AddToNodes(d, G.c2, block.nodes[3] + i, rhs);
      const V zero = hn::Zero(d);
      AddToNodes(d, Xyz<V>{zero, zero, zero} - (G.c0 + G.c1 + G.c2), block.nodes[0] + i, rhs);
    }
  }
}

template <bool kDamps>
HWY_INLINE float Impulses(const ElementView& elements, const NodeVec* x,
                          const ElementSettings& settings, const float* stretches, float* kappa,
                          size_t begin, size_t end, const RotationView& rotations, NodeVec* rhs) {
  const Lanes16 d;
  auto lowest = hn::Set(d, 1.0f);
  GroupGradients group;
  for (; begin < end; begin += kGroup) {
    const size_t last = std::min(begin + kGroup, end);
    FindRotations(elements, x, settings.polar_iterations, begin, last, &group,
                  rotations.Block(begin));
    AddImpulses<kDamps>(elements, settings, stretches, kappa, begin, last, group, rotations, rhs,
                        &lowest);
  }
  return hn::GetLane(hn::MinOfLanes(d, lowest));
}

// Without damping, `stretches` is null.
float ElasticImpulses(const ElementView& elements, const NodeVec* x,
                      const ElementSettings& settings, const float* stretches, float* kappa,
                      size_t begin, size_t end, const RotationView& rotations, NodeVec* rhs) {
  return stretches == nullptr
             ? Impulses<false>(elements, x, settings, nullptr, kappa, begin, end, rotations, rhs)
             : Impulses<true>(elements, x, settings, stretches, kappa, begin, end, rotations, rhs);
}

void BlockRotations(const ElementView& elements, const NodeVec* x, int polar_iterations,
                    size_t begin, size_t end, const RotationView& rotations) {
  GroupGradients group;
  for (; begin < end; begin += kGroup) {
    const size_t last = std::min(begin + kGroup, end);
    FindRotations(elements, x, polar_iterations, begin, last, &group, rotations.Block(begin));
  }
}

void Stretches(const ElementView& elements, const NodeVec* x, int polar_iterations,
               const RotationView& rotations, float* stretches) {
  const Lanes16 d;
  constexpr size_t N = kLanes<Lanes16>;
  GroupGradients group;
  const size_t count = elements.blocks.size();
  for (size_t begin = 0; begin < count; begin += kGroup) {
    const size_t end = std::min(begin + kGroup, count);
    FindRotations(elements, x, polar_iterations, begin, end, &group, rotations.Block(begin));
    for (size_t b = begin; b < end; ++b) {
      for (size_t i = 0; i < kBlockTets; i += N) {
        const auto R = RotationMatrix(d, LoadRotation(d, rotations.Block(b) + i));
        StoreMat(d, TransposeTimes(R, LoadMat(d, group.F[b - begin] + i)),
                 stretches + 9 * kBlockTets * b + i);
      }
    }
  }
}

// Twice the elastic energy of the tets in lanes [first, first + N) of a block, to `energies`.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void EnergiesOf(D d, const float* F, const float* rotations, const float* stiffness,
                           const float* bulk, const VolumeLaw& law, float* energies) {
  const Mat<V> f = LoadMat(d, F), R = RotationMatrix(d, LoadRotation(d, rotations));
  const V k = hn::LoadU(d, stiffness);
  const Xyz<V> p = f.c0 - R.c0, q = f.c1 - R.c1, r = f.c2 - R.c2;
  const V C = hn::Sub(Dot(f.c0, Cofactor(f).c0), hn::Set(d, 1.0f));
  const V stretch = hn::Add(Dot(p, p), hn::Add(Dot(q, q), Dot(r, r)));
  // The spare element that padding refers to may be anywhere.
  const V lambda = LimitedBulk(d, law, k, hn::LoadU(d, bulk));
  const V pressure = VolumePressure(d, law, k, lambda, C);
  const V least = hn::Max(lambda, hn::Set(d, 1.0e-30f));
  const V volume = hn::Mul(pressure, hn::Sub(hn::Add(C, C), hn::Div(pressure, least)));
  const V energy = Fma(k, stretch, volume);
  hn::StoreU(hn::IfThenElseZero(hn::Gt(k, hn::Zero(d)), energy), d, energies);
}

double Energy(const ElementView& elements, const NodeVec* x, const VolumeLaw& law,
              int polar_iterations, const RotationView& rotations) {
  constexpr size_t N = kLanes<Lanes16>;
  GroupGradients group;
  HWY_ALIGN float found[kGroup * 4 * kBlockTets], energies[kBlockTets];
  const RotationView own(std::span<float>(found, sizeof(found) / sizeof(float)));
  double sum = 0.0;
  for (size_t begin = 0; begin < elements.blocks.size(); begin += kGroup) {
    const size_t end = std::min(begin + kGroup, elements.blocks.size());
    const size_t first = kBlockTets * begin;
    if (!rotations.in_crowd()) {
      std::copy_n(rotations.Block(begin), 4 * kBlockTets * (end - begin), found);
    }
    for (size_t slot = first; slot < kBlockTets * end && rotations.in_crowd(); ++slot) {
      own.Set(static_cast<uint32_t>(slot - first), rotations.Get(static_cast<uint32_t>(slot)));
    }
    FindRotations(elements, x, polar_iterations, begin, end, &group, found);
    for (size_t b = begin; b < end; ++b) {
      for (size_t i = 0; i < kBlockTets; i += N) {
        EnergiesOf(Lanes16(), group.F[b - begin] + i, own.Block(b - begin) + i,
                   elements.StiffnessOf(b) + i, elements.BulkOf(b) + i, law, energies + i);
      }
      for (const float energy : energies) sum += double(energy);
    }
  }
  return 0.5 * sum;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(ElasticImpulses);
HWY_EXPORT(BlockRotations);
HWY_EXPORT(Stretches);
HWY_EXPORT(Energy);

float AddElasticImpulses(const ElementView& elements, std::span<const NodeVec> x,
                         const ElementSettings& settings, std::span<const float> stretches,
                         std::span<float> kappa, size_t begin, size_t end,
                         const RotationView& rotations, std::span<NodeVec> rhs) {
  return HWY_DYNAMIC_DISPATCH(ElasticImpulses)(elements, x.data(), settings,
                                               stretches.empty() ? nullptr : stretches.data(),
                                               kappa.data(), begin, end, rotations, rhs.data());
}

void FindRotations(const ElementView& elements, std::span<const NodeVec> x, int polar_iterations,
                   size_t begin, size_t end, const RotationView& rotations) {
  HWY_DYNAMIC_DISPATCH(BlockRotations)
  (elements, x.data(), polar_iterations, begin, end, rotations);
}

void ComputeStretches(const ElementView& elements, std::span<const NodeVec> x, int polar_iterations,
                      const RotationView& rotations, std::span<float> stretches) {
  HWY_DYNAMIC_DISPATCH(Stretches)
  (elements, x.data(), polar_iterations, rotations, stretches.data());
}

double ElasticEnergy(const ElementView& elements, std::span<const NodeVec> x, const VolumeLaw& law,
                     int polar_iterations, const RotationView& rotations) {
  return HWY_DYNAMIC_DISPATCH(Energy)(elements, x.data(), law, polar_iterations, rotations);
}

}  // namespace plush
#endif
