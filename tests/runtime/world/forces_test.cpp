// SPDX-License-Identifier: MIT
// Force fields: closed forms, wind against a sum over triangles, crowds, masks, sleep, limits.
#include "plush/format/cdg_records.h"

#include "import/import.h"
#include "runtime/attachments/attachment_scene.h"
#include "runtime/colliders/plane_scene.h"
#include "runtime/collision/surface_fixtures.h"
#include "runtime/crowds/crowd_scene.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace forces_test {

constexpr float kDt = 0.01f;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

ForceField Uniform(const Vec3& acceleration) { return {.vector = acceleration}; }
ForceField Wind(const Vec3& velocity) { return {.type = FieldType::kWind, .vector = velocity}; }

// A render surface of 2 * segments * (rings - 1) triangles about the origin.
tools::ImportedModel Sphere(double radius, uint32_t rings, uint32_t segments) {
  const double pi = 3.14159265358979323846;
  tools::ImportedModel model;
  tools::SurfaceMesh& mesh = model.surface;
  const auto add = [&](double polar, double turn) {
    const tools::Vec3d n = {std::sin(polar) * std::sin(turn), std::cos(polar),
                            std::sin(polar) * std::cos(turn)};
    mesh.positions.push_back(n * radius);
    mesh.normals.push_back(
        {static_cast<float>(n.x), static_cast<float>(n.y), static_cast<float>(n.z)});
  };
  add(0.0, 0.0);
  for (uint32_t i = 1; i < rings; ++i) {
    for (uint32_t j = 0; j < segments; ++j) add(pi * i / rings, 2.0 * pi * j / segments);
  }
  add(pi, 0.0);
  const uint32_t last = static_cast<uint32_t>(mesh.positions.size() - 1);
  for (uint32_t j = 0; j < segments; ++j) {
    const uint32_t next = (j + 1) % segments;
    mesh.triangles.push_back({0, 1 + j, 1 + next});
    for (uint32_t i = 0; i + 2 < rings; ++i) {
      const uint32_t upper = 1 + i * segments, lower = upper + segments;
      mesh.triangles.push_back({upper + j, lower + j, lower + next});
      mesh.triangles.push_back({upper + j, lower + next, upper + next});
    }
    const uint32_t ring = 1 + (rings - 2) * segments;
    mesh.triangles.push_back({last, ring + next, ring + j});
  }
  mesh.parts.push_back({"ball", "", "", 0, static_cast<uint32_t>(mesh.triangles.size())});
  model.format = "sphere";
  return model;
}

// A ball of 0.5 m in a cage of the usual size.
const ShapeAsset& Ball() {
  static const ShapeAsset* const shape = [] {
    tools::BakeSettings settings = {.material = {1.0e5, 0.4, 1000.0}, .dt = double(kDt)};
    settings.threads = 1;  // TBB is built without the thread sanitizer
    tools::FindingList findings;
    const auto baked = tools::Bake(Sphere(0.5, 24, 36), settings, &findings);
    if (!baked.ok()) FAIL(baked.error().message);
    return new ShapeAsset(baked.value().bytes);
  }();
  return *shape;
}

// The force of a wind on a surface at rest, summed over its triangles [N].
Eigen::Vector3d DragOnTriangles(const tools::SurfaceMesh& mesh, const ForceField& field) {
  const auto at = [&](uint32_t v) {
    const tools::Vec3d& p = mesh.positions[v];
    return Eigen::Vector3d(p.x, p.y, p.z);
  };
  Eigen::Vector3d force = Eigen::Vector3d::Zero();
  for (const auto& t : mesh.triangles) {
    const Eigen::Vector3d area = 0.5 * (at(t[1]) - at(t[0])).cross(at(t[2]) - at(t[0]));
    const double u = ToEigen(field.vector).dot(area.normalized());
    force += 0.5 * double(field.air_density) * double(field.drag) * std::fabs(u) * u * area;
  }
  return force;
}

Eigen::Vector3d Momentum(const World& world, BodyId id) {
  const BodyMoments m = MomentsOf(world, id);
  return {m.linear_momentum[0], m.linear_momentum[1], m.linear_momentum[2]};
}

