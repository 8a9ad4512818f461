// SPDX-License-Identifier: MIT
// Colliders that move: they lift, carry and tilt bodies, and wake those that they reach.
#include "base/vector_math.h"
#include "runtime/colliders/solid_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace moving_collider_test {

constexpr float kDt = BoxOnPlane::kDt;

double Kinetic(const BoxOnPlane& scene) { return MomentsOf(scene.world, scene.body).kinetic_j; }

void MoveTo(BoxOnPlane* scene, const Pose& target) {
  REQUIRE(scene->world.MoveCollider(scene->plane, target).ok());
}

TEST_CASE("A plane that rises by MoveCollider lifts the body that rests on it") {
  const float speed = GENERATE(0.1f, 1.0f);  // [m/s]
  CAPTURE(speed);
  BoxOnPlane scene;
  scene.Step(150);
  const double height = scene.MeanPosition().y(), mass = MomentsOf(scene.world, scene.body).mass;
  const double carried = 0.5 * mass * double(speed) * double(speed);
  double most = 0.0;
  for (int step = 1; step <= 100; ++step) {
    MoveTo(&scene, {.position = {0.0f, speed * kDt * static_cast<float>(step), 0.0f}});
    scene.Step(1);
    CAPTURE(step);
    REQUIRE(scene.Gap() > -1e-4);  // never left behind below the plane
    most = std::max(most, Kinetic(scene));
    if (step > 60) {
      CHECK(scene.Gap() < 1e-4);
      CHECK(scene.world.stats().contacts > 0);
      CHECK(scene.MeanVelocity().y() == Approx(speed).epsilon(0.03));
    }
  }
  CHECK(scene.MeanPosition().y() == Approx(height + double(speed)).margin(0.005));
  CHECK(most < 5.0 * carried);
  CHECK(most > 0.9 * carried);
}

TEST_CASE("A moved collider is exactly at its target and then rests") {
  BoxOnPlane scene;
  REQUIRE(scene.world.SetColliderVelocity(scene.plane, {1.0f, 0.0f, 0.0f}, {}).ok());
  const Pose target = {{0.3f, 0.1f, -0.2f}, TurnOf(0.01, {1, 1, 0})};
  MoveTo(&scene, target);
  scene.Step(1);
  for (int step = 0; step < 2; ++step) {
    const ColliderDesc desc = DescOf(scene.world, scene.plane);
    CHECK(desc.pose.position.x == target.position.x);
    CHECK(desc.pose.position.y == target.position.y);
    CHECK(desc.pose.rotation.x == target.rotation.x);
    CHECK(desc.pose.rotation.w == target.rotation.w);
    CHECK(ToEigen(desc.velocity).norm() == 0.0);
    scene.Step(1);
  }
}

TEST_CASE("The last of SetColliderPose, MoveCollider and SetColliderVelocity counts") {
  World world;
  const ColliderId id = AddCollider(&world);
  REQUIRE(world.MoveCollider(id, {.position = {0, 9, 0}}).ok());
  REQUIRE(world.SetColliderPose(id, {.position = {0, 1, 0}}).ok());
  StepWorld(&world, kDt);
  CHECK(DescOf(world, id).pose.position.y == 1.0f);
  REQUIRE(world.MoveCollider(id, {.position = {0, 9, 0}}).ok());
  REQUIRE(world.SetColliderVelocity(id, {0, 2, 0}, {}).ok());
  StepWorld(&world, kDt);
  CHECK(DescOf(world, id).pose.position.y == Approx(1.0f + 2.0f * kDt));
  CHECK(DescOf(world, id).velocity.y == 2.0f);
  REQUIRE(world.SetColliderPose(id, {.position = {0, 7, 0}}).ok());
  CHECK(DescOf(world, id).velocity.y == 2.0f);  // it keeps its velocities
  StepWorld(&world, kDt);
  CHECK(DescOf(world, id).pose.position.y == Approx(7.0f + 2.0f * kDt));
  REQUIRE(world.MoveCollider(id, {.position = {0, 5, 0}}).ok());
  REQUIRE(world.MoveCollider(id, {.position = {0, 4, 0}}).ok());
  StepWorld(&world, kDt);
  CHECK(DescOf(world, id).pose.position.y == 4.0f);
  CHECK(DescOf(world, id).velocity.y == 0.0f);
}

