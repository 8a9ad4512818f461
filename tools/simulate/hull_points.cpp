// SPDX-License-Identifier: MIT
#include "simulate/hull_points.h"

#include "plush/collider.h"

#include <algorithm>
#include <cstdlib>

namespace plush::tools {

std::vector<Vec3> OutermostPoints(std::span<const Vec3> points) {
  if (points.size() <= kMostHullPoints) return {points.begin(), points.end()};
  constexpr int kHalf = 3;  // directions to the surface of a lattice of 7 x 7 x 7 points
  std::vector<size_t> outermost;
  for (int x = -kHalf; x <= kHalf; ++x) {
    for (int y = -kHalf; y <= kHalf; ++y) {
      for (int z = -kHalf; z <= kHalf; ++z) {
        if (std::max({std::abs(x), std::abs(y), std::abs(z)}) < kHalf) continue;
        const auto along = [&](const Vec3& p) {
          return x * double(p.x) + y * double(p.y) + z * double(p.z);
        };
        outermost.push_back(
            static_cast<size_t>(std::ranges::max_element(points, {}, along) - points.begin()));
      }
    }
  }
  std::ranges::sort(outermost);
  outermost.erase(std::unique(outermost.begin(), outermost.end()), outermost.end());
  std::vector<Vec3> picked;
  for (const size_t i : outermost) picked.push_back(points[i]);
  return picked;
}

}  // namespace plush::tools
