// SPDX-License-Identifier: MIT
#include "runtime/world/constraint_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>

namespace plush::test {
namespace {

// The projector on the held directions.
Eigen::Matrix3d HeldBy(const ConstraintDesc& desc) {
  const Eigen::Vector3d n = ToEigen(desc.direction).normalized();
  switch (desc.kind) {
    case ConstraintKind::kPlane:
      return n * n.transpose();
    case ConstraintKind::kLine:
      return Eigen::Matrix3d::Identity() - n * n.transpose();
    default:
      return Eigen::Matrix3d::Identity();
  }
}

double WeightOf(const ConstraintDesc& desc, int k) {
  const float weights[4] = {desc.weights.x, desc.weights.y, desc.weights.z, desc.weights.w};
  return double(weights[k]);
}

}  // namespace

ConstraintDesc ConstraintAt(const ShapeAsset& shape, BodyId body, size_t tet, const Vec4& weights,
                            ConstraintKind kind, const Vec3& direction, float scale) {
  ConstraintDesc desc = {.body = body, .weights = weights, .kind = kind, .direction = direction};
  const Tet& of = shape.simulation().tets[tet];
  const uint32_t nodes[4] = {of.a, of.b, of.c, of.d};
  std::copy(nodes, nodes + 4, desc.nodes);
  desc.target = ToVec3(double(scale) * PointOf(desc, ToEigen(shape.rest())));
  return desc;
}

ConstraintId AddConstraint(World* world, const ConstraintDesc& desc) {
  ConstraintId id;
  const Status status = world->AddConstraint(desc, &id);
  CAPTURE(status.section, status.reason);
  REQUIRE(status.ok());
  return id;
}

Eigen::Vector3d ForceOf(const World& world, ConstraintId id) {
  Vec3 force;
  REQUIRE(world.ConstraintForce(id, &force).ok());
  return ToEigen(force);
}

Eigen::Vector3d PointOf(const ConstraintDesc& desc, const Points& x) {
  Eigen::Vector3d at = Eigen::Vector3d::Zero();
  for (int k = 0; k < 4; ++k) at += WeightOf(desc, k) * x.col(desc.nodes[k]);
  return at;
}

Eigen::Vector3d DistanceOf(const ConstraintDesc& desc, const Points& x) {
  return HeldBy(desc) * (PointOf(desc, x) - ToEigen(desc.target));
}

Eigen::MatrixXd RowsOf(const ConstraintDesc& desc, Eigen::Index num_nodes) {
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> of(HeldBy(desc));
  const int count = desc.kind == ConstraintKind::kPoint  ? 3
                    : desc.kind == ConstraintKind::kLine ? 2
                                                         : 1;
  Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(count, 3 * num_nodes);
  for (int i = 0; i < count; ++i) {
    const Eigen::Vector3d direction = of.eigenvectors().col(2 - i);
    for (int k = 0; k < 4; ++k) {
      rows.block<1, 3>(i, 3 * desc.nodes[k]) += WeightOf(desc, k) * direction.transpose();
    }
  }
  return rows;
}

}  // namespace plush::test