TEST_CASE("A collider's velocities move its pose in every step") {
  World world;
  ColliderDesc desc = {.velocity = {1.0f, -2.0f, 0.5f}, .angular_velocity = {0.3f, 1.5f, -0.6f}};
  const ColliderId id = AddCollider(&world, desc);
  const Eigen::Vector3d omega = ToEigen(desc.angular_velocity);
  for (int step = 1; step <= 200; ++step) {
    StepWorld(&world, kDt);
    const Pose pose = DescOf(world, id).pose;
    const double t = double(kDt) * step;
    REQUIRE((ToEigen(pose.position) - ToEigen(desc.velocity) * t).norm() < 1e-5);
    // A Cayley turn is short of the true one by (omega dt)^2 / 12.
    const Eigen::Matrix3d exact =
        Eigen::AngleAxisd(omega.norm() * t, omega.normalized()).toRotationMatrix();
    REQUIRE(AngleBetween(exact, RotationOf(pose.rotation)) < 1e-4 * t + 1e-5);
    const double angle = 2.0 * std::atan(0.5 * omega.norm() * double(kDt)) * step;
    const Eigen::Matrix3d cayley = Eigen::AngleAxisd(angle, omega.normalized()).toRotationMatrix();
    REQUIRE(AngleBetween(cayley, RotationOf(pose.rotation)) < 1e-5);
  }
}

TEST_CASE("A collider rests where a step would take it too far out") {
  World world;
  ColliderDesc desc = {.pose = {.position = {.x = 0.999e9f}},
                       .velocity = {.x = 3.0e38f},
                       .angular_velocity = {.y = 3.0e38f}};
  const ColliderId id = AddCollider(&world, desc);
  for (int step = 0; step < 3; ++step) StepWorld(&world, 1.0f);
  CHECK(DescOf(world, id).pose.position.x == desc.pose.position.x);
}

TEST_CASE("A belt without friction carries nothing, and what lies on it stays awake") {
  BoxOnPlane scene({}, {.velocity = {0.5f, 0.0f, 0.0f}, .friction = 0.0f});
  scene.Step(400);
  CHECK(std::fabs(scene.MeanVelocity().x()) < 1e-4);
  CHECK_FALSE(scene.world.IsAsleep(scene.body));
  REQUIRE(scene.world.SetColliderVelocity(scene.plane, {}, {}).ok());
  scene.FallAsleep();
}

TEST_CASE("A plane that tilts takes a body along") {
  BoxOnPlane scene({}, {.friction = 1.0f});
  scene.Step(150);
  Pose before;
  REQUIRE(scene.world.BestFitPose(scene.body, &before).ok());
  const double end = 0.2;
  for (int step = 1; step <= 100; ++step) {
    MoveTo(&scene, {{}, TurnOf(end * step / 100.0, {0, 0, 1})});
    scene.Step(1);
    CAPTURE(step);
    REQUIRE(scene.Gap() > -1e-3);
  }
  scene.Step(100);
  Pose after;
  REQUIRE(scene.world.BestFitPose(scene.body, &after).ok());
  const Eigen::Matrix3d tilt = RotationOf(TurnOf(end, {0, 0, 1}));
  CHECK(AngleBetween(RotationOf(after.rotation), tilt * RotationOf(before.rotation)) < 0.02);
  CHECK((ToEigen(after.position) - tilt * ToEigen(before.position)).norm() < 0.01);
  CHECK(scene.Gap() == Approx(0.0).margin(1e-4));
}

