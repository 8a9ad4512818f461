// SPDX-License-Identifier: MIT
// VolumeLog for any scalar T. Included inside namespace plush by volume_log.h, and once more for
// each instruction set by lane_scalar-inl.h; see matrix3_formulas.h. NaturalLog and Select are the
// scalar's.

/// A function's value and first two derivatives.
template <class T>
struct Derivatives {
  T value{}, slope{}, curvature{};
};

/// log J for J >= limit > 0, below it log's second-order Taylor polynomial about `limit`: with two
/// continuous derivatives, increasing, for every finite J.
template <class T>
PLUSH_FORMULA Derivatives<T> VolumeLog(T J, T limit) {
  const T at = Select(J < limit, limit, J);
  const T slope = T(1) / at, curvature = -slope * slope, step = J - at;
  return {NaturalLog(at) + step * (slope + step * curvature / T(2)), slope + step * curvature,
          curvature};
}
