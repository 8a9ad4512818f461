// SPDX-License-Identifier: MIT
// Axis-aligned boxes.
#pragma once

#include "base/vec3.h"

#include <limits>

namespace plush::tools {

/// A closed box. Empty (low > high) until something is added.
struct Box3 {
  Vec3d low = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(),
               std::numeric_limits<double>::infinity()};
  Vec3d high = -low;

  void Add(const Vec3d& p) {
    low = Min(low, p);
    high = Max(high, p);
  }
  void Add(const Box3& other) {
    low = Min(low, other.low);
    high = Max(high, other.high);
  }
  bool empty() const { return !(low.x <= high.x); }
  /// Whether the closed boxes share a point.
  bool Overlaps(const Box3& other) const {
    return low.x <= other.high.x && other.low.x <= high.x && low.y <= other.high.y &&
           other.low.y <= high.y && low.z <= other.high.z && other.low.z <= high.z;
  }
  Vec3d Extent() const { return high - low; }
  /// Adds halves, so that huge boxes do not overflow.
  Vec3d Centre() const { return low * 0.5 + high * 0.5; }
};

}  // namespace plush::tools