TEST_CASE("A uniform field accelerates free nodes for one step") {
  const float scale = GENERATE(1.0f, 0.25f, 8.0f);
  CAPTURE(scale);
  const ShapeAsset shape(TetBox(2, 1, 1, 0.1), {}, double(kDt));
  World world({.gravity = {}});
  const Vec3 start = {0.5f, 0.0f, -1.0f}, a = {3.0f, -20.0f, 7.0f};
  const BodyId id = AddBody(&world, shape.asset(), {.scale = scale, .velocity = start});
  REQUIRE(world.AddForce(Uniform(a)).ok());
  REQUIRE(world.AddForce(Uniform(a)).ok());  // they add up
  for (int step = 0; step < 3; ++step) {     // and act once
    StepWorld(&world, kDt);
    for (const Vec3& v : VelocitiesOf(world, id, shape.num_nodes())) {
      const Eigen::Vector3d expected = ToEigen(start) + 2.0 * double(kDt) * ToEigen(a);
      CHECK((ToEigen(v) - expected).norm() < 1e-4);
    }
  }
}

TEST_CASE("A radial field falls off linearly to its radius, in the world whatever the scale") {
  const float scale = GENERATE(1.0f, 0.5f, 4.0f), strength = GENERATE(300.0f, -300.0f);
  CAPTURE(scale, strength);
  // Dust: so soft that one step hardly changes what the field gave.
  const ShapeAsset shape(TetBox(4, 2, 2, 0.1), {1.0, 0.0, 1000.0}, double(kDt));
  World world({.gravity = {}});
  const BodyId id = AddBody(&world, shape.asset(),
                            {.pose = {.position = {100.0f, -50.0f, 20.0f}}, .scale = scale});
  ForceField field = {.type = FieldType::kRadial, .strength = strength};
  field.centre = {100.0f + 0.12f * scale, -50.0f + 0.03f * scale, 20.0f};
  field.radius = 0.25f * scale;
  const std::vector<Vec3> x = PositionsOf(world, id, shape.num_nodes());
  REQUIRE(world.AddForce(field).ok());
  StepWorld(&world, kDt);
  const std::vector<Vec3> v = VelocitiesOf(world, id, shape.num_nodes());
  int reached = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const Eigen::Vector3d way = ToEigen(x[i]) - ToEigen(field.centre);
    const double r = way.norm(), share = std::max(1.0 - r / double(field.radius), 0.0);
    reached += share > 0.0 ? 1 : 0;
    const Eigen::Vector3d expected = share * double(strength * kDt) * way / r;
    CHECK((ToEigen(v[i]) - expected).norm() < 0.01 * 3.0);
  }
  CHECK(reached > 4);
  CHECK(reached < static_cast<int>(x.size()));
}

TEST_CASE("A node at the centre of a radial field is not pushed") {
  const ShapeAsset shape(TetBox(1, 1, 1, 0.1), {}, double(kDt));
  World world({.gravity = {}});
  const BodyId id = AddBody(&world, shape.asset());
  const Vec3 corner = PositionsOf(world, id, shape.num_nodes())[0];
  REQUIRE(
      world
          .AddForce(
              {.type = FieldType::kRadial, .centre = corner, .radius = 1.0e-3f, .strength = 1.0e6f})
          .ok());
  CHECK(StepWorld(&world, kDt) == kStepOk);
  CHECK(MeasuresOf(world).kinetic_j < 1e-12);
}

TEST_CASE("Wind pushes a ball by its drag, within 5% of the sum over triangles") {
  const Vec3 velocity = GENERATE(Vec3{8.0f, 0.0f, 0.0f}, Vec3{3.0f, -5.0f, 2.0f});
  const float scale = GENERATE(1.0f, 2.0f);
  ForceField field = Wind(velocity);
  field.air_density = 1.3f;
  field.drag = 0.8f;
  World world({.gravity = {}});
  const BodyId id = AddBody(&world, Ball().asset(), {.scale = scale});
  REQUIRE(world.AddForce(field).ok());
  StepWorld(&world, kDt);
  const Eigen::Vector3d force = Momentum(world, id) / double(kDt);
  const Eigen::Vector3d expected =
      DragOnTriangles(Sphere(0.5, 24, 36).surface, field) * double(scale * scale);
  CAPTURE(scale, force.transpose(), expected.transpose());
  CHECK((force - expected).norm() < 0.05 * expected.norm());
  // About its centre, a wind does not turn a ball. 0.5 m is its radius.
  const BodyMoments m = MomentsOf(world, id);
  const Eigen::Vector3d turn(m.angular_momentum[0], m.angular_momentum[1], m.angular_momentum[2]);
  CHECK(turn.norm() / double(kDt) < 0.02 * expected.norm() * 0.5 * double(scale));
}

