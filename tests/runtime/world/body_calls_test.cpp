// SPDX-License-Identifier: MIT
// Enumeration, user data, reading settings back, boxes, gravity factors, largest speeds; and
// hostile arguments.
#include "plush/collision.h"
#include "plush/format/cdg_records.h"

#include "base/vector_math.h"
#include "runtime/crowds/crowd_scene.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace body_calls_test {

constexpr float kDt = 0.01f;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST_CASE("Bodies are listed in the order of slots, as many as fit") {
  const ShapeAsset shape(TetBox(1, 1, 1, 0.1), {}, double(kDt));
  World world({.tag = 9});
  std::vector<BodyId> ids;
  for (int i = 0; i < 70; ++i) ids.push_back(AddBody(&world, shape.asset()));
  uint32_t count = 7;
  BodyId found[100];
  REQUIRE(world.Bodies({}, &count).ok());
  CHECK(count == 70);
  for (const size_t i : {size_t{0}, size_t{3}, size_t{69}}) {
    CHECK(world.IsValid(ids[i]));
    REQUIRE(world.RemoveBody(ids[i]).ok());
    CHECK_FALSE(world.IsValid(ids[i]));
  }
  const BodyId again =
      AddBody(&world, shape.asset(), {.enabled = false});  // in slot 0 or a new one
  REQUIRE(world.Bodies(found, &count).ok());
  REQUIRE(count == 68);
  const auto slot = [](BodyId id) { return id.value & 0xffffffu; };
  for (uint32_t i = 1; i < count; ++i) CHECK(slot(found[i - 1]) < slot(found[i]));
  uint32_t known = 0;
  for (uint32_t i = 0; i < count; ++i) {
    CHECK(world.IsValid(found[i]));
    known += found[i] == again || found[i] == ids[1] || found[i] == ids[68] ? 1 : 0;
  }
  CHECK(known == 3);
  BodyId few[3] = {{1}, {1}, {1}};
  REQUIRE(world.Bodies(std::span<BodyId>(few, 2), &count).ok());
  CHECK(count == 68);
  CHECK(few[0] == found[0]);
  CHECK(few[1] == found[1]);
  CHECK(few[2].value == 1);
  CHECK(world.Bodies(found, nullptr).section == std::string("output"));
  CHECK_FALSE(world.IsValid(BodyId{}));
  CHECK_FALSE(world.IsValid(BodyId{77}));
  World other({.tag = 10});
  CHECK_FALSE(other.IsValid(found[0]));
}

TEST_CASE("User data and settings are kept with the body") {
  const ShapeAsset shape(TetBox(1, 1, 1, 0.1), {}, double(kDt));
  World world;
  const BodyId a = AddBody(&world, shape.asset(), {.user_data = 0x123456789abcdef0u});
  const BodyId b = AddBody(&world, shape.asset());
  uint64_t data = 1;
  REQUIRE(world.GetUserData(a, &data).ok());
  CHECK(data == 0x123456789abcdef0u);
  REQUIRE(world.GetUserData(b, &data).ok());
  CHECK(data == 0);
  REQUIRE(world.SetUserData(b, ~uint64_t{0}).ok());
  REQUIRE(world.GetUserData(b, &data).ok());
  CHECK(data == ~uint64_t{0});
  CHECK(world.GetUserData(a, nullptr).section == std::string("output"));
}

