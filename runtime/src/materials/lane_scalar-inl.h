// SPDX-License-Identifier: MIT
// The materials' formulas for one tet per lane: a scalar that is a vector, and the templates again,
// compiled for the instruction set. Sums and products are rounded as those of floats are, so that
// lanes have the bits of the scalar formulas. Included once per instruction set.

#if defined(PLUSH_MATERIALS_LANE_SCALAR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PLUSH_MATERIALS_LANE_SCALAR_INL_H_
#undef PLUSH_MATERIALS_LANE_SCALAR_INL_H_
#else
#define PLUSH_MATERIALS_LANE_SCALAR_INL_H_
#endif

#include "base/lanes-inl.h"
#include "materials/material.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace lane {

// The default constructor is trivial: compiler-generated ones of matrices have no target attribute.
struct Scalar {
  using D = Lanes16;
  hn::Vec<D> v;

  Scalar() = default;
  HWY_INLINE explicit Scalar(double value) : v(hn::Set(D(), static_cast<float>(value))) {}
  HWY_INLINE explicit Scalar(hn::Vec<D> value) : v(value) {}
};

HWY_INLINE Scalar operator-(const Scalar& a) { return Scalar(hn::Neg(a.v)); }
HWY_INLINE Scalar operator+(const Scalar& a, const Scalar& b) { return Scalar(hn::Add(a.v, b.v)); }
HWY_INLINE Scalar operator-(const Scalar& a, const Scalar& b) { return Scalar(hn::Sub(a.v, b.v)); }
HWY_INLINE Scalar operator*(const Scalar& a, const Scalar& b) { return Scalar(hn::Mul(a.v, b.v)); }
HWY_INLINE Scalar operator/(const Scalar& a, const Scalar& b) { return Scalar(hn::Div(a.v, b.v)); }
HWY_INLINE hn::Mask<Lanes16> operator<(const Scalar& a, const Scalar& b) {
  return hn::Lt(a.v, b.v);
}
HWY_INLINE Scalar Select(hn::Mask<Lanes16> condition, const Scalar& yes, const Scalar& no) {
  return Scalar(hn::IfThenElse(condition, yes.v, no.v));
}

// plush::NaturalLog of a normal x, by the bits of x in place of frexp.
HWY_INLINE Scalar NaturalLog(const Scalar& x) {
  const Lanes16 d;
  const hn::RebindToSigned<Lanes16> bits;
  const auto of_x = hn::BitCast(bits, x.v);
  const Scalar half(
      hn::BitCast(d, hn::Or(hn::And(of_x, hn::Set(bits, 0x007fffff)), hn::Set(bits, 0x3f000000))));
  const auto exponent = hn::ConvertTo(d, hn::Sub(hn::ShiftRight<23>(of_x), hn::Set(bits, 126)));
  const auto is_small = half < Scalar(0.70710678118654752);
  const Scalar m = Select(is_small, half * Scalar(2.0), half);
  const Scalar e = Select(is_small, Scalar(exponent) - Scalar(1.0), Scalar(exponent));
  const Scalar s = (m - Scalar(1.0)) / (m + Scalar(1.0)), s2 = s * s;
  Scalar sum(0.0);
  for (int k = 23; k >= 1; k -= 2) sum = sum * s2 + Scalar(1.0) / Scalar(k);
  return e * Scalar(0.69314718055994530942) + Scalar(2.0) * s * sum;
}

#define PLUSH_FORMULA HWY_INLINE
#include "materials/matrix3_formulas.h"
#include "materials/volume_log_formulas.h"
// After what it uses.
#include "materials/material_formulas.h"
#undef PLUSH_FORMULA

using Matrix = Matrix3<Scalar>;

template <class V>
HWY_INLINE Matrix ToMatrix(const Mat<V>& m) {
  return {{Scalar(m.c0.x), Scalar(m.c0.y), Scalar(m.c0.z)},
          {Scalar(m.c1.x), Scalar(m.c1.y), Scalar(m.c1.z)},
          {Scalar(m.c2.x), Scalar(m.c2.y), Scalar(m.c2.z)}};
}

HWY_INLINE Mat<hn::Vec<Lanes16>> ToMat(const Matrix& m) {
  return {{m.c0.x.v, m.c0.y.v, m.c0.z.v},
          {m.c1.x.v, m.c1.y.v, m.c1.z.v},
          {m.c2.x.v, m.c2.y.v, m.c2.z.v}};
}

}  // namespace lane
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#endif
