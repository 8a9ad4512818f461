// SPDX-License-Identifier: MIT
// One tet per lane: what the passes over blocks and over crowds have in common.
// Included once per instruction set.
// Based on:
// Tassilo Kugelstadt, Dan Koschier, Jan Bender. Fast Corotated FEM using Operator Splitting. 2018

#if defined(PLUSH_ELASTICITY_TET_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PLUSH_ELASTICITY_TET_LANES_INL_H_
#undef PLUSH_ELASTICITY_TET_LANES_INL_H_
#else
#define PLUSH_ELASTICITY_TET_LANES_INL_H_
#endif

#include "base/lanes-inl.h"
#include "elasticity/elements.h"
#include "elasticity/polar_newton-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {

// dt^2 times minus the derivative of mu V |F - R|^2 by F, with k = 2 mu V, plus kappa times that of
// C = det F - 1.
template <class D, class V = hn::Vec<D>>
HWY_INLINE Mat<V> StretchImpulse(D d, const ElementSettings& settings, const Mat<V>& F,
                                 const Mat<V>& R, V k, V kappa) {
  const V weight = hn::Mul(k, hn::Set(d, settings.dt * settings.dt));
  const Mat<V> C = Cofactor(F);
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
