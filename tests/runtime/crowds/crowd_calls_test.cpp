// SPDX-License-Identifier: MIT
// World's calls on bodies that step in crowds have the same effect as on bodies alone.
#include "runtime/collision/surface_fixtures.h"
#include "runtime/crowds/crowd_scene.h"
#include "runtime/state/state_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

using namespace plush;
using namespace plush::test;

namespace crowd_calls_test {

constexpr float kDt = 0.01f;
constexpr double kTolerance = 1e-4;

const ShapeAsset& Bumpy() {
  static const ShapeAsset* const shape =
      new ShapeAsset(SurfaceBytes(TetBox(3, 2, 2, 0.1, 0.05, 7), {.parts = 5}));
  return *shape;
}

const PlaneShape kFarBelow = {{0.0f, 1.0f, 0.0f}, -100.0f};

double Apart(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  return (ToEigen(a) - ToEigen(b)).colwise().norm().maxCoeff();
}

double Longest(const std::vector<Vec3>& v) { return ToEigen(v).colwise().norm().maxCoeff(); }

// The same bodies together in one world and each in its own. Every call is made on both.
class Twins {
 public:
  explicit Twins(uint32_t seed) : random(seed) {
    AddPlane(&together, kFarBelow);
    for (int i = 0; i < 20; ++i) {
      Member member =
          RandomMember(Bumpy(), {2.0f * static_cast<float>(i), 0.0f, 0.0f}, 0.5, &random);
      if (i >= 14) member.pins = RandomPins(Bumpy().num_nodes(), 3, &random);
      pinned.push_back(!member.pins.empty());
      ids.push_back(member.AddTo(&together, Bumpy().asset()));
      alone.push_back(std::make_unique<World>());
      AddPlane(alone.back().get(), kFarBelow);
      alone_ids.push_back(member.AddTo(alone.back().get(), Bumpy().asset()));
    }
  }

  void Step(int steps) {
    for (int step = 0; step < steps; ++step) {
      REQUIRE(StepWorld(&together, kDt) == kStepOk);
      REQUIRE(HadCrowds(together));
      for (auto& world : alone) REQUIRE(StepWorld(world.get(), kDt) == kStepOk);
    }
  }

  // Compares everything that World reports about a body.
  void Compare(size_t i) {
    CAPTURE(i);
    const size_t num_nodes = Bumpy().num_nodes();
    const World& one = *alone[i];
    const std::vector<Vec3> x = PositionsOf(one, alone_ids[i], num_nodes);
    REQUIRE(Apart(PositionsOf(together, ids[i], num_nodes), x) < kTolerance);
    REQUIRE(Apart(VelocitiesOf(together, ids[i], num_nodes),
                  VelocitiesOf(one, alone_ids[i], num_nodes)) < 100 * kTolerance);
    const size_t num_vertices = Bumpy().asset().visual().positions.size();
    std::vector<Vec3> skin[2], normals[2], forces[2];
    BodyMoments moments[2];
    Pose poses[2];
    SurfacePoint nearest[2], hit[2];
    const BodyMoments place = MomentsOf(one, alone_ids[i]);
    const Vec3 aside = {static_cast<float>(place.centre[0]) + 0.5f,
                        static_cast<float>(place.centre[1]) + 1.0f,
                        static_cast<float>(place.centre[2])};
    for (const int k : {0, 1}) {
      const World& world = k == 0 ? together : one;
      const BodyId id = k == 0 ? ids[i] : alone_ids[i];
      skin[k].resize(num_vertices);
      normals[k].resize(num_vertices);
      forces[k].resize(num_nodes);
      REQUIRE(world.Skin(id, 1.0f, TargetOf(skin[k], normals[k])).ok());
      REQUIRE(world.ElasticForces(id, forces[k]).ok());
      REQUIRE(world.Moments(id, &moments[k]).ok());
      REQUIRE(world.BestFitPose(id, &poses[k]).ok());
      const BodyMoments& m = moments[k];
      const Vec3 above = {static_cast<float>(m.centre[0]), 1.0e3f, static_cast<float>(m.centre[2])};
      REQUIRE(world.ClosestPoint(id, aside, 1.0e9f, &nearest[k]).ok());
      REQUIRE(world.Raycast(id, {.origin = above, .direction = {0.0f, -1.0f, 0.0f}}, &hit[k]).ok());
    }
    CHECK(Apart(skin[0], skin[1]) < kTolerance);
    CHECK(Apart(normals[0], normals[1]) < 100 * kTolerance);
    CHECK(Apart(forces[0], forces[1]) < 0.02 * Longest(forces[1]) + 0.01);
    CHECK(std::fabs(moments[0].volume / moments[1].volume - 1.0) < 1e-3);
    CHECK(std::fabs(moments[0].elastic_j - moments[1].elastic_j) <
          0.01 * (moments[1].elastic_j + moments[1].kinetic_j));
    for (int axis = 0; axis < 3; ++axis) {
      CHECK(std::fabs(moments[0].centre[axis] - moments[1].centre[axis]) < kTolerance);
      CHECK(std::fabs(moments[0].linear_momentum[axis] - moments[1].linear_momentum[axis]) <
            100 * kTolerance * moments[1].mass);
    }
    CHECK(AngleBetween(RotationOf(poses[0].rotation), RotationOf(poses[1].rotation)) < 1e-3);
    REQUIRE((hit[0].valid() && hit[1].valid()));
    CHECK(std::fabs(hit[0].distance - hit[1].distance) < 1e-3f);
    CHECK(hit[0].body.value == ids[i].value);
    REQUIRE((nearest[0].valid() && nearest[1].valid()));
    CHECK(nearest[0].body.value == ids[i].value);
    // Surface points lie as near to each other as the nodes do, and so do distances to a surface.
    // World coordinates up to 64 m round to 4e-6 m.
    const double near = kTolerance + 1e-5;
    CHECK(std::fabs(nearest[0].distance - nearest[1].distance) < near);
    CHECK((ToEigen(nearest[0].position) - ToEigen(aside)).norm() ==
          Approx(nearest[0].distance).margin(1e-5));
    // Two points may be equally near, so not the points are compared, but one with the other's
    // surface.
    SurfacePoint same, any;
    REQUIRE(one.ClosestPoint(nearest[0].position, 1.0f, {}, &same).ok());
    REQUIRE(same.valid());
    CHECK(same.distance < near);
    // The nearest of all bodies is at most as far.
    REQUIRE(together.ClosestPoint(aside, 1.0e9f, {}, &any).ok());
    REQUIRE(any.valid());
    CHECK(any.distance <= nearest[0].distance);
  }

