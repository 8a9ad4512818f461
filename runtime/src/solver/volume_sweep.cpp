// SPDX-License-Identifier: MIT
// Volume sweeps, a block of 16 tets at a time in vectors, and scalar sweeps that lift flat tets.
// Sources: volume_sweep.h.
#include "solver/volume_sweep.h"

#include "base/simd_target.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "solver/volume_sweep.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "solver/volume_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

// The lower of `lowest` and `det`; `lowest` if the lane has no tet or det is NaN. Does not use Min,
// whose result for NaN depends on the instruction set.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Lower(D d, V lowest, V det, V det_dm_inv) {
  const auto lower = hn::And(hn::Gt(det_dm_inv, hn::Zero(d)), hn::Lt(det, lowest));
  return hn::IfThenElse(lower, det, lowest);
}

SweepChanges SweepAll(const ElementView& elements, float dt, float most_bulk, NodeVec* x,
                      float* kappa) {
  const Lanes16 d;
  using V = hn::Vec<Lanes16>;
  constexpr size_t N = kLanes<Lanes16>;
  const V dt2 = hn::Set(d, dt * dt), most = hn::Set(d, 0.5f * most_bulk);
  V lowest = hn::Set(d, 1.0f), largest = hn::Zero(d);
  for (size_t b = 0; b < elements.blocks.size(); ++b) {
    const TetBlock& block = elements.blocks[b];
    const float *bulk = elements.BulkOf(b), *stiffness = elements.StiffnessOf(b);
    for (size_t i = 0; i < kBlockTets; i += N) {
      const uint32_t* ids[4] = {block.nodes[0] + i, block.nodes[1] + i, block.nodes[2] + i,
                                block.nodes[3] + i};
      V wa, wb, wc, wd;
      const Xyz<V> xa = GatherNodes(d, x, ids[0], &wa), xb = GatherNodes(d, x, ids[1], &wb);
      const Xyz<V> xc = GatherNodes(d, x, ids[2], &wc), xd = GatherNodes(d, x, ids[3], &wd);
      const V s = hn::LoadU(d, block.det_dm_inv + i);
      const V limit = hn::Mul(most, hn::LoadU(d, stiffness + i));  // of lambda V
      const V k = hn::Mul(hn::Min(hn::LoadU(d, bulk + i), limit), dt2);
      const VolumeGradients<V> g = GradientsOfVolume(d, xa, xb, xc, xd, s);
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

// The first block from `block` on that has a tet below kLeastDetF, or the number of blocks.
size_t FindFlatBlock(const ElementView& elements, const NodeVec* x, size_t block) {
  const Lanes16 d;
  using V = hn::Vec<Lanes16>;
  for (; block < elements.blocks.size(); ++block) {
    const TetBlock& tets = elements.blocks[block];
    for (size_t i = 0; i < kBlockTets; i += kLanes<Lanes16>) {
      Xyz<V> corner[4];
      for (size_t k = 0; k < 4; ++k) {
        corner[k] = GatherNodes(d, x, tets.nodes[k] + i, static_cast<V*>(nullptr));
      }
      const V s = hn::LoadU(d, tets.det_dm_inv + i);
      const Xyz<V> b = corner[1] - corner[0], c = corner[2] - corner[0], e = corner[3] - corner[0];
      const V det = hn::Mul(Dot(b, Cross(c, e)), s);
      const auto flat = hn::Lt(det, hn::Set(d, kLeastDetF));
      if (!hn::AllFalse(d, hn::And(hn::Gt(s, hn::Zero(d)), flat))) return block;
    }
  }
  return block;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(SweepAll);
HWY_EXPORT(FindFlatBlock);

SweepChanges SweepVolumes(const ElementView& elements, float dt, std::span<NodeVec> x,
                          std::span<float> kappa, float most_bulk) {
  const float most = std::fmin(most_bulk, std::numeric_limits<float>::max());  // times 0 it is 0
  return HWY_DYNAMIC_DISPATCH(SweepAll)(elements, dt, most, x.data(), kappa.data());
}

namespace {

// Most that one sweep lifts a flat tet, in det F.
constexpr float kMostLift = 0.25f;
// Least squared, mass-weighted gradient, as a share of the rest shape's. It bounds the lift of a
// tet that is flat in two directions: nodes move by at most about a rest height.
constexpr float kLeastResponse = 0.05f;
// Lifts aim this far above the bound, so that sweeps end although tets undo each other's lifts.
constexpr float kLiftMargin = 0.05f;

// The bound on a tet's det F: no more than at the start of the substep. Lifts become velocity, so a
// tet that began inside out would throw its nodes if it were lifted all the way.
float LeastDetF(const Tet& tet, const Mat3& dm_inv, NodeVectors before, float least) {
  const float det = Determinant(
      DeformationGradient(before[tet.a], before[tet.b], before[tet.c], before[tet.d], dm_inv));
  return std::fmin(det, least);
}

// A tet that is flatter than its bound.
struct FlatTet {
  uint32_t nodes[4];
  Mat3 dm_inv;  // [1/m]
  Mat3 F;
  float missing;  // of det F, above 0
};

// Calls visit(tet, Dm^-1) for the tets of a block.
template <class Visit>
void ForTets(const TetBlock& block, const Visit& visit) {
  for (size_t lane = 0; lane < kBlockTets; ++lane) {
    if (!(block.det_dm_inv[lane] > 0.0f)) continue;  // a place without a tet
    const auto column = [&](size_t k) {
      return Vec3{block.dm_inv[k][lane], block.dm_inv[k + 1][lane], block.dm_inv[k + 2][lane]};
    };
    visit(
        Tet{block.nodes[0][lane], block.nodes[1][lane], block.nodes[2][lane], block.nodes[3][lane]},
        Mat3{column(0), column(3), column(6)});
  }
}

// Calls visit(tet) for the flat tets, one after the other: each sees what became of those before.
// Returns the sum of what they missed before.
template <class Visit>
float ForFlatTets(const ElementView& elements, NodeVectors before, float least,
                  std::span<const NodeVec> x, const Visit& visit) {
  const auto next = [&](size_t first) {
    return HWY_DYNAMIC_DISPATCH(FindFlatBlock)(elements, x.data(), first);
  };
  float sum = 0.0f;
  for (size_t b = next(0); b < elements.blocks.size(); b = next(b + 1)) {
    ForTets(elements.blocks[b], [&](const Tet& tet, const Mat3& dm_inv) {
      const Mat3 F = DeformationGradient(x[tet.a], x[tet.b], x[tet.c], x[tet.d], dm_inv);
      const float det = Determinant(F);
      if (!(det < least)) return;
      const float missing = LeastDetF(tet, dm_inv, before, least) - det;
      if (!(missing > 0.0f)) return;
      if (visit(FlatTet{{tet.a, tet.b, tet.c, tet.d}, dm_inv, F, missing})) sum += missing;
    });
  }
  return sum;
}

// Returns whether it could lift the tet.
bool Lift(const FlatTet& flat, std::span<NodeVec> x) {
  const auto& [nodes, dm_inv, F, missing] = flat;
  const Mat3 at = NodeGradients(Cofactor(F), dm_inv), rest = Transpose(dm_inv);
  const Vec3 gradients[4] = {-(at.c0 + at.c1 + at.c2), at.c0, at.c1, at.c2};
  const Vec3 rest_gradients[4] = {-(rest.c0 + rest.c1 + rest.c2), rest.c0, rest.c1, rest.c2};
  Vec3 moves[4];
  float response = 0.0f, rest_response = 0.0f;
  for (int i = 0; i < 4; ++i) {
    moves[i] = gradients[i] * x[nodes[i]].w;
    response += Dot(moves[i], gradients[i]);
    rest_response += x[nodes[i]].w * Dot(rest_gradients[i], rest_gradients[i]);
  }
  const float change = std::fmin(missing + kLiftMargin, kMostLift) /
                       std::fmax(response, kLeastResponse * rest_response);
  if (!(response > 0.0f) || !std::isfinite(response) || !std::isfinite(change)) return false;
  for (int i = 0; i < 4; ++i) x[nodes[i]] += moves[i] * change;
  return true;
}

}  // namespace

bool MayBeFlat(const SweepChanges& last) {
  // Neighbours' corrections rarely press a tet by more than the largest correction. A missed tet is
  // found a step later.
  constexpr float kReachOfCorrections = 1.0f, kSafe = 2.0f * kLeastDetF;
  return last.lowest_det_f < kSafe + kReachOfCorrections * last.largest;
}

bool MayBeFlat(float lowest_det_f) {
  // The last solve would have to take a fifth of the volume that no earlier iterate took.
  constexpr float kSafe = 0.25f;
  return lowest_det_f < kSafe;
}

bool HasFlatTet(const ElementView& elements, std::span<const NodeVec> x) {
  return HWY_DYNAMIC_DISPATCH(FindFlatBlock)(elements, x.data(), 0) < elements.blocks.size();
}

bool HasFlatterTet(const ElementView& elements, NodeVectors before, std::span<const NodeVec> x) {
  return ForFlatTets(elements, before, kLeastDetF, x, [](const FlatTet&) { return true; }) > 0.0f;
}

uint32_t CountFlatTets(const ElementView& elements, std::span<const NodeVec> x) {
  uint32_t count = 0;
  const auto next = [&](size_t first) {
    return HWY_DYNAMIC_DISPATCH(FindFlatBlock)(elements, x.data(), first);
  };
  for (size_t b = next(0); b < elements.blocks.size(); b = next(b + 1)) {
    ForTets(elements.blocks[b], [&](const Tet& tet, const Mat3& dm_inv) {
      const Mat3 F = DeformationGradient(x[tet.a], x[tet.b], x[tet.c], x[tet.d], dm_inv);
      count += Determinant(F) < kLeastDetF ? 1 : 0;
    });
  }
  return count;
}

float LiftFlatTets(const ElementView& elements, NodeVectors before, std::span<NodeVec> x) {
  return ForFlatTets(elements, before, kLeastDetF, x,
                     [&](const FlatTet& flat) { return Lift(flat, x); });
}

bool HoldFlatTets(const ElementView& elements, NodeVectors before, float share,
                  std::span<NodeVec> x) {
  const float held = ForFlatTets(elements, before, kLeastHeldDetF, x, [&](const FlatTet& flat) {
    for (const uint32_t node : flat.nodes) x[node] -= (x[node] - before[node]) * share;
    return true;
  });
  return held > 0.0f;
}

}  // namespace plush
#endif
