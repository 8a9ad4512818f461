// SPDX-License-Identifier: MIT
// Constraints of the tests, and how far bodies are from what they ask for.
#pragma once

#include "runtime/tet_fixtures.h"

#include <vector>

namespace plush::test {

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

}  // namespace plush::test