TEST_CASE("What the game set on a body reads back") {
  const ShapeAsset shape(TetBox(2, 1, 1, 0.1), {1.0e5, 0.3, 900.0, 0.02}, double(kDt));
  World world;
  const uint32_t pins[] = {7, 2, 5, 2};
  const BodyId set = AddBody(&world, shape.asset(),
                             {.scale = 1.5f,
                              .material = {2.0e5f, 0.4f, 700.0f, 0.0f},
                              .pinned_nodes = pins,
                              .gravity_factor = -0.5f,
                              .max_speed = 12.0f});
  const BodyId baked = AddBody(&world, shape.asset());
  const BodyId fixed = AddBody(&world, shape.asset(), {.fixed = true});
  float scale = 0.0f, factor = 0.0f, max_speed = 0.0f;
  MaterialOverride material;
  const auto read = [&](BodyId id) {
    REQUIRE(world.GetScale(id, &scale).ok());
    REQUIRE(world.GetGravityFactor(id, &factor).ok());
    REQUIRE(world.GetMaxSpeed(id, &max_speed).ok());
    REQUIRE(world.GetMaterial(id, &material).ok());
  };
  read(set);
  CHECK((scale == 1.5f && factor == -0.5f && max_speed == 12.0f));
  CHECK((material.young == 2.0e5f && material.poisson == 0.4f && material.damping == 0.0f));
  CHECK(material.density == Approx(700.0f).epsilon(2e-7));
  read(baked);
  CHECK((scale == 1.0f && factor == 1.0f && max_speed == kInf));
  CHECK((material.young < 0.0f && material.poisson < 0.0f));
  CHECK((material.density == 900.0f && material.damping == 0.02f));
  REQUIRE(world.SetGravityFactor(baked, 0.25f).ok());
  REQUIRE(world.SetMaxSpeed(baked, 3.0f).ok());
  REQUIRE(world.SetMaterial(baked, {.poisson = 0.45f, .damping = 0.1f}).ok());
  read(baked);
  CHECK((factor == 0.25f && max_speed == 3.0f));
  CHECK((material.young < 0.0f && material.poisson == 0.45f && material.damping == 0.1f));

  uint32_t nodes[9] = {}, count = 0;
  REQUIRE(world.GetPinnedNodes(set, nodes, &count).ok());
  CHECK(count == 3);
  CHECK((nodes[0] == 2 && nodes[1] == 5 && nodes[2] == 7 && nodes[3] == 0));
  REQUIRE(world.SetPinnedNodes(set, std::vector<uint32_t>{3}).ok());
  REQUIRE(world.GetPinnedNodes(set, nodes, &count).ok());
  CHECK((count == 1 && nodes[0] == 3 && nodes[1] == 5));
  REQUIRE(world.GetPinnedNodes(baked, nodes, &count).ok());
  CHECK(count == 0);
  nodes[0] = nodes[1] = nodes[2] = 99;
  REQUIRE(world.GetPinnedNodes(fixed, std::span<uint32_t>(nodes, 2), &count).ok());
  CHECK(count == shape.num_nodes());
  CHECK((nodes[0] == 0 && nodes[1] == 1 && nodes[2] == 99));
}

TEST_CASE("A material that is read and set again is the same to the bit") {
  const uint32_t seed = GENERATE(1u, 2u);
  CAPTURE(seed);
  Random random(seed);
  const ShapeAsset shape(TetBox(1, 1, 1, 0.1), {1.0e5, 0.3, 937.3}, double(kDt));
  World world;
  const BodyId id = AddBody(&world, shape.asset());
  for (int i = 0; i < 300; ++i) {
    const float density = 1000.0f + 900.0f * ToVec3(random.Vector(1.0)).x;
    CAPTURE(density);
    REQUIRE(world.SetMaterial(id, {.density = density}).ok());
    const double mass = MomentsOf(world, id).mass;
    MaterialOverride first, second;
    REQUIRE(world.GetMaterial(id, &first).ok());
    CHECK(std::fabs(first.density - density) <= std::nextafter(density, kInf) - density);
    REQUIRE(world.SetMaterial(id, first).ok());
    REQUIRE(world.GetMaterial(id, &second).ok());
    CHECK(first.density == second.density);
    CHECK(MomentsOf(world, id).mass == mass);
  }
}

TEST_CASE("Gravity factors and largest speeds act on one body") {
  const ShapeAsset shape(TetBox(2, 1, 1, 0.1, 0.09, 2), {}, double(kDt));
  const int count = GENERATE(1, 8);  // of each kind: alone, in a crowd
  CAPTURE(count);
  World world;
  std::vector<BodyId> ids;
  for (int i = 0; i < count; ++i) {
    for (const float factor : {1.0f, 0.0f, -2.0f, 0.5f}) {
      ids.push_back(AddBody(&world, shape.asset(), {.gravity_factor = factor}));
    }
  }
  const BodyId later = ids.back();
  const float g = -9.81f * kDt;
  StepWorld(&world, kDt);
  const auto falls = [&](BodyId id) {
    return MomentsOf(world, id).linear_momentum[1] / MomentsOf(world, id).mass;
  };
  CHECK(falls(ids[0]) == Approx(g).epsilon(1e-4));
  CHECK(falls(ids[1]) == Approx(0.0).margin(1e-6));
  CHECK(falls(ids[2]) == Approx(-2.0f * g).epsilon(1e-4));
  CHECK(falls(later) == Approx(0.5f * g).epsilon(1e-4));
  REQUIRE(world.SetGravityFactor(later, -1.0f).ok());
  StepWorld(&world, kDt);
  CHECK(falls(later) == Approx(-0.5f * g).epsilon(1e-4));
  // Energy counts the gravity that the body feels.
  World one;
  const BodyId id = AddBody(&one, shape.asset(), {.gravity_factor = 3.0f});
  const WorldMeasures before = MeasuresOf(one);
  for (int step = 0; step < 20; ++step) StepWorld(&one, kDt);
  const WorldMeasures after = MeasuresOf(one);
  CHECK(after.kinetic_j > 1.0);
  // Implicit steps fall a little deeper than the exact parabola: g^2 m t dt / 2.
  CHECK(after.kinetic_j + after.gravity_j ==
        Approx(before.kinetic_j + before.gravity_j).margin(0.06 * after.kinetic_j));
  REQUIRE(one.SetMaxSpeed(id, 0.25f).ok());
  StepWorld(&one, kDt);
  for (const Vec3& v : VelocitiesOf(one, id, shape.num_nodes())) CHECK(Length(v) <= 0.2501f);
  REQUIRE(one.SetMaxSpeed(id, kInf).ok());
  for (int step = 0; step < 20; ++step) StepWorld(&one, kDt);
  CHECK(one.stats().max_speed > 1.0f);
}

