// SPDX-License-Identifier: MIT
// The logarithm of a volume ratio, extended to flat and inverted tets. The same bits on every
// platform, unlike std::log.
#pragma once

#include <cmath>

namespace plush {

/// Natural logarithm of x > 0, within 2 ulp + 1e-16: x = m 2^e, log m = 2 atanh((m - 1)/(m + 1)) by
/// its series.
template <class T>
T NaturalLog(T x) {
  int exponent = 0;
  T m = std::frexp(x, &exponent);  // exact
  if (m < T(0.70710678118654752)) {
    m *= T(2);
    --exponent;
  }
  const T s = (m - T(1)) / (m + T(1)), s2 = s * s;  // |s| < 0.172: 12 terms leave 1e-19
  T sum = T(0);
  for (int k = 23; k >= 1; k -= 2) sum = sum * s2 + T(1) / T(k);
  return T(exponent) * T(0.69314718055994530942) + T(2) * s * sum;
}

template <class T>
constexpr T Select(bool condition, const T& yes, const T& no) {
  return condition ? yes : no;
}

#define PLUSH_FORMULA constexpr
#include "materials/volume_log_formulas.h"
#undef PLUSH_FORMULA

}  // namespace plush
