// SPDX-License-Identifier: MIT
// Analytic polar decomposition of as many matrices as there are lanes. Lanes never look at each
// other: what comes out of one does not depend on what stands in the others.
// Included once per instruction set.
// Based on:
// Tassilo Kugelstadt, Dan Koschier, Jan Bender. Fast Corotated FEM using Operator Splitting. 2018

#if defined(PLUSH_ELASTICITY_POLAR_NEWTON_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PLUSH_ELASTICITY_POLAR_NEWTON_INL_H_
#undef PLUSH_ELASTICITY_POLAR_NEWTON_INL_H_
#else
#define PLUSH_ELASTICITY_POLAR_NEWTON_INL_H_
#endif

#include "plush/polar_decomposition.h"

#include "base/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {

// A unit quaternion per lane.
template <class V>
struct Rotation {
  V x, y, z, w;
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

// One Newton step on the rotation group; see AnalyticPolarDecomposition for the derivation. `plain`
// becomes false where H is too near to indefinite, or the step too long, for this form of it.
// Returns where the step was so short that the rotation is found. Quaternions of lanes in `moving`
// alone change.
//
// omega = c / delta with c = adj(H) g, delta = det(H). The scaled step is omega / (1 + 5/16
// |omega|^2) = c delta / e with e = delta^2 + 5/16 |c|^2, and its Cayley map, multiplied out, takes
// a single division: (16 e^2 - |c|^2 delta^2, 8 delta e c) / (16 e^2 + |c|^2 delta^2).
template <class D, class V = hn::Vec<D>, class M = hn::Mask<D>>
HWY_INLINE M NewtonStep(D d, const Mat<V>& F, M moving, Rotation<V>* rotation, M* plain) {
  // A step shorter than this leaves less than a float's rounding: Newton's method converges with
  // the third power here, because the cubic term of the objective vanishes with its gradient.
  constexpr float kLastStep2 = 4.0e-3f * 4.0e-3f;
  // Longest step that the scale above turns by about its arc tangent.
  constexpr float kLongest2 = 1.5f * 1.5f;
  // Least pivots of H, as fractions of its trace, that count as positive definite.
  constexpr float kLeastPivot = 0.02f;
  const Rotation<V> q = *rotation;
  const Mat<V> Y = TransposeTimes(RotationMatrix(d, q), F);
  const V half = hn::Set(d, -0.5f);
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
  const M good = hn::And(hn::And(hn::Gt(h00, least), hn::Gt(a22, hn::Mul(least, least))),
                         hn::And(hn::Gt(delta, hn::Mul(least, hn::Mul(least, least))),
                                 hn::And(hn::Le(c2, hn::Mul(hn::Set(d, kLongest2), delta2)),
                                         hn::Gt(least, hn::Zero(d)))));
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
  // Products round off the unit sphere by a few ulp: one Newton step for 1/sqrt about 1.
  const V length2 = Fma(p.x, p.x, Fma(p.y, p.y, Fma(p.z, p.z, hn::Mul(p.w, p.w))));
  const V unit = Fma(half, length2, hn::Set(d, 1.5f));
  const M moves = hn::And(moving, good);
  rotation->x = hn::IfThenElse(moves, hn::Mul(p.x, unit), q.x);
  rotation->y = hn::IfThenElse(moves, hn::Mul(p.y, unit), q.y);
  rotation->z = hn::IfThenElse(moves, hn::Mul(p.z, unit), q.z);
  rotation->w = hn::IfThenElse(moves, hn::Mul(p.w, unit), q.w);
  return hn::Le(c2, hn::Mul(hn::Set(d, kLastStep2), delta2));
}

// The scalar decomposition of the lanes outside `plain`.
template <class D, class V, class M>
HWY_NOINLINE void TakeOverLanes(D d, const Mat<V>& F, M plain, const Rotation<V>& start,
                                int max_iterations, Rotation<V>* rotation) {
  constexpr size_t N = kLanes<D>;
  HWY_ALIGN float m[9][N], s[4][N], q[4][N], is_plain[N];
  const V entries[9] = {F.c0.x, F.c0.y, F.c0.z, F.c1.x, F.c1.y, F.c1.z, F.c2.x, F.c2.y, F.c2.z};
  for (size_t k = 0; k < 9; ++k) hn::Store(entries[k], d, m[k]);
  hn::Store(start.x, d, s[0]);
  hn::Store(start.y, d, s[1]);
  hn::Store(start.z, d, s[2]);
  hn::Store(start.w, d, s[3]);
  hn::Store(rotation->x, d, q[0]);
  hn::Store(rotation->y, d, q[1]);
  hn::Store(rotation->z, d, q[2]);
  hn::Store(rotation->w, d, q[3]);
  hn::Store(hn::IfThenElseZero(plain, hn::Set(d, 1.0f)), d, is_plain);
  for (size_t i = 0; i < N; ++i) {
    if (is_plain[i] != 0.0f) continue;
    const Quat found = AnalyticPolarDecomposition(
        Mat3{{m[0][i], m[1][i], m[2][i]}, {m[3][i], m[4][i], m[5][i]}, {m[6][i], m[7][i], m[8][i]}},
        {s[0][i], s[1][i], s[2][i], s[3][i]}, max_iterations);
    q[0][i] = found.x;
    q[1][i] = found.y;
    q[2][i] = found.z;
    q[3][i] = found.w;
  }
  *rotation = {hn::Load(d, q[0]), hn::Load(d, q[1]), hn::Load(d, q[2]), hn::Load(d, q[3])};
}

// Rotations of F from warm starts. Lanes outside `active` keep theirs. Where a lane's matrix is
// near to degenerate or far from its start, the scalar AnalyticPolarDecomposition takes over.
template <class D, class V = hn::Vec<D>, class M = hn::Mask<D>>
HWY_INLINE void PolarNewton(D d, const Mat<V>& F, M active, int max_iterations,
                            Rotation<V>* rotation) {
  // Products of twelve entries of F stay within float's range.
  constexpr float kSmallest2 = 1.0e-3f, kLargest2 = 300.0f;
  const V norm2 = hn::Add(Dot(F.c0, F.c0), hn::Add(Dot(F.c1, F.c1), Dot(F.c2, F.c2)));
  const M in_range =
      hn::And(hn::Gt(norm2, hn::Set(d, kSmallest2)), hn::Lt(norm2, hn::Set(d, kLargest2)));
  const Rotation<V> start = *rotation;
  M plain = hn::Or(in_range, hn::Not(active));
  M moving = hn::And(active, plain);
  for (int i = 0; i < max_iterations; ++i) {
    const M found = NewtonStep(d, F, moving, rotation, &plain);
    moving = hn::AndNot(found, hn::And(moving, plain));
    if (hn::AllFalse(d, moving)) break;
  }
  if (hn::AllTrue(d, plain)) return;
  TakeOverLanes(d, F, plain, start, max_iterations, rotation);
}

}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#endif
