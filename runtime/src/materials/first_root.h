// SPDX-License-Identifier: MIT
// The first root of a cubic in [0, 1].
#pragma once

#include <array>
#include <cmath>
#include <optional>

namespace plush {

/// p(t) = c[0] + c[1] t + c[2] t^2 + c[3] t^3, by Horner's scheme.
template <class T>
constexpr T EvaluateCubic(const std::array<T, 4>& c, T t) {
  return c[0] + t * (c[1] + t * (c[2] + t * c[3]));
}

/// The least t in [0, 1] from which p is not positive, or nothing if p stays positive or has a
/// coefficient that is not finite. Exact to rounding of p: p(t) <= 0, and p > 0 at all t that are
/// smaller by 1e-15 + some rounding errors of p over its slope. Does not allocate.
///
/// The roots of p' cut [0, 1] into at most three intervals in which p is monotone. The first one
/// with p <= 0 at its end holds the root. Bisection finds it: it needs no care about multiple roots
/// or vanishing leading coefficients.
template <class T>
std::optional<T> FirstRoot(std::array<T, 4> c) {
  T largest = T(0);
  for (const T a : c) {
    if (!std::isfinite(a)) return std::nullopt;
    largest = std::fmax(largest, std::fabs(a));
  }
  if (largest > T(0)) {
    for (T& a : c) a /= largest;  // the discriminant neither overflows nor vanishes
  }
  if (c[0] <= T(0)) return T(0);
  std::array<T, 3> ends = {T(1), T(1), T(1)};
  // p' = c1 + 2 c2 t + 3 c3 t^2; the roots as q / (3 c3) and c1 / q do not cancel. With c3 = 0
  // the first is infinite.
  const T discriminant = c[2] * c[2] - T(3) * c[3] * c[1];
  if (discriminant > T(0)) {
    const T root = std::sqrt(discriminant);
    const T q = c[2] < T(0) ? root - c[2] : -root - c[2];
    const auto inside = [](T t) { return t > T(0) && t < T(1) ? t : T(1); };
    const T a = inside(q / (T(3) * c[3])), b = inside(c[1] / q);
    ends[0] = std::fmin(a, b);
    ends[1] = std::fmax(a, b);
  }
  for (T high : ends) {
    if (!(EvaluateCubic(c, high) <= T(0))) continue;
    T low = T(0);  // p is positive up to the last end
    constexpr int kHalvings = 60;
    for (int i = 0; i < kHalvings; ++i) {
      const T middle = (low + high) / T(2);
      (EvaluateCubic(c, middle) <= T(0) ? high : low) = middle;
    }
    return high;
  }
  return std::nullopt;
}

}  // namespace plush
