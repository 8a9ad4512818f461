// SPDX-License-Identifier: MIT
// Beams on springs, and the same springs in the reference.
#pragma once

#include "reference/implicit_euler.h"
#include "runtime/colliders/plane_scene.h"
#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>

namespace plush::test {

inline constexpr float kBeamDt = 0.01f;

/// A beam 0.4 m long.
inline ShapeAsset Beam(double young) {
  return ShapeAsset(TetBox(8, 3, 3, 0.05, 0.09, 1), {young, 0.35, 1000.0}, double(kBeamDt));
}

/// The point of the tet nearest to a place with these weights, as a side of a spring.
struct Point {
  uint32_t nodes[4];
  Vec4 weights = {0.4f, 0.3f, 0.2f, 0.1f};

  Point(const ShapeAsset& shape, const Eigen::Vector3d& near) {
    // The tet whose centre is nearest.
    double least = 1e30;
    for (const Tet& tet : shape.simulation().tets) {
      Eigen::Vector3d centre = Eigen::Vector3d::Zero();
      for (const uint32_t node : {tet.a, tet.b, tet.c, tet.d}) {
        centre += 0.25 * ToEigen(shape.simulation().nodes[node]);
      }
      if ((centre - near).norm() >= least) continue;
      least = (centre - near).norm();
      const uint32_t of_tet[4] = {tet.a, tet.b, tet.c, tet.d};
      std::copy(of_tet, of_tet + 4, nodes);
    }
  }
  double weight(int k) const {
    const float w[4] = {weights.x, weights.y, weights.z, weights.w};
    return double(w[k]);
  }
  Eigen::Vector3d At(const Points& x) const {
    Eigen::Vector3d at = Eigen::Vector3d::Zero();
    for (int k = 0; k < 4; ++k) at += weight(k) * x.col(nodes[k]);
    return at;
  }
  void AddTo(double sign, uint32_t first_node, reference::Spring* spring) const {
    for (int k = 0; k < 4; ++k)
      spring->weights.push_back({first_node + nodes[k], sign * weight(k)});
  }
  void SetSide(AttachmentDesc* desc) const {
    std::copy(nodes, nodes + 4, desc->nodes);
    desc->weights = weights;
  }
};

/// Attaches; fails the test if that fails.
inline AttachmentId Attach(World* world, const AttachmentDesc& desc) {
  AttachmentId id;
  const Status status = world->Attach(desc, &id);
  CAPTURE(status.section, status.reason);
  REQUIRE(status.ok());
  return id;
}

inline Eigen::Vector3d ForceOf(const World& world, AttachmentId id) {
  Vec3 force;
  REQUIRE(world.AttachmentForce(id, &force).ok());
  return ToEigen(force);
}

/// The same law in the reference, without its points.
inline reference::Spring SpringOf(const AttachmentDesc& desc) {
  return {{},
          {0.0, 0.0, 0.0},
          double(desc.rest_length),
          double(desc.stiffness),
          double(desc.damping),
          double(desc.max_force)};
}

}  // namespace plush::test