TEST_CASE("Setting a gravity factor or a largest speed wakes, user data does not") {
  const ShapeAsset shape(TetBox(1, 1, 1, 0.1), {}, double(kDt));
  World world({.gravity = {}});
  const BodyId id = AddBody(&world, shape.asset());
  const auto sleep = [&] {
    for (int step = 0; step < 100; ++step) StepWorld(&world, kDt);
    REQUIRE(world.IsAsleep(id));
  };
  sleep();
  REQUIRE(world.SetUserData(id, 5).ok());
  CHECK(world.IsAsleep(id));
  REQUIRE(world.SetGravityFactor(id, 2.0f).ok());
  CHECK_FALSE(world.IsAsleep(id));
  sleep();
  REQUIRE(world.SetMaxSpeed(id, 2.0f).ok());
  CHECK_FALSE(world.IsAsleep(id));
  sleep();
  REQUIRE(world.AddImpulses(id, std::vector<Vec3>(shape.num_nodes(), {0.01f, 0, 0})).ok());
  CHECK_FALSE(world.IsAsleep(id));
}

TEST_CASE("New fields of descriptions are checked") {
  const ShapeAsset shape(TetBox(1, 1, 1, 0.1), {}, double(kDt));
  World world;
  const auto section = [&](const BodyDesc& desc) {
    BodyId id = {1};
    const Status status = world.AddBody(shape.asset(), desc, &id);
    CHECK(id.valid() == status.ok());
    CHECK((status.ok() || status.code == StatusCode::kInvalidArgument));
    return std::string(status.section);
  };
  for (const float wrong :
       {kNan, kInf, -kInf, 0.0f, -1.0f, 0.999f * kLeastScale, 1.001f * kMostScale}) {
    CHECK(section({.scale = wrong}) == "scale");
  }
  CHECK(section({.scale = kLeastScale}) == "");
  CHECK(section({.scale = kMostScale}) == "");
  for (const float wrong : {kNan, kInf, -kInf}) {
    CHECK(section({.gravity_factor = wrong}) == "gravity_factor");
  }
  CHECK(section({.gravity_factor = -5.0f}) == "");
  for (const float wrong : {kNan, -kInf, 0.0f, -1.0f}) {
    CHECK(section({.max_speed = wrong}) == "max_speed");
  }
  CHECK(section({.max_speed = kInf}) == "");
  CHECK(section({.filter = {0, 0, -7}}) == "");
  CHECK(world.num_bodies() == 5);
  for (int step = 0; step < 5; ++step) StepWorld(&world, kDt);
}

