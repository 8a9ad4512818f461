// SPDX-License-Identifier: MIT
// Kelvin-Voigt damping resists changes of shape and nothing else.
#include "plush/format/tet_block.h"

#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace plush;
using namespace plush::test;

namespace {

constexpr float kStep = 0.01f;

tools::TetMesh Bar() { return TetBox(3, 2, 2, 0.2); }

BodyId AddDamped(const ShapeAsset& shape, float damping, World* world) {
  const BodyId id = AddBody(world, shape.asset(), {.material = {.damping = damping}});
  return id;
}

WorldDesc WithoutGravity() { return {.gravity = {}}; }

}  // namespace

TEST_CASE("Damping does not change free fall") {
  const ShapeAsset shape(Bar());
  World world;
  const BodyId damped = AddDamped(shape, 0.1f, &world);
  const BodyId undamped = AddDamped(shape, 0.0f, &world);
  for (int i = 0; i < 50; ++i) StepWorld(&world, kStep);
  const double fallen = MomentsOf(world, undamped).centre[1];
  CHECK(MomentsOf(world, damped).centre[1] == Approx(fallen).epsilon(1e-5));
}

TEST_CASE("Damping takes no more from a spinning body than the integrator does") {
  const ShapeAsset shape(Bar(), {.young = 1.0e6});
  World world(WithoutGravity());
  const MaterialOverride damped = {.damping = 0.1f};
  const BodyId spinning =
      AddBody(&world, shape.asset(), {.angular_velocity = {0.0f, 1.0f, 0.0f}, .material = damped});
  const double before = MomentsOf(world, spinning).angular_momentum[1];
  for (int i = 0; i < 100; ++i) StepWorld(&world, kStep);
  const double lost = 1.0 - MomentsOf(world, spinning).angular_momentum[1] / before;
  // Backward Euler alone loses (omega dt)^2 = 1e-4 a step.
  CHECK(lost == Approx(1.0 - std::pow(1.0 - 1.0e-4, 100)).epsilon(0.01));
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

TEST_CASE("A baked damping and one set on the body are the same") {
  const tools::Material material = {.young = 1.0e5, .damping = 0.05};
  const ShapeAsset baked(Bar(), material);
  const ShapeAsset plain(Bar());
  CHECK(baked.simulation().damping == 0.05f);
  World world;
  REQUIRE(world.AddPlane({.offset = -0.1f}).ok());
  const BodyId a = AddBody(&world, baked.asset());
  const BodyId b = AddDamped(plain, 0.05f, &world);
  for (int i = 0; i < 60; ++i) StepWorld(&world, kStep);
  const Points x = ToEigen(PositionsOf(world, a, baked.num_nodes()));
  const Points y = ToEigen(PositionsOf(world, b, plain.num_nodes()));
  CHECK((x - y).cwiseAbs().maxCoeff() < 1e-5);
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
