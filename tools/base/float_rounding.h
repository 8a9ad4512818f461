// SPDX-License-Identifier: MIT
// Rounds doubles to the floats that the file stores.
#pragma once

#include "base/vec3.h"

namespace plush::tools {

/// The volatile is necessary: gcc 12 (-O2 and above) vectorises the two conversions of neighbouring
/// doubles into a plain copy, which rounds nothing.
inline double RoundToFloat(double value) {
  volatile float rounded = static_cast<float>(value);
  return static_cast<double>(rounded);
}

inline Vec3d RoundToFloat(const Vec3d& v) {
  return {RoundToFloat(v.x), RoundToFloat(v.y), RoundToFloat(v.z)};
}

}  // namespace plush::tools
