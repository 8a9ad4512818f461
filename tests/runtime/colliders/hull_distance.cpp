// SPDX-License-Identifier: MIT
#include "runtime/colliders/hull_distance.h"

#include <algorithm>
#include <cmath>

namespace plush::test {

double DistanceFrom(const Hull& hull, const Eigen::Vector3d& p) {
  double inside = -1e30, outside2 = 1e60;
  for (const HullTriangle& t : hull.triangles) {
    const Eigen::Vector3d a = ToEigen(hull.points[t.corners[0]]),
                          b = ToEigen(hull.points[t.corners[1]]),
                          c = ToEigen(hull.points[t.corners[2]]);
    for (const auto& [from, to] : {std::pair(a, b), std::pair(b, c), std::pair(c, a)}) {
      const Eigen::Vector3d along = to - from;
      const double at = std::clamp((p - from).dot(along) / along.squaredNorm(), 0.0, 1.0);
      outside2 = std::min(outside2, (p - from - at * along).squaredNorm());
    }
    const Eigen::Vector3d normal = (b - a).cross(c - a);
    const double area2 = normal.squaredNorm(), u = (p - a).cross(c - a).dot(normal) / area2;
    const double v = (b - a).cross(p - a).dot(normal) / area2;
    if (u >= 0.0 && v >= 0.0 && u + v <= 1.0) {
      outside2 = std::min(outside2, std::pow((p - a).dot(normal), 2) / area2);
    }
  }
  for (uint32_t i = 0; i < hull.num_planes; ++i) {
    inside = std::max(inside, p.dot(ToEigen(hull.Normal(i))) - double(hull.Offset(i)));
  }
  return inside <= 0.0 ? inside : std::max(inside, std::sqrt(outside2));
}

}  // namespace plush::test
