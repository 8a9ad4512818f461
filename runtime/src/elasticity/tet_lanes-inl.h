// SPDX-License-Identifier: MIT
// Analytic polar decomposition of one matrix per lane. Lanes never read each other, so a result
// does not depend on the values in other lanes. Included once per instruction set.
// Based on:
// Tassilo Kugelstadt, Dan Koschier, Jan Bender. Fast Corotated FEM using Operator Splitting. 2018

#if defined(PLUSH_ELASTICITY_TET_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PLUSH_ELASTICITY_TET_LANES_INL_H_
#undef PLUSH_ELASTICITY_TET_LANES_INL_H_
#else
#define PLUSH_ELASTICITY_TET_LANES_INL_H_
#endif

#include "plush/format/tet_block.h"

#include "base/lanes-inl.h"
#include "elasticity/elements.h"
#include "elasticity/polar_decomposition.h"

#include <hwy/cache_control.h>

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {

// A unit quaternion per lane.
template <class V>
struct Rotation {
  V x, y, z, w;

  HWY_INLINE Rotation() {}
  HWY_INLINE Rotation(V ax, V ay, V az, V aw) : x(ax), y(ay), z(az), w(aw) {}
};

template <class D, class V = hn::Vec<D>>
HWY_INLINE Mat<V> RotationMatrix(D d, const Rotation<V>& q) {
  const V one = hn::Set(d, 1.0f);
  const V x2 = hn::Add(q.x, q.x), y2 = hn::Add(q.y, q.y), z2 = hn::Add(q.z, q.z);
  const V wx = hn::Mul(q.w, x2), wy = hn::Mul(q.w, y2), wz = hn::Mul(q.w, z2);
  const V yy = hn::Mul(q.y, y2);
  return {{FmaNegated(q.z, z2, hn::Sub(one, yy)), Fma(q.x, y2, wz), FmaMinus(q.x, z2, wy)},
          {FmaMinus(q.x, y2, wz), FmaNegated(q.z, z2, FmaNegated(q.x, x2, one)), Fma(q.y, z2, wx)},
          {Fma(q.x, z2, wy), FmaMinus(q.y, z2, wx), FmaNegated(q.x, x2, hn::Sub(one, yy))}};
}

// One Newton step on the rotation group; see AnalyticPolarDecomposition for the derivation. Changes
// only the quaternions of lanes in `moving`. Returns the lanes whose step was so short that the
// rotation has converged. Clears `plain` in lanes where H is nearly indefinite or the step too long
// for this form of it.
//
// omega = c / delta with c = adj(H) g, delta = det(H). The scaled step is omega / (1 + 5/16
// |omega|^2) = c delta / e with e = delta^2 + 5/16 |c|^2. Its Cayley map, multiplied out, takes a
// single division: (16 e^2 - |c|^2 delta^2, 8 delta e c) / (16 e^2 + |c|^2 delta^2).
template <class D, class V = hn::Vec<D>, class M = hn::Mask<D>>
HWY_INLINE M NewtonStep(D d, const Mat<V>& F, M moving, Rotation<V>* rotation, M* plain) {
  // A step below this length (squared) is the last. Newton's method converges cubically here,
  // because the cubic term of the objective vanishes with its gradient: a step by theta leaves at
  // most 0.07 theta^3 at strains up to 30%, and 0.18 theta^3 up to 50% (3000 random matrices each).
  // After a step of this length that is 1e-6 rad.
  constexpr float kLastStep2 = 0.018f * 0.018f;
  // Longest step (squared) that the scale above turns by about its arc tangent.
  constexpr float kLongest2 = 1.5f * 1.5f;
  // Least pivots of H that count as positive definite, as fractions of its trace. Between kSmallest
  // and kGreatest, products of twelve entries of F stay within float's range.
  constexpr float kLeastPivot = 0.02f, kSmallest = 4.0e-4f, kGreatest = 12.0f;
  const Rotation<V> q = *rotation;
  const Mat<V> Y = TransposeTimes(RotationMatrix(d, q), F);
  const V half = hn::Set(d, -0.5f);
  // Products drift off the unit sphere by a few ulp. Correct by one Newton step for 1/sqrt about 1,
  // computed from the input so that nothing waits for it.
  const V length2 = Fma(q.x, q.x, Fma(q.y, q.y, Fma(q.z, q.z, hn::Mul(q.w, q.w))));
  const V unit = Fma(half, length2, hn::Set(d, 1.5f));
  const V trace = hn::Add(Y.c0.x, hn::Add(Y.c1.y, Y.c2.z));
  const V h00 = hn::Sub(trace, Y.c0.x), h11 = hn::Sub(trace, Y.c1.y), h22 = hn::Sub(trace, Y.c2.z);
  const V h01 = hn::Mul(half, hn::Add(Y.c1.x, Y.c0.y));
  const V h02 = hn::Mul(half, hn::Add(Y.c2.x, Y.c0.z));
  const V h12 = hn::Mul(half, hn::Add(Y.c2.y, Y.c1.z));
  const Xyz<V> g = {hn::Sub(Y.c1.z, Y.c2.y), hn::Sub(Y.c2.x, Y.c0.z), hn::Sub(Y.c0.y, Y.c1.x)};
  // The adjugate of the symmetric H.
  const V a00 = FmaMinus(h11, h22, hn::Mul(h12, h12));
  const V a01 = FmaMinus(h02, h12, hn::Mul(h01, h22));
  const V a02 = FmaMinus(h01, h12, hn::Mul(h02, h11));
  const V a11 = FmaMinus(h00, h22, hn::Mul(h02, h02));
  const V a12 = FmaMinus(h01, h02, hn::Mul(h00, h12));
  const V a22 = FmaMinus(h00, h11, hn::Mul(h01, h01));
  const V delta = Fma(h00, a00, Fma(h01, a01, hn::Mul(h02, a02)));
  const Xyz<V> c = {Fma(a00, g.x, Fma(a01, g.y, hn::Mul(a02, g.z))),
                    Fma(a01, g.x, Fma(a11, g.y, hn::Mul(a12, g.z))),
                    Fma(a02, g.x, Fma(a12, g.y, hn::Mul(a22, g.z)))};
  const V c2 = Dot(c, c), delta2 = hn::Mul(delta, delta);
  const V least = hn::Mul(hn::Set(d, kLeastPivot), hn::Add(trace, trace));
  const M good = hn::And(
      hn::And(hn::And(hn::Gt(least, hn::Set(d, kSmallest)), hn::Lt(least, hn::Set(d, kGreatest))),
              hn::And(hn::Gt(h00, least), hn::Gt(a22, hn::Mul(least, least)))),
      hn::And(hn::Gt(delta, hn::Mul(least, hn::Mul(least, least))),
              hn::Le(c2, hn::Mul(hn::Set(d, kLongest2), delta2))));
  *plain = hn::And(*plain, hn::Or(good, hn::Not(moving)));
  const V e = Fma(hn::Set(d, 5.0f / 16.0f), c2, delta2);
  const V e16 = hn::Mul(hn::Set(d, 16.0f), hn::Mul(e, e));
  const V cd = hn::Mul(c2, delta2);
  const V inverse = hn::Div(hn::Set(d, 1.0f), hn::Add(e16, cd));
  const V w = hn::Mul(hn::Sub(e16, cd), inverse);
  const Xyz<V> v = c * hn::Mul(hn::Mul(hn::Set(d, 8.0f), hn::Mul(delta, e)), inverse);
  Rotation<V> p = {
      Fma(q.w, v.x, Fma(q.x, w, FmaMinus(q.y, v.z, hn::Mul(q.z, v.y)))),
      Fma(q.w, v.y, Fma(q.y, w, FmaMinus(q.z, v.x, hn::Mul(q.x, v.z)))),
      Fma(q.w, v.z, Fma(q.z, w, FmaMinus(q.x, v.y, hn::Mul(q.y, v.x)))),
      FmaNegated(q.x, v.x, FmaNegated(q.y, v.y, FmaNegated(q.z, v.z, hn::Mul(q.w, w))))};
  const M moves = hn::And(moving, good);
  rotation->x = hn::IfThenElse(moves, hn::Mul(p.x, unit), q.x);
  rotation->y = hn::IfThenElse(moves, hn::Mul(p.y, unit), q.y);
  rotation->z = hn::IfThenElse(moves, hn::Mul(p.z, unit), q.z);
  rotation->w = hn::IfThenElse(moves, hn::Mul(p.w, unit), q.w);
  return hn::Le(c2, hn::Mul(hn::Set(d, kLastStep2), delta2));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE Rotation<V> LoadRotation(D d, const float* q) {
  return {hn::LoadU(d, q), hn::LoadU(d, q + kBlockTets), hn::LoadU(d, q + 2 * kBlockTets),
          hn::LoadU(d, q + 3 * kBlockTets)};
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE void StoreRotation(D d, const Rotation<V>& rotation, float* q) {
  hn::StoreU(rotation.x, d, q);
  hn::StoreU(rotation.y, d, q + kBlockTets);
  hn::StoreU(rotation.z, d, q + 2 * kBlockTets);
  hn::StoreU(rotation.w, d, q + 3 * kBlockTets);
}

// Loads nine numbers of each of N tets.
template <class D, class V = hn::Vec<D>>
HWY_INLINE Mat<V> LoadMat(D d, const float* first) {
  const auto row = [&](size_t k) HWY_ATTR { return hn::LoadU(d, first + kBlockTets * k); };
  return {{row(0), row(1), row(2)}, {row(3), row(4), row(5)}, {row(6), row(7), row(8)}};
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE void StoreMat(D d, const Mat<V>& m, float* first) {
  const V rows[9] = {m.c0.x, m.c0.y, m.c0.z, m.c1.x, m.c1.y, m.c1.z, m.c2.x, m.c2.y, m.c2.z};
  for (size_t k = 0; k < 9; ++k) hn::StoreU(rows[k], d, first + kBlockTets * k);
}

// Decomposes the lanes outside `plain` by the scalar function.
template <class D, class M = hn::Mask<D>>
HWY_NOINLINE void TakeOverLanes(D d, const float* F, M plain, int max_iterations, float* rotation) {
  HWY_ALIGN float is_plain[kLanes<D>];
  hn::Store(hn::IfThenElseZero(plain, hn::Set(d, 1.0f)), d, is_plain);
  for (size_t i = 0; i < kLanes<D>; ++i) {
    if (is_plain[i] != 0.0f) continue;
    const auto column = [&](size_t k) HWY_ATTR {
      return Vec3{F[kBlockTets * k + i], F[kBlockTets * (k + 1) + i], F[kBlockTets * (k + 2) + i]};
    };
    float* q = rotation + i;
    const Quat start = {q[0], q[kBlockTets], q[2 * kBlockTets], q[3 * kBlockTets]};
    const Quat found =
        AnalyticPolarDecomposition({column(0), column(3), column(6)}, start, max_iterations);
    q[0] = found.x;
    q[kBlockTets] = found.y;
    q[2 * kBlockTets] = found.z;
    q[3 * kBlockTets] = found.w;
  }
}

// Most blocks of 16 matrices decomposed together.
inline constexpr size_t kGroup = 8;

// Rotations of `count` blocks of 16 matrices F (9 x 16 each) from warm starts (4 x 16 each).
// - Lanes whose `active` (16 per block, `active_stride` apart) is not above zero keep their
//   rotations.
// - The scalar AnalyticPolarDecomposition takes over lanes whose matrix is nearly degenerate or far
//   from its start.
// - Every block takes a step before any takes its next. The steps of different blocks are
//   independent, so a processor overlaps them.
HWY_INLINE void PolarNewton(size_t count, const float* F, const float* active, size_t active_stride,
                            int max_iterations, float* rotations) {
  const Lanes16 d;
  using M = hn::Mask<Lanes16>;
  constexpr size_t N = kLanes<Lanes16>, kParts = kBlockTets / N;
  M moving[kGroup * kParts], plain[kGroup * kParts];
  const auto matrix_of = [&](size_t p) HWY_ATTR {
    return F + 9 * kBlockTets * (p / kParts) + N * (p % kParts);
  };
  const auto rotation_of = [&](size_t p) HWY_ATTR {
    return rotations + 4 * kBlockTets * (p / kParts) + N * (p % kParts);
  };
  for (size_t p = 0; p < kParts * count; ++p) {
    moving[p] =
        hn::Gt(hn::LoadU(d, active + active_stride * (p / kParts) + N * (p % kParts)), hn::Zero(d));
    plain[p] = hn::Or(moving[p], hn::Not(moving[p]));
  }
  bool any = true;
  for (int i = 0; i < max_iterations && any; ++i) {
    any = false;
    for (size_t p = 0; p < kParts * count; ++p) {
      if (hn::AllFalse(d, moving[p])) continue;
      auto rotation = LoadRotation(d, rotation_of(p));
      const M found = NewtonStep(d, LoadMat(d, matrix_of(p)), moving[p], &rotation, &plain[p]);
      StoreRotation(d, rotation, rotation_of(p));
      moving[p] = hn::AndNot(found, hn::And(moving[p], plain[p]));
      any = any || !hn::AllFalse(d, moving[p]);
    }
  }
  for (size_t p = 0; p < kParts * count; ++p) {
    if (hn::AllTrue(d, plain[p])) continue;
    TakeOverLanes(d, matrix_of(p), plain[p], max_iterations, rotation_of(p));
  }
}

// Sum over a tet's nodes of their inverse masses `w` times |grad N|^2, N their shape functions,
// from the rows of B = Dm^-1. At rest, times bulk dt^2: how fast a multiplier alone restores the
// volume.
template <class V>
HWY_INLINE V InverseInertia(const Mat<V>& B, V wa, V wb, V wc, V wd) {
  const auto square = [](V x, V y, V z) HWY_ATTR { return Fma(x, x, Fma(y, y, hn::Mul(z, z))); };
  const V ax = hn::Add(B.c0.x, hn::Add(B.c0.y, B.c0.z));
  const V ay = hn::Add(B.c1.x, hn::Add(B.c1.y, B.c1.z));
  const V az = hn::Add(B.c2.x, hn::Add(B.c2.y, B.c2.z));
  return Fma(
      wa, square(ax, ay, az),
      Fma(wb, square(B.c0.x, B.c1.x, B.c2.x),
          Fma(wc, square(B.c0.y, B.c1.y, B.c2.y), hn::Mul(wd, square(B.c0.z, B.c1.z, B.c2.z)))));
}

// lambda V as volume_law.h takes it, for 2 mu V = `k`.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V LimitedBulk(D d, const VolumeLaw& law, V k, V bulk) {
  return hn::Min(bulk, hn::Mul(k, hn::Set(d, 0.5f * law.most_bulk)));
}

// V times the pressure at det F = 1 + `change`, for LimitedBulk.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V VolumePressure(D d, const VolumeLaw& law, V k, V bulk, V change) {
  const V most = hn::Mul(k, hn::Set(d, 0.5f * law.most_pull));
  const V least = hn::Mul(k, hn::Set(d, -0.5f * law.most_push));
  return hn::Max(hn::Min(hn::Mul(bulk, change), most), least);
}

// Moves the multiplier kappa towards its law, -p V dt^2, see AddElasticImpulses. With `k` = 2 mu V,
// det F and the cofactors `cof` of F.
//
// The share of the way is 1 / (1 + c q), q = lambda V dt^2 rho / (1 / r + mu V dt^2 (1 + beta/dt)):
// the volume term's stiffness over what resists it, inertia and the stretch term. A share that is
// too large overshoots; one that is too small lets pressures lag behind volumes, which adds energy.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V RelaxedMultiplier(D d, const ElementSettings& settings, V det, const Mat<V>& cof, V k,
                               V bulk, V inverse_inertia, V kappa) {
  const float dt2 = settings.dt * settings.dt;
  bulk = LimitedBulk(d, settings.law, k, bulk);
  const V change = hn::Sub(det, hn::Set(d, 1.0f));
  const V law = hn::Mul(VolumePressure(d, settings.law, k, bulk, change), hn::Set(d, -dt2));
  const V area2 =
      hn::Mul(hn::Add(Dot(cof.c0, cof.c0), hn::Add(Dot(cof.c1, cof.c1), Dot(cof.c2, cof.c2))),
              hn::Set(d, 1.0f / 3.0f));
  const V one = hn::Set(d, 1.0f);
  const V stretched = hn::IfThenElse(hn::Gt(area2, one), area2, one);
  // The viscous stiffness resists the step, too.
  const V stiffness = hn::Mul(k, hn::Set(d, 0.5f * (1.0f + settings.damping / settings.dt)));
  const V resisting = Fma(stiffness, inverse_inertia, hn::Set(d, 1.0f / dt2));
  const V pushing =
      hn::Mul(hn::Mul(bulk, hn::Set(d, settings.relaxation)), hn::Mul(stretched, inverse_inertia));
  // Nearly incompressible material takes hundreds of steps to change a multiplier. Meanwhile it may
  // push a tet that has long turned from squeezed to stretched, ever farther. So it stays between 0
  // and its law, widened by what the stretch term resists at any size.
  const V zero = hn::Zero(d);
  const V spare = hn::Div(hn::Mul(k, hn::Set(d, dt2)), stretched);
  const V least = hn::Sub(hn::Min(law, zero), spare), most = hn::Add(hn::Max(law, zero), spare);
  const V kept = hn::Min(hn::Max(kappa, least), most);
  const V share = hn::Div(resisting, hn::Add(pushing, resisting));
  return Fma(share, hn::Sub(law, kept), kept);
}

// Bodies of more blocks than this do not fit into a core's own caches (2 MB).
inline constexpr size_t kMostNearBlocks = 2048;

HWY_INLINE bool IsFar(const ElementView& elements) {
  return elements.blocks.size() > kMostNearBlocks;
}

// Prefetches what FindGradients reads of a block, a group ahead, while the current rotations are
// found.
HWY_INLINE void FetchRest(const ElementView& elements, size_t block) {
  if (block >= elements.blocks.size()) return;
  for (const auto& nodes : elements.blocks[block].nodes) hwy::Prefetch(nodes);
  for (const auto& entries : elements.blocks[block].dm_inv) hwy::Prefetch(entries);
  hwy::Prefetch(elements.StiffnessOf(block));
}

// Prefetches the body's own data of a block.
HWY_INLINE void FetchState(const ElementView& elements, size_t block, const float* kappa,
                           const RotationView& rotations) {
  if (block >= elements.blocks.size()) return;
  for (size_t k = 0; k < 4; ++k) hwy::Prefetch(rotations.Block(block) + kBlockTets * k);
  hwy::Prefetch(kappa + kBlockTets * block);
}

// dt^2 times the negative derivative of mu V |F - R|^2 with respect to F, with k = 2 mu V, plus
// kappa times that of C = det F - 1, `cof`.
template <class D, class V = hn::Vec<D>>
HWY_INLINE Mat<V> StretchImpulse(D d, const ElementSettings& settings, const Mat<V>& F,
                                 const Mat<V>& R, const Mat<V>& C, V k, V kappa) {
  const V weight = hn::Mul(k, hn::Set(d, settings.dt * settings.dt));
  return {Fma(R.c0 - F.c0, weight, C.c0 * kappa), Fma(R.c1 - F.c1, weight, C.c1 * kappa),
          Fma(R.c2 - F.c2, weight, C.c2 * kappa)};
}

// Adds dt^2 times the viscous stress, k (R S - F) damping dt.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void AddViscousImpulse(D d, const ElementSettings& settings, const Mat<V>& F,
                                  const Mat<V>& R, const Mat<V>& S, V k, Mat<V>* P) {
  const V weight = hn::Mul(k, hn::Set(d, settings.dt * settings.damping));
  const Mat<V> target = Times(R, S);
  P->c0 = Fma(target.c0 - F.c0, weight, P->c0);
  P->c1 = Fma(target.c1 - F.c1, weight, P->c1);
  P->c2 = Fma(target.c2 - F.c2, weight, P->c2);
}

}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#endif
