// SPDX-License-Identifier: MIT
#include "runtime/colliders/plane_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>

namespace plush::test {

ColliderId AddCollider(World* world, const ColliderDesc& desc) {
  ColliderId id;
  const Status status = world->AddCollider(desc, &id);
  if (!status.ok()) FAIL(status.section << " " << status.reason);
  return id;
}

ColliderDesc DescOf(const World& world, ColliderId id) {
  ColliderDesc desc;
  REQUIRE(world.GetCollider(id, &desc).ok());
  return desc;
}

Quat TurnOf(double angle, const Eigen::Vector3d& axis) {
  return ToQuat(Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix());
}

BoxOnPlane::BoxOnPlane(const WorldDesc& desc, const ColliderDesc& collider,
                       const BodyDesc& body_desc)
    : shape(TetBox(2, 2, 2, 0.1), {2.0e5, 0.4, 1000.0, 0.1}, double(kDt)), world(desc) {
  plane = AddCollider(&world, collider);
  body = AddBody(&world, shape.asset(), body_desc);
}

void BoxOnPlane::Step(int steps) {
  for (int step = 0; step < steps; ++step) StepWorld(&world, kDt);
}

void BoxOnPlane::FallAsleep() {
  int steps = 0;
  for (; steps < 2000 && !world.IsAsleep(body); ++steps) StepWorld(&world, kDt);
  REQUIRE(steps < 2000);
}

Eigen::Vector3d BoxOnPlane::MeanPosition() const { return ToEigen(positions()).rowwise().mean(); }
Eigen::Vector3d BoxOnPlane::MeanVelocity() const { return ToEigen(velocities()).rowwise().mean(); }

double BoxOnPlane::Gap() const {
  const ColliderDesc desc = DescOf(world, plane);
  const Eigen::Vector3d n = RotationOf(desc.pose.rotation) * ToEigen(desc.plane.normal);
  double gap = std::numeric_limits<double>::infinity();
  for (const Vec3& x : positions()) {
    gap = std::min(gap, n.dot(ToEigen(x) - ToEigen(desc.pose.position)));
  }
  return gap - double(desc.plane.offset);
}

}  // namespace plush::test