TEST_CASE("Every call on a body refuses wrong sizes and numbers") {
  const ShapeAsset shape(TetBox(1, 1, 1, 0.1), {}, double(kDt));
  World world;
  const BodyId id = AddBody(&world, shape.asset());
  std::vector<Vec3> nodes = shape.rest();
  BodyMoments moments;
  Pose pose;
  Bounds bounds;
  const uint64_t hash = world.StateHash();
  for (const float wrong : {kNan, kInf, -kInf}) {
    CHECK(world.SetGravityFactor(id, wrong).section == std::string("factor"));
    for (const size_t node : {size_t{0}, nodes.size() - 1}) {
      std::vector<Vec3> bad = shape.rest();
      bad[node].z = wrong;
      CHECK(world.SetNodeVelocities(id, bad).index == node);
      CHECK(world.AddImpulses(id, bad).index == node);
      CHECK(world.SetNodePositions(id, bad).index == node);
    }
  }
  for (const float wrong : {kNan, -kInf, 0.0f, -1.0f}) {
    CHECK(world.SetMaxSpeed(id, wrong).section == std::string("max_speed"));
  }
  for (const size_t size : {size_t{0}, nodes.size() - 1, nodes.size() + 1}) {
    std::vector<Vec3> wrong(size);
    CHECK(world.NodeVelocities(id, wrong).code == StatusCode::kInvalidArgument);
    CHECK(world.SetNodeVelocities(id, wrong).code == StatusCode::kInvalidArgument);
    CHECK(world.AddImpulses(id, wrong).code == StatusCode::kInvalidArgument);
    CHECK(world.SetNodePositions(id, wrong).code == StatusCode::kInvalidArgument);
    CHECK(world.ElasticForces(id, wrong).code == StatusCode::kInvalidArgument);
  }
  // Velocities beyond float's range in a small body's own coordinates.
  const BodyId tiny = AddBody(&world, shape.asset(), {.scale = kLeastScale});
  const std::vector<Vec3> fast(nodes.size(), Vec3{1.0e37f, 0, 0});
  CHECK(world.SetNodeVelocities(tiny, fast).code == StatusCode::kInvalidArgument);
  CHECK(world.AddImpulses(tiny, fast).code == StatusCode::kInvalidArgument);
  REQUIRE(world.RemoveBody(tiny).ok());
  CHECK(world.Moments(id, nullptr).section == std::string("output"));
  CHECK(world.BestFitPose(id, nullptr).section == std::string("output"));
  CHECK(world.GetBounds(id, nullptr).section == std::string("output"));
  CHECK(world.StateHash() == hash);
}

TEST_CASE("Pinned nodes keep their velocities") {
  const ShapeAsset shape = CrowdBox(2);
  World world({.gravity = {}});
  const std::span<const uint32_t> pins = shape.asset().region(0).nodes;
  const BodyId id = AddBody(&world, shape.asset(), {.pinned_nodes = pins});
  REQUIRE(world.MovePins(id, 0, {{0.0f, 0.01f, 0.0f}, {}}).ok());
  StepWorld(&world, kDt);
  const std::vector<Vec3> fast(shape.num_nodes(), Vec3{5, 6, 7});
  REQUIRE(world.SetNodeVelocities(id, fast).ok());
  const std::vector<Vec3> v = VelocitiesOf(world, id, shape.num_nodes());
  for (const uint32_t pin : pins) {
    CHECK(v[pin].x == Approx(0.0f).margin(1e-4));
    CHECK(v[pin].y == Approx(1.0f).epsilon(1e-3));
  }
  REQUIRE(world.SetMaterial(id, {.young = 2.0e5f}).ok());
  CHECK(VelocitiesOf(world, id, shape.num_nodes())[pins[0]].y == v[pins[0]].y);
}

TEST_CASE("A released node forgets its target, the others keep theirs") {
  const ShapeAsset shape = CrowdBox(2);
  const int count = GENERATE(1, 8);
  CAPTURE(count);
  const std::vector<uint32_t> pins = {1, 5}, kept = {5};
  World moves, rests;
  BodyId a, b;
  for (int i = 0; i < count; ++i) {
    a = AddBody(&moves, shape.asset(), {.pinned_nodes = pins});
    b = AddBody(&rests, shape.asset(), {.pinned_nodes = pins});
  }
  const std::vector<Vec3> x = PositionsOf(moves, a, shape.num_nodes());
  const std::vector<Vec3> targets = {x[1] + Vec3{0.02f, 0, 0}, x[5] + Vec3{0.01f, 0, 0}};
  REQUIRE(moves.MovePins(a, pins, targets).ok());
  REQUIRE(moves.SetPinnedNodes(a, kept).ok());
  REQUIRE(rests.SetPinnedNodes(b, kept).ok());
  REQUIRE(rests.MovePins(b, kept, std::span<const Vec3>(targets).last(1)).ok());
  for (int step = 0; step < 3; ++step) {
    StepWorld(&moves, kDt);
    StepWorld(&rests, kDt);
    CHECK(StateOf(moves, a, shape.num_nodes()) == StateOf(rests, b, shape.num_nodes()));
  }
}

}  // namespace body_calls_test
