// SPDX-License-Identifier: MIT
// Constraints of the tests, and how far bodies are from what they ask for.
#pragma once

#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace plush::test {

/// Weights of points in a tet.
inline constexpr Vec4 kInside[3] = {
    {0.4f, 0.3f, 0.2f, 0.1f}, {0.1f, 0.2f, 0.1f, 0.6f}, {0.1f, 0.6f, 0.2f, 0.1f}};
inline constexpr Vec3 kTilted = {0.6f, 0.3f, -0.4f};

/// A bar of 20 nodes, 0.4 m long.
ShapeAsset Bar(double young = 1e5);

/// A constraint at a point of tet `tet` of the shape with these weights, at its place at rest times
/// `scale`.
ConstraintDesc ConstraintAt(const ShapeAsset& shape, BodyId body, size_t tet, const Vec4& weights,
                            ConstraintKind kind, const Vec3& direction = {0.0f, 1.0f, 0.0f},
                            float scale = 1.0f);

/// Adds a constraint; fails the test if that fails.
ConstraintId AddConstraint(World* world, const ConstraintDesc& desc);

Eigen::Vector3d ForceOf(const World& world, ConstraintId id);

/// The constraint's point, from nodes.
Eigen::Vector3d PointOf(const ConstraintDesc& desc, const Points& x);

/// The part of the way from the target to the point that must vanish [m].
Eigen::Vector3d DistanceOf(const ConstraintDesc& desc, const Points& x);

/// The rows C (rows x 3 num_nodes) of a constraint.
Eigen::MatrixXd RowsOf(const ConstraintDesc& desc, Eigen::Index num_nodes);

/// Constraints of a body: the first one's target moves.
struct Held {
  std::vector<ConstraintDesc> descs;
  std::vector<ConstraintId> ids;
  Vec3 start;

  void AddTo(World* world) {
    start = descs[0].target;
    for (const ConstraintDesc& desc : descs) ids.push_back(AddConstraint(world, desc));
  }
  void Move(World* world, int step, float far) {
    const float t = 0.05f * static_cast<float>(step + 1);
    descs[0].target = {start.x + far * std::sin(t), start.y + far * t,
                       start.z - far * std::sin(2.0f * t)};
    REQUIRE(world->MoveConstraint(ids[0], descs[0].target).ok());
  }
  double Farthest(const Points& x) const {
    double farthest = 0.0;
    for (const ConstraintDesc& desc : descs) {
      farthest = std::max(farthest, DistanceOf(desc, x).norm());
    }
    return farthest;
  }
};

enum class Set { kPendulum, kMixed, kOneTet };

Held MakeSet(Set set, const ShapeAsset& shape, BodyId body, float scale = 1.0f);

}  // namespace plush::test
