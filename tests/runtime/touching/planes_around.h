// SPDX-License-Identifier: MIT
// Random bodies among planes, for tests of the search for points below them.
#pragma once

#include "runtime/collision/surface_fixtures.h"
#include "touching/contact_problem.h"
#include "touching/sunk_points.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace plush::test {

inline constexpr float kInfinite = std::numeric_limits<float>::infinity();

/// A body somewhere among planes.
struct AmongPlanes {
  AmongPlanes(const SurfaceBody& of, Random* random, uint32_t num_planes = 3)
      : body(of), pinned(of.x().size(), 0) {
    for (const uint32_t node : random->Nodes(pinned.size(), 0.15)) pinned[node] = 1;
    x.assign(of.x().begin(), of.x().end());
    y = ToNodeVecs(x);
    d.resize(y.size());
    for (uint32_t p = 0; p < num_planes; ++p) {
      LocalCollider plane;
      plane.normal = plane.start_normal = ToVec3(random->Direction());
      float low = kInfinite, high = -kInfinite;
      for (const Vec3& node : x) {
        low = std::min(low, Dot(plane.normal, node));
        high = std::max(high, Dot(plane.normal, node));
      }
      plane.offset = low + static_cast<float>(random->Uniform(-0.1, 0.6)) * (high - low);
      plane.start_offset = plane.offset + static_cast<float>(random->Uniform(-0.02, 0.02));
      plane.slot = p;
      planes.push_back(plane);
    }
  }

  void Move(Random* random, double size) {
    const auto shake = [&](Vec3 v) { return v + ToVec3(random->Vector(size)); };
    for (NodeVec& node : y) node = shake(node);
    for (NodeVec& node : d) node = ToVec3(random->Vector(size));
    y.back() = d.back() = NodeVec();
  }

  ContactProblem Problem() const {
    return {.colliders = planes,
            .surface = {&body.surface(), pinned},
            .x = x,
            .y = y,
            .slop = 1.0e-3f,
            .rise = 1.0e-3f,
            .reach = reach};
  }

  const SurfaceBody& body;
  std::vector<uint8_t> pinned;
  std::vector<Vec3> x;
  std::vector<NodeVec> y, d;
  std::vector<LocalCollider> planes;
  float reach = 0.03f;
};

/// Knows every seventh vertex.
inline bool IsKnown(const void*, const SunkPoint& point) {
  return (point.id + point.collider) % 7 == 0;
}

}  // namespace plush::test