TEST_CASE("A turntable carries a body round, and not outwards") {
  const bool by_velocity = GENERATE(false, true), has_substeps = GENERATE(false, true);
  CAPTURE(by_velocity, has_substeps);
  BoxOnPlane scene({}, {.friction = 1.0f}, {.pose = {.position = {0.5f, 0.005f, -0.1f}}});
  // A ball on the axis passes the body fast without touching it, which takes substeps.
  ColliderDesc ball = SphereAt({0.0f, 0.2f, 0.0f}, 0.47f);
  ball.angular_velocity = {0.0f, 25.0f, 0.0f};
  ball.friction = 0.0f;
  if (has_substeps) AddCollider(&scene.world, ball);
  scene.Step(100);
  const Eigen::Vector3d start = scene.MeanPosition();
  const double radius = std::hypot(start.x(), start.z());
  double angle = 0.0;
  for (int step = 1; step <= 400; ++step) {
    const double speed = 2.0 * std::min(0.01 * step, 1.0);  // [rad/s]
    const double turn = 2.0 * std::atan(0.5 * speed * double(kDt));
    angle += turn;
    if (by_velocity) {
      const Vec3 velocity = {0.0f, static_cast<float>(speed), 0.0f};
      REQUIRE(scene.world.SetColliderVelocity(scene.plane, {}, velocity).ok());
    } else {
      MoveTo(&scene, {{}, TurnOf(angle, {0, 1, 0})});
    }
    scene.Step(1);
    REQUIRE((scene.world.stats().substeps > 1) == has_substeps);
  }
  const Eigen::Vector3d end = scene.MeanPosition();
  CHECK(std::hypot(end.x(), end.z()) == Approx(radius).epsilon(0.005));  // was 1.054
  const Eigen::Vector3d carried = RotationOf(TurnOf(angle, {0, 1, 0})) * start;
  CHECK((end - carried).norm() < 0.005 * radius);
}

TEST_CASE("A body does not come towards a sensor that goes round with it") {
  const Vec3 spin = {0.0f, 2.0f, 0.0f};
  BodyDesc desc = {.pose = {.position = {0.5f, 0.005f, -0.1f}}};
  desc.velocity = Cross(spin, desc.pose.position);
  desc.angular_velocity = spin;
  desc.report_contacts = true;
  BoxOnPlane scene({}, {.angular_velocity = spin, .friction = 1.0f}, desc);
  scene.Step(100);
  const Eigen::Vector3d at = scene.MeanPosition();
  ColliderDesc sensor = {.plane = {{-1.0f, 0.0f, 0.0f}, -0.55f}};  // beyond 0.55 m from the axis
  sensor.pose.rotation = TurnOf(-std::atan2(at.z(), at.x()), {0, 1, 0});
  sensor.angular_velocity = spin;
  sensor.sensor = true;
  const ColliderId id = AddCollider(&scene.world, sensor);
  scene.Step(1);
  const auto events = scene.world.contact_events();
  const auto event = std::ranges::find(events, id, &ContactEvent::collider);
  REQUIRE(event != events.end());
  CHECK(event->type == ContactEventType::kBegan);
  CHECK(event->approach_speed < 2e-3f);  // was 0.014
}

TEST_CASE("A collider that moves to where it is acts like one at rest, to the bit") {
  BoxOnPlane moved, still;
  for (int step = 0; step < 100; ++step) {
    MoveTo(&moved, {});
    moved.Step(1);
    still.Step(1);
    REQUIRE(moved.world.StateHash() == still.world.StateHash());
  }
  REQUIRE(moved.world.stats().contacts > 0);
  CHECK(moved.world.IsAsleep(moved.body));
}

TEST_CASE("A collider wakes the bodies that it moves away from or reaches, and no others") {
  BoxOnPlane scene;
  const BodyId far =
      AddBody(&scene.world, scene.shape.asset(), {.pose = {.position = {50.0f, 0.005f, 0.0f}}});
  const ColliderId wall = AddCollider(&scene.world, {.plane = {{1.0f, 0.0f, 0.0f}, -1.0f}});
  for (int step = 0; step < 2000 && scene.world.stats().asleep < 2; ++step) scene.Step(1);
  REQUIRE(scene.world.stats().asleep == 2);

  // The wall comes from x = -1 at 1 m/s; the near body begins at x = 0.
  REQUIRE(scene.world.SetColliderVelocity(wall, {1.0f, 0.0f, 0.0f}, {}).ok());
  scene.Step(80);
  CHECK(scene.world.IsAsleep(scene.body));
  scene.Step(25);
  CHECK_FALSE(scene.world.IsAsleep(scene.body));
  CHECK(scene.world.IsAsleep(far));
  scene.Step(40);
  CHECK(scene.MeanVelocity().x() > 0.5);
  REQUIRE(scene.world.SetColliderPose(wall, {.position = {-9.0f, 0.0f, 0.0f}}).ok());
  REQUIRE(scene.world.SetColliderVelocity(wall, {}, {}).ok());
  CHECK(scene.world.IsAsleep(far));

  REQUIRE(scene.world.MoveCollider(scene.plane, {.position = {0.0f, -0.01f, 0.0f}}).ok());
  CHECK_FALSE(scene.world.IsAsleep(far));
}