TEST_CASE("A body that moves with the wind feels none, and in still air it feels its own speed") {
  const Vec3 velocity = {4.0f, 1.0f, -2.0f};
  World world({.gravity = {}});
  const BodyId carried = AddBody(&world, Ball().asset(), {.velocity = velocity});
  REQUIRE(world.AddForce(Wind(velocity)).ok());
  const Eigen::Vector3d before = Momentum(world, carried);
  StepWorld(&world, kDt);
  CHECK((Momentum(world, carried) - before).norm() < 1e-5 * before.norm());
  REQUIRE(world.AddForce(Wind({})).ok());
  StepWorld(&world, kDt);
  const Eigen::Vector3d drag =
      DragOnTriangles(Sphere(0.5, 24, 36).surface, Wind(-1.0f * velocity)) * double(kDt);
  CHECK((Momentum(world, carried) - before - drag).norm() <
        0.05 * drag.norm() + 1e-5 * before.norm());
}

TEST_CASE("No wind makes a light body faster than the air") {
  const float density = GENERATE(1.0e-3f, 1.0f), step = GENERATE(0.01f, 0.1f);
  CAPTURE(density, step);
  World world({.gravity = {}});
  const Vec3 air = {40.0f, -10.0f, 5.0f};
  const BodyId id =
      AddBody(&world, Ball().asset(), {.material = {.young = 1.0e3f, .density = density}});
  ForceField field = Wind(air);
  field.drag = 100.0f;
  const double start = 0.5 * MomentsOf(world, id).mass * ToEigen(air).squaredNorm();
  double now = start;
  for (int k = 0; k < 50; ++k) {
    REQUIRE(world.AddForce(field).ok());
    REQUIRE((StepWorld(&world, step) & kStepBodyFrozen) == 0);
    // Kinetic energy in the frame of the air: the wind dents the body, which springs back, but a
    // push that overshot would add some in every step.
    const BodyMoments m = MomentsOf(world, id);
    const Eigen::Vector3d mean = Momentum(world, id) / m.mass;
    now = m.kinetic_j - 0.5 * m.mass * mean.squaredNorm() +
          0.5 * m.mass * (mean - ToEigen(air)).squaredNorm();
    CHECK(now <= start * 1.001);
  }
  CHECK(now < 0.05 * start);
  CHECK((Momentum(world, id) / MomentsOf(world, id).mass - ToEigen(air)).norm() < 4.0);
}

TEST_CASE("Bodies without a collision surface feel no wind") {
  tools::AssetContent content = ContentOf(TetBox(1, 1, 1, 0.1));
  content.collision = {};
  const ShapeAsset bare(tools::WriteAsset(content).value());
  World world({.gravity = {}});
  AddBody(&world, bare.asset());
  REQUIRE(world.AddForce(Wind({50.0f, 0.0f, 0.0f})).ok());
  StepWorld(&world, kDt);
  CHECK(MeasuresOf(world).kinetic_j < 1e-12);
}

TEST_CASE("Crowds take forces like single bodies") {
  const FieldType type = GENERATE(FieldType::kUniform, FieldType::kRadial, FieldType::kWind);
  CAPTURE(static_cast<int>(type));
  const ShapeAsset shape(SurfaceBytes(TetBox(3, 2, 2, 0.1, 0.05, 7), {.parts = 3}));
  ForceField field = {.type = type, .vector = {30.0f, 5.0f, -10.0f}, .strength = 400.0f};
  field.centre = {4.0f, -1.0f, 0.2f};
  field.radius = 6.0f;
  World crowd, alone;
  std::vector<BodyId> in_crowd;
  // With a plane, solves of single bodies count as contact, those of crowds do not.
  AddCollider(&crowd, {.plane = {.offset = -1.0e4f}});
  for (int i = 0; i < 12; ++i) {
    in_crowd.push_back(AddBody(&crowd, shape.asset(),
                               {.pose = {.position = {static_cast<float>(i), 0.0f, 0.0f}}}));
  }
  const BodyId id = AddBody(&alone, shape.asset(), {.pose = {.position = {5.0f, 0.0f, 0.0f}}});
  for (int step = 0; step < 30; ++step) {
    REQUIRE(crowd.AddForce(field).ok());
    REQUIRE(alone.AddForce(field).ok());
    StepWorld(&crowd, kDt);
    StepWorld(&alone, kDt);
    REQUIRE(HadCrowds(crowd));
  }
  const Points x = ToEigen(PositionsOf(crowd, in_crowd[5], shape.num_nodes())),
               y = ToEigen(PositionsOf(alone, id, shape.num_nodes()));
  CHECK((x - y).colwise().norm().maxCoeff() < 1e-4);
  CHECK(std::fabs(y.row(0).mean() - 5.15) > 0.01);  // it was pushed at all
}

