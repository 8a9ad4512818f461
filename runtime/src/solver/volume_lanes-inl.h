// SPDX-License-Identifier: MIT
// The volume constraint of one tet per lane. Included once per instruction set.

#if defined(PLUSH_SOLVER_VOLUME_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PLUSH_SOLVER_VOLUME_LANES_INL_H_
#undef PLUSH_SOLVER_VOLUME_LANES_INL_H_
#else
#define PLUSH_SOLVER_VOLUME_LANES_INL_H_
#endif

#include "base/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {

// det F, and its gradients with respect to the four nodes [1/m].
template <class V>
struct VolumeGradients {
  Xyz<V> a, b, c, d;
  V det;

  HWY_INLINE VolumeGradients() {}
};

// With s = 1 / (6 V), det F = s det(Ds). Its gradients are s times cross products of edges.
template <class D, class V = hn::Vec<D>>
HWY_INLINE VolumeGradients<V> GradientsOfVolume(D d, const Xyz<V>& xa, const Xyz<V>& xb,
                                                const Xyz<V>& xc, const Xyz<V>& xd, V s) {
  const Xyz<V> eb = xb - xa, ec = xc - xa, ed = xd - xa;
  VolumeGradients<V> g;
  g.b = Cross(ec, ed) * s;
  g.c = Cross(ed, eb) * s;
  g.d = Cross(eb, ec) * s;
  const V zero = hn::Zero(d);
  g.a = Xyz<V>{zero, zero, zero} - (g.b + g.c + g.d);
  g.det = Dot(eb, g.b);
  return g;
}

// Step of the multiplier, (-C - kappa / k) / (response + 1 / k), where k = lambda V dt^2 and
// response = sum w |grad|^2. Multiplied out, so that k = 0 gives -kappa.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V MultiplierStep(D d, V det, V kappa, V k, V response) {
  const V one = hn::Set(d, 1.0f);
  return hn::Div(FmaMinus(hn::Sub(one, det), k, kappa), Fma(response, k, one));
}

}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#endif
