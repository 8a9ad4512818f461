// SPDX-License-Identifier: MIT
#include "simulate/motion.h"

#include "plush/pose.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace plush::tools {

Pose Motion::At(double time) const {
  const auto next =
      std::upper_bound(keys.begin(), keys.end(), time,
                       [](double value, const MotionKey& key) { return value < key.time; });
  if (next == keys.begin()) return keys.front().pose;
  const MotionKey& last = *(next - 1);
  if (next == keys.end() || last.time == time) return last.pose;
  return Interpolated(last.pose, next->pose, (time - last.time) / (next->time - last.time));
}

bool Equal(const Pose& a, const Pose& b) {
  using Bits = std::array<uint32_t, 7>;
  static_assert(sizeof(Pose) == sizeof(Bits));
  return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

Pose Moved(const Pose& pose, const Vec3& offset) {
  const Vec3& p = pose.position;
  return {{p.x + offset.x, p.y + offset.y, p.z + offset.z}, pose.rotation};
}

}  // namespace plush::tools