TEST_CASE("Forces act on the bodies that mask and id name, and not on pinned nodes") {
  const ShapeAsset shape(TetBox(1, 1, 1, 0.1), {}, double(kDt));
  World world({.gravity = {}});
  const std::vector<uint32_t> pins = {0, 3};
  const BodyId one = AddBody(&world, shape.asset(), {.filter = {.category = 1}});
  const BodyId two = AddBody(&world, shape.asset(), {.filter = {.category = 6}});
  const BodyId pinned = AddBody(&world, shape.asset(), {.pinned_nodes = pins});
  const BodyId fixed = AddBody(&world, shape.asset(), {.fixed = true});
  const BodyId off = AddBody(&world, shape.asset(), {.enabled = false});
  const auto speeds = [&](BodyId id) {
    return ToEigen(VelocitiesOf(world, id, shape.num_nodes())).colwise().norm().eval();
  };
  const auto push = [&](const ForceField& field) {
    REQUIRE(world.AddForce(field).ok());
    StepWorld(&world, kDt);
  };
  ForceField field = Uniform({10.0f, 0.0f, 0.0f});
  field.mask = 4;
  push(field);
  CHECK(speeds(one).maxCoeff() < 1e-6);
  CHECK(speeds(two).minCoeff() > 0.09);
  field.mask = 0;
  push(field);
  CHECK(speeds(two).maxCoeff() < 0.101);
  field.mask = ~0u;
  push(field);
  CHECK(speeds(one).minCoeff() > 0.09);
  CHECK(speeds(two).minCoeff() > 0.19);
  CHECK(speeds(pinned)[0] == 0.0);
  CHECK(speeds(pinned)[3] == 0.0);
  CHECK(speeds(pinned).maxCoeff() > 0.01);
  CHECK(speeds(fixed).maxCoeff() == 0.0);
  CHECK(speeds(off).maxCoeff() == 0.0);

  REQUIRE(world.AddForce(one, field).ok());
  StepWorld(&world, kDt);
  CHECK(speeds(one).minCoeff() > 0.19);
  CHECK(speeds(two).maxCoeff() < 0.201);
  REQUIRE(world.AddForce(one, field).ok());
  REQUIRE(world.RemoveBody(one).ok());
  const BodyId next = AddBody(&world, shape.asset());
  StepWorld(&world, kDt);
  CHECK(speeds(next).maxCoeff() < 1e-6);  // no force of the body before it
  CHECK(world.AddForce(one, field).code == StatusCode::kStaleId);
  CHECK(world.AddForce(BodyId{}, field).code == StatusCode::kNullId);
}

TEST_CASE("Forces wake sleeping bodies only if they are asked to and reach them") {
  BoxOnPlane scene;
  const uint64_t asleep = [&] {
    scene.FallAsleep();
    return scene.world.StateHash();
  }();
  ForceField field = Uniform({0.0f, 100.0f, 0.0f});
  REQUIRE(scene.world.AddForce(field).ok());
  scene.Step(1);
  CHECK(scene.world.IsAsleep(scene.body));
  CHECK(scene.world.StateHash() == asleep);
  field.wake = true;
  field.mask = 2;
  REQUIRE(scene.world.AddForce(field).ok());
  ForceField blast = {.type = FieldType::kRadial, .strength = 100.0f, .wake = true};
  blast.centre = {0.0f, 0.0f, 3.0f};
  REQUIRE(scene.world.AddForce(blast).ok());
  scene.Step(1);
  CHECK(scene.world.IsAsleep(scene.body));
  SECTION("uniform") {
    field.mask = 1;
    REQUIRE(scene.world.AddForce(field).ok());
  }
  SECTION("radial") {
    blast.radius = 2.9f;
    REQUIRE(scene.world.AddForce(blast).ok());
  }
  SECTION("with one that does not wake") {
    field.mask = 1;
    REQUIRE(scene.world.AddForce(field).ok());
    REQUIRE(scene.world.AddForce(Uniform({0.0f, 100.0f, 0.0f})).ok());
  }
  scene.Step(1);
  CHECK_FALSE(scene.world.IsAsleep(scene.body));
  CHECK(scene.world.StateHash() != asleep);
}

