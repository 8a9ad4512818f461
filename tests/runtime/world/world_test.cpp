// SPDX-License-Identifier: MIT
// World's calls: what they accept, what they refuse, and what they leave behind.
#include "plush/world.h"

#include "plush/format/tet_block.h"

#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace plush;
using namespace plush::test;

namespace world_test {

constexpr float kDt = 0.01f;

ShapeAsset SmallShape() { return ShapeAsset(TetBox(2, 2, 1, 0.1, 0.05, 1), {}, double(kDt)); }

// Distance between the nodes of two bodies after they fell, hung by some pins.
double DistanceAfter(int steps, float dt, const Asset& asset_a, const BodyDesc& desc_a,
                     const Asset& asset_b, const BodyDesc& desc_b) {
  std::vector<Points> ends;
  for (const auto& [asset, desc] : {std::pair(&asset_a, &desc_a), std::pair(&asset_b, &desc_b)}) {
    World world;
    const BodyId id = AddBody(&world, *asset, *desc);
    for (int step = 0; step < steps; ++step) StepWorld(&world, dt);
    ends.push_back(ToEigen(PositionsOf(world, id, asset->simulation().nodes.size())));
  }
  return (ends[0] - ends[1]).cwiseAbs().maxCoeff();
}

TEST_CASE("An overridden number of a body of two materials replaces that of every tet") {
  const tools::TetMesh mesh = TetBox(2, 4, 2, 0.1, 0.05, 2);
  const auto bytes = [&mesh](const tools::Material& skin, const tools::Material& shoe) {
    tools::AssetContent content = TwoMaterialContentOf(mesh);
    content.materials = {{"skin", skin}, {"shoe", shoe}};
    tools::TetMaterials materials = {{skin, shoe}, content.tet_materials, content.damping};
    content.rest =
        tools::ComputeMixedRestData(mesh, materials, content.solid_volume, double(kDt)).value();
    return tools::WriteAsset(content).value();
  };
  const ShapeAsset mixed(bytes({1.0e5, 0.4, 1000.0}, {4.0e5, 0.3, 1500.0}));
  const std::vector<uint32_t> pins = {0, 1, 2, 3};
  BodyDesc as_baked = {.pinned_nodes = pins}, changed = as_baked;
  const auto distance_from = [&](const ShapeAsset& expected) {
    return DistanceAfter(30, kDt, mixed.asset(), changed, expected.asset(), as_baked);
  };
  SECTION("Young's modulus; Poisson's ratio stays that of the tet") {
    changed.material.young = 3.0e5f;
    CHECK(distance_from(ShapeAsset(bytes({3.0e5, 0.4, 1000.0}, {3.0e5, 0.3, 1500.0}))) < 5e-5);
    CHECK(distance_from(mixed) > 1e-3);
  }
  SECTION("Poisson's ratio; Young's modulus stays that of the tet") {
    changed.material.poisson = 0.1f;
    CHECK(distance_from(ShapeAsset(bytes({1.0e5, 0.1, 1000.0}, {4.0e5, 0.1, 1500.0}))) < 5e-5);
    CHECK(distance_from(mixed) > 1e-4);
  }
  SECTION("the mean density; the tets' densities keep their proportion") {
    const double mean = double{mixed.simulation().density};
    CHECK(mean > 1000.0);
    CHECK(mean < 1500.0);
    changed.material.density = static_cast<float>(0.5 * mean);
    CHECK(distance_from(ShapeAsset(bytes({1.0e5, 0.4, 500.0}, {4.0e5, 0.3, 750.0}))) < 5e-5);
    World world;
    const BodyId id = AddBody(&world, mixed.asset(), changed);
    CHECK(MomentsOf(world, id).mass == Approx(0.5 * mean * Volume(mesh)).epsilon(1e-5));
  }
}

TEST_CASE("Bodies of one asset move alike and share their factors") {
  const ShapeAsset shape = SmallShape();
  World world;
  const BodyId a = AddBody(&world, shape.asset()), b = AddBody(&world, shape.asset());
  const BodyId c = AddBody(&world, shape.asset(), {.material = {.young = 3.0e5f}});
  CHECK(world.num_bodies() == 3);
  Random random(4);
  const std::vector<Vec3> v = ToVec3s(random.Vectors(shape.num_nodes(), 2.0));
  for (const BodyId id : {a, b, c}) REQUIRE(world.SetNodeVelocities(id, v).ok());
  for (int step = 0; step < 10; ++step) StepWorld(&world, kDt);
  REQUIRE(world.RemoveBody(a).ok());  // what it shared must stay
  for (int step = 0; step < 10; ++step) StepWorld(&world, kDt);
  const auto positions = [&](BodyId id) {
    return ToEigen(PositionsOf(world, id, shape.num_nodes()));
  };
  World alone;
  const BodyId d = AddBody(&alone, shape.asset());
  REQUIRE(alone.SetNodeVelocities(d, v).ok());
  for (int step = 0; step < 20; ++step) StepWorld(&alone, kDt);
  CHECK((ToEigen(PositionsOf(alone, d, shape.num_nodes())) - positions(b)).norm() == 0.0);
  CHECK((positions(b) - positions(c)).norm() > 1e-3);
  CHECK(world.num_bodies() == 2);
}

TEST_CASE("Pins stay where they are") {
  const ShapeAsset shape = SmallShape();
  const std::span<const uint32_t> high = NodesOfRegion(shape.asset(), "high");
  REQUIRE(!high.empty());
  World world;
  BodyDesc body = {.velocity = {1.0f, 0.0f, 0.0f}, .pinned_nodes = high};
  const BodyId id = AddBody(&world, shape.asset(), body);
  BodyDesc free;
  const BodyId other = AddBody(&world, shape.asset(), free);
  const std::vector<Vec3> before = PositionsOf(world, id, shape.num_nodes());
  for (int step = 0; step < 50; ++step) StepWorld(&world, kDt);
  const std::vector<Vec3> after = PositionsOf(world, id, shape.num_nodes());
  const std::vector<Vec3> v = VelocitiesOf(world, id, shape.num_nodes());
  for (const uint32_t node : high) {
    CHECK((after[node].x == before[node].x && after[node].y == before[node].y));
    CHECK((v[node].x == 0.0f && v[node].y == 0.0f && v[node].z == 0.0f));
  }
  // The held body is near its position; the free one has fallen.
  CHECK((ToEigen(after) - ToEigen(before)).cwiseAbs().maxCoeff() < 0.05);
  CHECK(MomentsOf(world, other).centre[1] < -1.0);
}

TEST_CASE("A static body does not move or count, but is drawn") {
  const ShapeAsset shape = SmallShape();
  World world;
  BodyDesc body = {
      .pose = {.position = {0.0f, 2.0f, 0.0f}}, .velocity = {0.0f, -5.0f, 0.0f}, .fixed = true};
  const BodyId id = AddBody(&world, shape.asset(), body);
  AddPlane(&world, {});
  const uint64_t hash = world.StateHash();
  for (int step = 0; step < 5; ++step) CHECK(StepWorld(&world, kDt) == kStepOk);
  CHECK(world.StateHash() == hash);
  CHECK(MeasuresOf(world).kinetic_j == 0.0);
  std::vector<Vec3> positions(shape.asset().visual().positions.size());
  CHECK(world.Skin(id, 1.0f, TargetOf(positions, {})).ok());
}

TEST_CASE("Set states are what the next step starts from") {
  const ShapeAsset shape = SmallShape();
  World world({.gravity = {}});
  const BodyId id = AddBody(&world, shape.asset());
  const Eigen::Vector3d away(300.0, -20.0, 7.0);
  const Points x = ToEigen(shape.rest()).colwise() + away;
  REQUIRE(world.SetNodePositions(id, ToVec3s(x)).ok());
  REQUIRE(world.SetNodeVelocities(id, std::vector<Vec3>(shape.num_nodes(), Vec3{1, 0, 0})).ok());
  CHECK((ToEigen(PositionsOf(world, id, shape.num_nodes())) - x).cwiseAbs().maxCoeff() < 2e-5);
  for (int step = 0; step < 10; ++step) StepWorld(&world, kDt);
  const BodyMoments moments = MomentsOf(world, id);
  CHECK(moments.linear_momentum[0] == Approx(moments.mass).epsilon(1e-4));
  const Points moved = ToEigen(PositionsOf(world, id, shape.num_nodes()));
  CHECK((moved - x).row(0).mean() == Approx(0.1).epsilon(1e-3));
}

TEST_CASE("A body that is moved forgets what it touched and how it was strained") {
  const uint32_t seed = GENERATE(8u, 9u, 10u);
  const bool back_on_the_plane = GENERATE(false, true);
  CAPTURE(seed, back_on_the_plane);
  const ShapeAsset shape = SmallShape();
  Random random(seed);
  // Strained, and without speed.
  Points place = ToEigen(shape.rest()) + random.Vectors(shape.num_nodes(), 0.01);
  if (back_on_the_plane) {
    place.row(1) = ToEigen(shape.rest()).row(1);
  } else {
    place = (random.Rotation() * place).colwise() + Eigen::Vector3d(0.0, 2.0, 0.0);
  }
  std::vector<Points> ends;
  for (const bool with_past : {false, true}) {
    World world;
    AddPlane(&world, {});
    BodyDesc body;
    body.velocity.x = 2.0f;  // it slides
    const BodyId id = AddBody(&world, shape.asset(), body);
    for (int step = 0; with_past && step < 20; ++step) StepWorld(&world, kDt);
    if (with_past) REQUIRE(world.stats().contacts > 0);
    REQUIRE(world.SetNodePositions(id, ToVec3s(place)).ok());
    REQUIRE(world.SetNodeVelocities(id, std::vector<Vec3>(shape.num_nodes())).ok());
    for (int step = 0; step < 3; ++step) {
      StepWorld(&world, kDt);
      CHECK((world.stats().contacts > 0) == back_on_the_plane);
      ends.push_back(ToEigen(PositionsOf(world, id, shape.num_nodes())));
    }
  }
  for (size_t step = 0; step < 3; ++step) {
    CAPTURE(step);
    // Sweeps end once they move points by less than 1e-6 m. For a few of 100 seeds, rounding makes
    // one end earlier.
    CHECK((ends[step] - ends[step + 3]).cwiseAbs().maxCoeff() < 1e-5);
  }
}

TEST_CASE("A body put back from far away is as good as new") {
  const float far = GENERATE(-1.0e5f, 1.0e7f, 9.0e8f);
  const bool in_crowd = GENERATE(false, true);
  CAPTURE(far, in_crowd);
  const ShapeAsset shape = SmallShape();
  World world({.gravity = {}});
  BodyDesc body = {.pose = {.position = {.y = far}}};
  BodyId id;
  for (int i = 0; i < (in_crowd ? 8 : 1); ++i) id = AddBody(&world, shape.asset(), body);
  StepWorld(&world, kDt);
  REQUIRE(world.SetNodePositions(id, shape.rest()).ok());
  REQUIRE(world.SetNodeVelocities(id, std::vector<Vec3>(shape.num_nodes())).ok());
  const Points rest = ToEigen(shape.rest());
  CHECK((ToEigen(PositionsOf(world, id, shape.num_nodes())) - rest).cwiseAbs().maxCoeff() < 1e-7);
  StepWorld(&world, kDt);
  CHECK(ToEigen(VelocitiesOf(world, id, shape.num_nodes())).cwiseAbs().maxCoeff() < 1e-4);
}

TEST_CASE("Positions out of range are refused, good ones revive a frozen body") {
  const ShapeAsset shape = SmallShape();
  World world({.gravity = {}});
  const bool in_crowd = GENERATE(false, true);
  CAPTURE(in_crowd);
  const BodyId id = AddBody(&world, shape.asset());
  for (int i = 0; i < 7 && in_crowd; ++i) AddBody(&world, shape.asset());
  const uint64_t hash = world.StateHash();
  for (const float wrong : {3.0e38f, -3.0e38f, 1.001f * kMostCoordinate}) {
    for (const size_t node : {size_t{0}, size_t{5}}) {
      std::vector<Vec3> x = shape.rest();
      x[node].z = wrong;
      CHECK(world.SetNodePositions(id, x).index == node);
    }
    BodyDesc body = {.pose = {.position = {.x = wrong}}};
    BodyId refused;
    const Status status = world.AddBody(shape.asset(), body, &refused);
    CHECK_FALSE(refused.valid());
    CHECK(status.section == std::string("pose.position"));
  }
  CHECK(world.StateHash() == hash);

  std::vector<Vec3> v(shape.num_nodes());
  for (size_t i = 0; i < v.size(); ++i) v[i].y = i % 2 == 0 ? 3.0e38f : -3.0e38f;
  REQUIRE(world.SetNodeVelocities(id, v).ok());
  uint32_t flags = 0;
  for (int step = 0; step < 20; ++step) flags |= StepWorld(&world, kDt);
  REQUIRE(flags == kStepBodyFrozen);
  Random random(6);
  const Points turned = random.Rotation() * ToEigen(shape.rest());
  REQUIRE(world.SetNodePositions(id, ToVec3s(turned)).ok());
  std::vector<Vec3> along(shape.num_nodes(), Vec3{1.0f, 0.0f, 0.0f});
  REQUIRE(world.SetNodeVelocities(id, along).ok());
  for (int step = 0; step < 10; ++step) REQUIRE(StepWorld(&world, kDt) == kStepOk);
  const Points moved = ToEigen(PositionsOf(world, id, shape.num_nodes())) - turned;
  CHECK((moved.colwise() - Eigen::Vector3d(0.1, 0.0, 0.0)).cwiseAbs().maxCoeff() < 1e-5);

  // It leaves nothing in its lane either.
  REQUIRE(world.SetNodeVelocities(id, v).ok());
  flags = 0;
  for (int step = 0; step < 20; ++step) flags |= StepWorld(&world, kDt);
  REQUIRE(flags == kStepBodyFrozen);
  REQUIRE(world.RemoveBody(id).ok());
  const BodyId heir = AddBody(&world, shape.asset(), {.velocity = {.x = 1.0f}});
  for (int step = 0; step < 10; ++step) REQUIRE(StepWorld(&world, kDt) == kStepOk);
  const Points went = ToEigen(PositionsOf(world, heir, shape.num_nodes())) - ToEigen(shape.rest());
  CHECK((went.colwise() - Eigen::Vector3d(0.1, 0.0, 0.0)).cwiseAbs().maxCoeff() < 1e-5);
}

TEST_CASE("A state that is no number freezes its body and no other") {
  const ShapeAsset shape = SmallShape();
  World world;
  AddPlane(&world, {{0, 1, 0}, -1.0f});
  const BodyId wild = AddBody(&world, shape.asset()), tame = AddBody(&world, shape.asset());
  std::vector<Vec3> v(shape.num_nodes());
  for (size_t i = 0; i < v.size(); ++i) v[i].y = i % 2 == 0 ? 3.0e37f : -3.0e37f;
  REQUIRE(world.SetNodeVelocities(wild, v).ok());
  uint32_t flags = 0;
  int frozen_in = 0;
  for (int step = 0; step < 20; ++step) {
    const uint32_t now = StepWorld(&world, kDt);
    frozen_in += (now & kStepBodyFrozen) != 0 ? 1 : 0;
    flags |= now;
    for (const Vec3& x : PositionsOf(world, wild, shape.num_nodes())) {
      REQUIRE((std::isfinite(x.x) && std::isfinite(x.y) && std::isfinite(x.z)));
    }
    for (const Vec3& velocity : VelocitiesOf(world, wild, shape.num_nodes())) {
      REQUIRE((std::isfinite(velocity.x) && std::isfinite(velocity.y)));
    }
  }
  CHECK(flags == kStepBodyFrozen);
  CHECK(frozen_in == 1);
  const std::vector<Vec3> still = PositionsOf(world, wild, shape.num_nodes());
  StepWorld(&world, kDt);
  CHECK((ToEigen(PositionsOf(world, wild, shape.num_nodes())) - ToEigen(still)).norm() == 0.0);
  CHECK(MomentsOf(world, tame).centre[1] < -0.1);
  CHECK(world.num_bodies() == 2);
}

TEST_CASE("A body that leaves the range of float freezes where it last was") {
  const ShapeAsset shape = SmallShape();
  World world;
  const BodyId id = AddBody(&world, shape.asset(), {.velocity = {3.0e38f, 0.0f, 0.0f}});
  uint32_t flags = 0;
  for (int step = 0; step < 300; ++step) {
    flags |= StepWorld(&world, kDt);
    for (const Vec3& x : PositionsOf(world, id, shape.num_nodes())) REQUIRE(std::isfinite(x.x));
  }
  CHECK(flags == kStepBodyFrozen);
}

TEST_CASE("The state hash sees every bit of positions and velocities") {
  const ShapeAsset shape(TetBox(1, 1, 1, 0.1));
  World world;
  const BodyId id = AddBody(&world, shape.asset());
  const std::vector<Vec3> x = PositionsOf(world, id, shape.num_nodes());
  const std::vector<Vec3> v(x.size(), Vec3{1.0f, 2.0f, 3.0f});
  REQUIRE(world.SetNodePositions(id, x).ok());
  REQUIRE(world.SetNodeVelocities(id, v).ok());
  const uint64_t hash = world.StateHash();
  for (size_t i = 0; i < x.size(); ++i) {
    for (float Vec3::*axis : {&Vec3::x, &Vec3::y, &Vec3::z}) {
      std::vector<Vec3> changed = x;
      changed[i].*axis = std::nextafterf(changed[i].*axis, 1.0f);
      REQUIRE(world.SetNodePositions(id, changed).ok());
      CHECK(world.StateHash() != hash);
      REQUIRE(world.SetNodePositions(id, x).ok());
      changed = v;
      changed[i].*axis = std::nextafterf(changed[i].*axis, 9.0f);
      REQUIRE(world.SetNodeVelocities(id, changed).ok());
      CHECK(world.StateHash() != hash);
      REQUIRE(world.SetNodeVelocities(id, v).ok());
    }
  }
  CHECK(world.StateHash() == hash);
  // Order matters: swapping two bodies changes the hash.
  const auto hash_of = [&](float first, float second) {
    World pair;
    for (const float height : {first, second}) {
      AddBody(&pair, shape.asset(), {.pose = {.position = {.y = height}}});
    }
    return pair.StateHash();
  };
  CHECK(hash_of(1.0f, 2.0f) != hash_of(2.0f, 1.0f));
  CHECK(hash_of(1.0f, 2.0f) == hash_of(1.0f, 2.0f));
}

}  // namespace world_test
