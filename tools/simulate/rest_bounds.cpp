// SPDX-License-Identifier: MIT
#include "simulate/rest_bounds.h"

#include "plush/format/tet_block.h"

namespace plush::tools {

Vec3d Rotate(const Quat& rotation, const Vec3d& point) {
  const Vec3d axis = {rotation.x, rotation.y, rotation.z};
  const Vec3d t = 2.0 * Cross(axis, point);
  return point + static_cast<double>(rotation.w) * t + Cross(axis, t);
}

Bounds BoundsOf(std::span<const Vec3> points, const Quat& rotation) {
  Bounds bounds;
  for (size_t i = 0; i < points.size(); ++i) {
    const Vec3d p = Rotate(rotation, {points[i].x, points[i].y, points[i].z});
    bounds.low = i == 0 ? p : Min(bounds.low, p);
    bounds.high = i == 0 ? p : Max(bounds.high, p);
  }
  return bounds;
}

Bounds SurfaceBounds(const Asset& asset, const Quat& rotation) {
  const auto vertices = asset.visual().positions;
  return BoundsOf(vertices.empty() ? asset.simulation().nodes : vertices, rotation);
}

Bounds CageBounds(const Asset& asset) { return BoundsOf(asset.simulation().nodes); }

}  // namespace plush::tools