TEST_CASE("A force that wakes a body that hangs by springs does not drop it") {
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1), {1.0e5, 0.3, 1000.0, 0.1}, double(kDt));
  World world;
  const BodyId id = AddBody(&world, shape.asset());
  for (uint32_t node = 0; node < 3; ++node) {
    AttachmentDesc spring = {.body = id, .stiffness = 5.0e3f, .damping = 50.0f};
    spring.nodes[0] = node;
    spring.weights = {1.0f, 0.0f, 0.0f, 0.0f};
    spring.target = shape.rest()[node];
    Attach(&world, spring);
  }
  for (int step = 0; step < 3000 && !world.IsAsleep(id); ++step) StepWorld(&world, kDt);
  REQUIRE(world.IsAsleep(id));
  ForceField field = Uniform({0.0f, 1.0e-6f, 0.0f});
  field.wake = true;
  REQUIRE(world.AddForce(id, field).ok());
  StepWorld(&world, kDt);
  CHECK_FALSE(world.IsAsleep(id));
  CHECK(world.stats().max_speed < 0.005f);  // free fall: 0.1
}

TEST_CASE("AddForce refuses numbers that are not finite or out of range") {
  const ShapeAsset shape(TetBox(1, 1, 1, 0.1), {}, double(kDt));
  World world({.gravity = {}});
  const BodyId id = AddBody(&world, shape.asset());
  std::vector<ForceField> wrong(11);
  wrong[0].type = static_cast<FieldType>(9);
  wrong[1].vector.x = kNan;
  wrong[2].centre.y = kInfinity;
  wrong[3].radius = 0.0f;
  wrong[4].radius = kNan;
  wrong[5].strength = kInfinity;
  wrong[6].air_density = -1.0f;
  wrong[7].drag = -0.1f;
  wrong[8].drag = kNan;
  wrong[9].radius = kInfinity;
  wrong[10].air_density = kInfinity;
  for (const ForceField& field : wrong) {
    CHECK(world.AddForce(field).code == StatusCode::kInvalidArgument);
    CHECK(world.AddForce(id, field).code == StatusCode::kInvalidArgument);
  }
  StepWorld(&world, kDt);
  CHECK(MeasuresOf(world).kinetic_j < 1e-12);
  // Huge ones are allowed and leave finite velocities.
  const float most = std::numeric_limits<float>::max();
  REQUIRE(world.AddForce(Uniform({most, most, -most})).ok());
  REQUIRE(world.AddForce({.type = FieldType::kRadial, .radius = most, .strength = most}).ok());
  ForceField storm = Wind({most, 0.0f, 0.0f});
  storm.air_density = most;
  REQUIRE(world.AddForce(storm).ok());
  StepWorld(&world, kDt);
  for (const Vec3& v : VelocitiesOf(world, id, shape.num_nodes())) {
    CHECK(std::isfinite(v.x + v.y + v.z));
  }
}

TEST_CASE("No node ends a step faster than its body's maximum speed") {
  const float scale = GENERATE(1.0f, 3.0f);
  const int count = GENERATE(1, 8);  // alone and in a crowd
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1), {}, double(kDt));
  World world;
  std::vector<BodyId> ids;
  for (int i = 0; i < count; ++i) {
    ids.push_back(AddBody(&world, shape.asset(), {.scale = scale, .max_speed = 2.0f}));
  }
  Random random(5);
  const BodyId id = ids.back();
  REQUIRE(world.SetNodeVelocities(id, ToVec3s(random.Vectors(shape.num_nodes(), 20.0))).ok());
  for (int step = 0; step < 60; ++step) {
    if (step == 30) REQUIRE(world.AddForce(Uniform({1.0e5f, 0.0f, 0.0f})).ok());
    StepWorld(&world, kDt);
    CHECK(world.stats().max_speed <= 2.0f * 1.00001f);
    for (const Vec3& v : VelocitiesOf(world, id, shape.num_nodes())) {
      REQUIRE(ToEigen(v).norm() <= 2.0 * 1.00001);
    }
  }
  CHECK(world.stats().max_speed == Approx(2.0f).epsilon(0.01));
  REQUIRE(world.SetMaxSpeed(id, std::numeric_limits<float>::infinity()).ok());
  for (int step = 0; step < 30; ++step) StepWorld(&world, kDt);
  CHECK(world.stats().max_speed > 3.0f);
}

}  // namespace forces_test