TEST_CASE("A collider that a filter excludes neither wakes nor touches") {
  BoxOnPlane scene;
  const ColliderId ghost =
      AddCollider(&scene.world, {.plane = {.offset = -1.0f}, .filter = {.mask = 0}});
  scene.FallAsleep();
  const uint64_t hash = scene.world.StateHash();
  REQUIRE(scene.world.SetColliderVelocity(ghost, {0.0f, 1.0f, 0.0f}, {}).ok());
  scene.Step(200);
  CHECK(scene.world.IsAsleep(scene.body));
  CHECK(scene.world.StateHash() == hash);
}

TEST_CASE("A moving collider lifts bodies of any scale, crowds too") {
  const float scale = GENERATE(0.5f, 1.0f, 3.0f);
  CAPTURE(scale);
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1), {2.0e5, 0.4, 1000.0}, double(kDt));
  World world;
  const ColliderId plane = AddCollider(&world, {.velocity = {0.0f, 0.2f, 0.0f}});
  std::vector<BodyId> ids;
  for (int i = 0; i < 8; ++i) {
    ids.push_back(AddBody(
        &world, shape.asset(),
        {.pose = {.position = {2.0f * static_cast<float>(i), 0.3f, 0.0f}}, .scale = scale}));
  }
  for (int step = 0; step < 300; ++step) StepWorld(&world, kDt);
  const float height = DescOf(world, plane).pose.position.y;
  CHECK(height == Approx(0.6f));
  for (const BodyId id : ids) {
    Bounds bounds;
    REQUIRE(world.GetBounds(id, &bounds).ok());
    CHECK(bounds.low.y > height - 1e-3f * scale);
    CHECK(bounds.low.y < height + 0.3f * scale);
    CHECK(MomentsOf(world, id).linear_momentum[1] ==
          Approx(0.2 * MomentsOf(world, id).mass).epsilon(0.5));
  }
}

TEST_CASE("A plane that rises to a body needs as many substeps as a body that falls to a plane") {
  const float speed = GENERATE(1.0f, 6.0f, 12.0f);  // [m/s]
  CAPTURE(speed);
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1), {2.0e5, 0.4, 1000.0}, double(kDt));
  World plane_moves({.gravity = {}}), body_moves({.gravity = {}});
  AddCollider(&plane_moves, {.velocity = {0.0f, speed, 0.0f}});
  AddCollider(&body_moves);
  BodyDesc desc = {.pose = {.position = {.y = 0.5f * speed * kDt}}};
  AddBody(&plane_moves, shape.asset(), desc);
  desc.velocity.y = -speed;
  AddBody(&body_moves, shape.asset(), desc);
  StepWorld(&plane_moves, kDt);
  StepWorld(&body_moves, kDt);
  CHECK(plane_moves.stats().contacts > 0);
  CHECK(plane_moves.stats().substeps == body_moves.stats().substeps);
  CHECK((body_moves.stats().substeps > 1) == (speed > 5.0f));
}

TEST_CASE("A plane takes no body out of its crowd that its filter excludes") {
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1), {}, 0.01);
  World world;
  AddCollider(&world, {.filter = {.mask = 2}});
  for (int i = 0; i < 12; ++i) {
    const bool above = i % 2 == 0;  // and touchable
    AddBody(&world, shape.asset(),
            {.pose = {.position = {static_cast<float>(i), above ? 50.0f : -50.0f, 0.0f}},
             .filter = {.category = above ? 2u : 1u}});
  }
  for (int step = 0; step < 5; ++step) {
    StepWorld(&world, 0.01f);
    // In a world with planes, solves of single bodies count as kContact.
    CHECK(world.stats().phase_s[static_cast<size_t>(Phase::kContact)] == 0.0f);
    CHECK(world.stats().phase_s[static_cast<size_t>(Phase::kSolve)] > 0.0f);
  }
  CHECK(MeasuresOf(world).max_penetration == 0.0f);
}

