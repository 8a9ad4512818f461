// SPDX-License-Identifier: MIT
#include "runtime/attachments/constraint_scene.h"

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

ShapeAsset Bar(double young) {
  return ShapeAsset(TetBox(4, 1, 1, 0.1, 0.0, 1), {young, 0.3, 1000.0}, 0.01);
}

Held MakeSet(Set set, const ShapeAsset& shape, BodyId body, float scale) {
  const size_t last = shape.simulation().tets.size() - 1;
  const auto at = [&](size_t tet, int inside, ConstraintKind kind, const Vec3& direction) {
    return ConstraintAt(shape, body, tet, kInside[inside], kind, direction, scale);
  };
  Held held = {.descs = {at(0, 0, ConstraintKind::kPoint, {})}};
  if (set == Set::kMixed) {
    held.descs.push_back(at(last, 1, ConstraintKind::kLine, kTilted));
    held.descs.push_back(at(last / 2, 2, ConstraintKind::kPlane, kTilted));
    // A single node on a vertical line.
    ConstraintDesc node = at(last / 2, 0, ConstraintKind::kLine, {0.0f, 2.0f, 0.0f});
    node.weights = {1.0f, 0.0f, 0.0f, 0.0f};
    node.target = ToVec3(double(scale) * ToEigen(shape.rest()).col(node.nodes[0]));
    held.descs.push_back(node);
  }
  if (set == Set::kOneTet) {
    held.descs.push_back(at(0, 1, ConstraintKind::kLine, {1.0f, 0.0f, 0.0f}));
    held.descs.push_back(at(0, 2, ConstraintKind::kPlane, {0.0f, 1.0f, 0.0f}));
    held.descs.push_back(held.descs[1]);
    held.descs.push_back(held.descs[2]);
  }
  return held;
}

}  // namespace plush::test
