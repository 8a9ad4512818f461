// SPDX-License-Identifier: MIT
// Doubles as the file stores them.
#pragma once

#include "base/vec3.h"

namespace plush::tools {

/// `value` rounded to single precision.
///
/// The volatile is no ornament: gcc 12 turns the two conversions of neighbouring doubles into a
/// plain copy when it vectorises them (-O2 and above), so that nothing is rounded.
inline double RoundToFloat(double value) {
  volatile float rounded = static_cast<float>(value);
  return static_cast<double>(rounded);
}

/// Each coordinate rounded to single precision.
inline Vec3d RoundToFloat(const Vec3d& v) {
  return {RoundToFloat(v.x), RoundToFloat(v.y), RoundToFloat(v.z)};
}

}  // namespace plush::tools