TEST_CASE(
    "A body of a crowd that expands into a plane stops at it, whatever else is in the crowd") {
  const int excluded = GENERATE(-1, 0, 5, 11);  // the body that the plane lets through, or none
  CAPTURE(excluded);
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1), {1.0e6, 0.3, 1000.0}, double(kDt));
  World world({.gravity = {}});
  AddCollider(&world, {.filter = {.mask = 2}});
  std::vector<BodyId> ids;
  for (int i = 0; i < 12; ++i) {
    BodyDesc desc = {.pose = {.position = {static_cast<float>(i), 3.0f, 0.0f}},
                     .filter = {.category = i == excluded ? 1u : 2u}};
    ids.push_back(AddBody(&world, shape.asset(), desc));
  }
  StepWorld(&world, kDt);
  // At rest and too far from the plane to touch it by velocity, but squeezed to 0.7 of its height.
  std::vector<Vec3> x = PositionsOf(world, ids[3], shape.num_nodes());
  float low = x[0].y;
  for (const Vec3& p : x) low = std::min(low, p.y);
  for (Vec3& p : x) p.y = 0.012f + 0.7f * (p.y - low);
  REQUIRE(world.SetNodePositions(ids[3], x).ok());
  StepWorld(&world, kDt);
  CHECK(world.stats().phase_s[static_cast<size_t>(Phase::kSolve)] > 0.0f);  // there is a crowd
  CHECK(world.stats().contacts > 0);
  CHECK(MeasuresOf(world).max_penetration < 3.1e-4f * shape.simulation().median_edge);
}

TEST_CASE("A collider that turns by more than 30 degrees in a substep sets a flag") {
  const int max_substeps = GENERATE(1, 2, 4);
  const double share = GENERATE(0.9, 1.1);  // of what is allowed
  const bool by_velocity = GENERATE(false, true);
  const double angle = share * max_substeps * std::numbers::pi / 6.0;
  CAPTURE(max_substeps, share, by_velocity);
  WorldDesc world = {.gravity = {}, .contact = {.max_substeps = max_substeps}};
  SolidScene scene(true, BodyAt({}), world);
  // A wheel just above the body's top.
  ColliderDesc wheel =
      CapsuleAt(TurnedPose({0.1f, 0.26f, 0.1f}, 0.5 * std::numbers::pi, {1, 0, 0}), 0.1f, 0.05f);
  if (by_velocity) {
    // The velocity that a step takes for this turn.
    wheel.angular_velocity = {0.0f, 0.0f,
                              static_cast<float>(2.0 * std::tan(0.5 * angle)) / SolidScene::kDt};
  }
  const ColliderId id = AddCollider(&scene.world, wheel);
  for (int step = 1; step <= 3; ++step) {
    wheel.pose.rotation = ToQuat(Eigen::AngleAxisd(angle, Eigen::Vector3d::UnitZ()) *
                                 RotationOf(wheel.pose.rotation));
    if (!by_velocity) REQUIRE(scene.world.MoveCollider(id, wheel.pose).ok());
    scene.Step(1);
  }
  CHECK(((scene.flags & kStepColliderTurnsFar) != 0) == (share > 1.0));
}

TEST_CASE("Contacts that many sweeps do not settle are counted") {
  BoxOnPlane scene;
  for (int step = 0; step < 100; ++step) {
    scene.Step(1);
    REQUIRE(scene.world.stats().contacts_unsettled == 0);
  }
  // A roof that leaves the box no room. (What one lid does to it is solved at once.)
  const std::vector<Vec3> nodes = scene.positions();
  const Vec3 normals[2] = {{0.7f, -0.71414284f, 0.0f}, {-0.7f, -0.71414284f, 0.0f}};
  ColliderId roof[2];
  for (int k = 0; k < 2; ++k) {
    float lowest = Dot(normals[k], nodes[0]);
    for (const Vec3& x : nodes) lowest = std::min(lowest, Dot(normals[k], x));
    roof[k] = AddCollider(&scene.world, {.plane = {normals[k], lowest}, .friction = 1.0f});
  }
  uint32_t unsettled = 0;
  for (int step = 1; step <= 12; ++step) {
    for (int k = 0; k < 2; ++k) {
      const Vec3 way = normals[k] * (0.02f * static_cast<float>(step));
      REQUIRE(scene.world.MoveCollider(roof[k], {.position = way}).ok());
    }
    scene.Step(1);
    unsettled += scene.world.stats().contacts_unsettled;
  }
  CHECK(unsettled > 0);
}

}  // namespace moving_collider_test
