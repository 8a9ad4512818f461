// SPDX-License-Identifier: MIT
// Kelvin-Voigt damping resists changes of shape and nothing else.

#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace plush;
using namespace plush::test;

namespace damping_test {

constexpr float kStep = 0.01f;

tools::TetMesh Bar() { return TetBox(3, 2, 2, 0.2); }

BodyId AddDamped(const ShapeAsset& shape, float damping, World* world) {
  const BodyId id = AddBody(world, shape.asset(), {.material = {.damping = damping}});
  return id;
}

WorldDesc WithoutGravity() { return {.gravity = {}}; }

TEST_CASE("Damping slows neither a fall nor a turn") {
  const ShapeAsset shape(Bar(), {.young = 1.0e6});
  World world;
  BodyId ids[2];
  Eigen::Vector3d centres[2];
  double momenta[2] = {};  // after the motion, as a share of that before
  // The y axis through the centre is an axis of inertia, and gravity acts along it.
  const double omega = 1.0;
  const int steps = 100;
  const Points start = ToEigen(shape.rest());
  for (const int k : {0, 1}) {
    BodyDesc body = {.angular_velocity = {0.0f, static_cast<float>(omega), 0.0f},
                     .material = {.damping = k == 0 ? 0.0f : 0.1f}};
    ids[k] = AddBody(&world, shape.asset(), body);
  }
  const BodyMoments before = MomentsOf(world, ids[0]);
  const Eigen::Vector3d centre(before.centre[0], before.centre[1], before.centre[2]);
  const Eigen::Vector3d velocity =
      Eigen::Vector3d(before.linear_momentum[0], before.linear_momentum[1],
                      before.linear_momentum[2]) /
      before.mass;
  for (int i = 0; i < steps; ++i) REQUIRE(StepWorld(&world, kStep) == kStepOk);

  const double dt = double(kStep), angle = omega * dt * steps;
  const Eigen::Vector3d moved =
      velocity * (dt * steps) +
      Eigen::Vector3d(0.0, double(-9.81f), 0.0) * (0.5 * dt * dt * steps * (steps + 1));
  const Eigen::Matrix3d rotation =
      Eigen::AngleAxisd(angle, Eigen::Vector3d::UnitY()).toRotationMatrix();
  const Points rigid = (rotation * (start.colwise() - centre)).colwise() + (centre + moved).eval();
  for (const int k : {0, 1}) {
    CAPTURE(k);
    const BodyMoments after = MomentsOf(world, ids[k]);
    centres[k] = {after.centre[0], after.centre[1], after.centre[2]};
    momenta[k] = after.angular_momentum[1] / before.angular_momentum[1];
    const double miss = (centres[k] - centre - moved).norm();
    const Points x = ToEigen(PositionsOf(world, ids[k], shape.num_nodes()));
    const double apart = (x - rigid).colwise().norm().maxCoeff();
    CAPTURE(miss, moved.norm(), angle, apart, momenta[k]);
    CHECK(miss < 1e-5 * moved.norm());
    CHECK(std::fabs(1.0 - momenta[k]) < 5e-5);
    for (const int axis : {0, 2}) {
      CHECK(std::fabs(after.angular_momentum[axis]) < 1e-3 * before.angular_momentum[1]);
    }
    // Nodes lie up to 0.36 m from the axis; the body stretches by about density (omega r)^2 / young
    // = 1.3e-4.
    CHECK(apart < 1e-3);
  }
  CAPTURE(momenta[0], momenta[1]);
  CHECK((centres[0] - centres[1]).norm() < 1e-5 * moved.norm());
  CHECK(std::fabs(momenta[1] - momenta[0]) < 5e-5);
}

TEST_CASE("Damping takes nothing from a spinning body") {
  const ShapeAsset shape(Bar(), {.young = 1.0e6});
  World world(WithoutGravity());
  const MaterialOverride damped = {.damping = 0.1f};
  const BodyId spinning =
      AddBody(&world, shape.asset(), {.angular_velocity = {0.0f, 1.0f, 0.0f}, .material = damped});
  const double before = MomentsOf(world, spinning).angular_momentum[1];
  for (int i = 0; i < 100; ++i) StepWorld(&world, kStep);
  const double lost = 1.0 - MomentsOf(world, spinning).angular_momentum[1] / before;
  CHECK(std::fabs(lost) < 5e-5);
}

TEST_CASE("A stretched bar springs back past its rest length only if it is little damped") {
  const ShapeAsset shape(TetBox(3, 2, 2, 0.2));
  World world(WithoutGravity());
  const BodyId ids[3] = {AddDamped(shape, 0.0f, &world), AddDamped(shape, 0.02f, &world),
                         AddDamped(shape, 0.2f, &world)};
  std::vector<Vec3> stretched = PositionsOf(world, ids[0], shape.num_nodes());
  for (Vec3& x : stretched) x.x *= 1.1f;
  for (const BodyId id : ids) REQUIRE(world.SetNodePositions(id, stretched).ok());
  double shortest[3] = {1.0, 1.0, 1.0};
  for (int i = 0; i < 30; ++i) {
    StepWorld(&world, kStep);
    for (int k = 0; k < 3; ++k) {
      const Points x = ToEigen(PositionsOf(world, ids[k], shape.num_nodes()));
      const double length = x.row(0).maxCoeff() - x.row(0).minCoeff();
      shortest[k] = std::min(shortest[k], length / 0.6);
    }
  }
  CAPTURE(shortest[0], shortest[1], shortest[2]);
  CHECK(shortest[0] < 0.99);
  CHECK(shortest[1] > shortest[0]);
  CHECK(shortest[2] > 0.999);
  for (const BodyId id : ids) {
    const BodyMoments moments = MomentsOf(world, id);
    for (const double p : moments.linear_momentum) CHECK(std::fabs(p) < 1e-5 * moments.mass);
  }
}

TEST_CASE("Damping outside its range is refused") {
  const ShapeAsset shape(Bar());
  World world;
  for (const float damping : {10.5f, INFINITY, NAN}) {
    BodyId id;
    CHECK(world.AddBody(shape.asset(), {.material = {.damping = damping}}, &id).code ==
          StatusCode::kInvalidArgument);
  }
}

}  // namespace damping_test