  Random random;
  World together;
  std::vector<std::unique_ptr<World>> alone;
  std::vector<BodyId> ids, alone_ids;
  std::vector<bool> pinned;
};

TEST_CASE("Bodies in lanes report the same as bodies alone") {
  const uint32_t seed = GENERATE(1u, 2u);
  CAPTURE(seed);
  Twins twins(seed);
  for (size_t i = 0; i < twins.ids.size(); ++i) twins.Compare(i);
  for (int part = 0; part < 4; ++part) {
    twins.Step(5);
    for (size_t i = 0; i < twins.ids.size(); ++i) twins.Compare(i);
  }
}

TEST_CASE("Bodies in lanes can be moved, kicked and taken out while others go on") {
  const uint32_t seed = GENERATE(3u, 4u);
  CAPTURE(seed);
  Twins twins(seed);
  const size_t num_nodes = Bumpy().num_nodes();
  std::vector<size_t> rest;
  for (size_t i = 0; i < twins.ids.size(); ++i) rest.push_back(i);
  for (int part = 0; part < 8; ++part) {
    CAPTURE(part);
    twins.Step(4);
    const size_t i = rest[twins.random.Below(static_cast<uint32_t>(rest.size()))];
    CAPTURE(i);
    if (part % 4 == 0) {
      Points x = ToEigen(PositionsOf(*twins.alone[i], twins.alone_ids[i], num_nodes));
      x = twins.random.Rotation(0.3) * x + twins.random.Vectors(num_nodes, 0.005);
      x.colwise() += twins.random.Vector(0.3);
      REQUIRE(twins.together.SetNodePositions(twins.ids[i], ToVec3s(x)).ok());
      REQUIRE(twins.alone[i]->SetNodePositions(twins.alone_ids[i], ToVec3s(x)).ok());
    } else if (part % 4 == 1) {
      const std::vector<Vec3> v = ToVec3s(twins.random.Vectors(num_nodes, 1.0));
      REQUIRE(twins.together.SetNodeVelocities(twins.ids[i], v).ok());
      REQUIRE(twins.alone[i]->SetNodeVelocities(twins.alone_ids[i], v).ok());
    } else if (part % 4 == 2) {
      REQUIRE(twins.together.RemoveBody(twins.ids[i]).ok());
      rest.erase(std::find(rest.begin(), rest.end(), i));
      CHECK(twins.together.num_bodies() == rest.size());
      std::vector<Vec3> x(num_nodes);
      CHECK(!twins.together.NodePositions(twins.ids[i], 1.0f, x).ok());
    } else {
      // A new body takes the free lane.
      Member member =
          RandomMember(Bumpy(), {0.0f, 0.0f, 5.0f + static_cast<float>(part)}, 0.5, &twins.random);
      rest.push_back(twins.ids.size());
      twins.ids.push_back(member.AddTo(&twins.together, Bumpy().asset()));
      twins.alone.push_back(std::make_unique<World>());
      AddPlane(twins.alone.back().get(), kFarBelow);
      twins.alone_ids.push_back(member.AddTo(twins.alone.back().get(), Bumpy().asset()));
    }
    for (const size_t k : rest) twins.Compare(k);
  }
}

TEST_CASE("A body set as it was in its lane starts from rest as a new one does") {
  Twins twins(5);
  twins.Step(10);
  const size_t num_nodes = Bumpy().num_nodes();
  for (const size_t i : {size_t{2}, size_t{15}}) {
    const std::vector<Vec3> rest = Bumpy().rest();
    const std::vector<Vec3> still(num_nodes);
    REQUIRE(twins.together.SetNodePositions(twins.ids[i], rest).ok());
    REQUIRE(twins.together.SetNodeVelocities(twins.ids[i], still).ok());
    std::vector<Vec3> forces(num_nodes);
    REQUIRE(twins.together.ElasticForces(twins.ids[i], forces).ok());
    CHECK(Longest(forces) < 0.05);
    CHECK(MomentsOf(twins.together, twins.ids[i]).elastic_j < 1e-6);
  }
}

TEST_CASE("Bodies in lanes keep their precision far from the origin") {
  World near, far;
  Random random(12);
  constexpr float kFar = 4096.0f;
  std::vector<BodyId> ids;
  const ShapeAsset& shape = Bumpy();
  for (int i = 0; i < 10; ++i) {
    Member member = RandomMember(shape, {2.0f * static_cast<float>(i), 0.0f, 0.0f}, 0.5, &random);
    member.velocity.x = 30.0f;  // makes the origin follow
    ids.push_back(member.AddTo(&near, shape.asset()));
    member.pose.position.x += kFar;
    REQUIRE(member.AddTo(&far, shape.asset()).value == ids.back().value);
  }
  for (int step = 0; step < 60; ++step) {
    REQUIRE(StepWorld(&near, kDt) == kStepOk);
    REQUIRE(StepWorld(&far, kDt) == kStepOk);
  }
  for (const BodyId id : ids) {
    // At that distance world positions round to 2^-11 m; velocities do not.
    CHECK(Apart(VelocitiesOf(near, id, shape.num_nodes()),
                VelocitiesOf(far, id, shape.num_nodes())) < 1e-4);
    CHECK(MomentsOf(far, id).centre[0] - MomentsOf(near, id).centre[0] ==
          Approx(kFar).margin(1e-4));
  }
}

TEST_CASE("Bodies of different settings step in crowds of their own") {
  const ShapeAsset& shape = Bumpy();
  const size_t num_nodes = shape.num_nodes();
  const SplittingSettings exact = {.outer_iterations = 5, .polar_iterations = 9};
  const SplittingSettings sweeping = {.outer_iterations = 1, .volume_sweeps = 2};
  World mixed, alike[2];
  for (World* world : {&mixed, &alike[0], &alike[1]}) AddPlane(world, kFarBelow);
  Random random(21);
  std::vector<BodyId> ids, alike_ids;
  for (int i = 0; i < 24; ++i) {
    const Member member =
        RandomMember(shape, {2.0f * static_cast<float>(i), 0.0f, 0.0f}, 0.5, &random);
    const SplittingSettings& splitting = i % 2 == 0 ? exact : sweeping;
    ids.push_back(member.AddTo(&mixed, shape.asset(), splitting));
    alike_ids.push_back(member.AddTo(&alike[i % 2], shape.asset(), splitting));
  }
  const auto compare = [&](int steps) {
    for (int step = 0; step < steps; ++step) {
      for (World* world : {&mixed, &alike[0], &alike[1]}) {
        REQUIRE(StepWorld(world, kDt) == kStepOk);
        REQUIRE(HadCrowds(*world));
        // No body steps by itself.
        REQUIRE(world->stats().phase_s[static_cast<size_t>(Phase::kContact)] == 0.0f);
      }
    }
    for (size_t i = 0; i < ids.size(); ++i) {
      CAPTURE(i);
      REQUIRE(StateOf(mixed, ids[i], num_nodes) == StateOf(alike[i % 2], alike_ids[i], num_nodes));
    }
  };
  compare(20);
  CHECK(mixed.stats().outer_iterations == 5);
  // Two change to the other kind, and one of them back.
  for (const size_t i : {4u, 10u}) REQUIRE(mixed.SetSplitting(ids[i], sweeping).ok());
  for (int step = 0; step < 10; ++step) REQUIRE(StepWorld(&mixed, kDt) == kStepOk);
  REQUIRE(mixed.SetSplitting(ids[4], exact).ok());
  // What joins later finds the crowd of its kind.
  Random later(22);
  for (const SplittingSettings& splitting : {sweeping, exact}) {
    RandomMember(shape, {-5.0f, 0.0f, 0.0f}, 0.5, &later).AddTo(&mixed, shape.asset(), splitting);
  }
  for (int step = 0; step < 10; ++step) {
    REQUIRE(StepWorld(&mixed, kDt) == kStepOk);
    CHECK(mixed.stats().phase_s[static_cast<size_t>(Phase::kContact)] == 0.0f);
  }
}

}  // namespace crowd_calls_test
