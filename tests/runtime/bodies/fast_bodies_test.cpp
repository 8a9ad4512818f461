// SPDX-License-Identifier: MIT
// Bodies that meet at high speed: what flags say, and who ends where.
#include "runtime/colliders/solid_scene.h"
#include "skip.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace plush;
using namespace plush::test;

namespace fast_bodies_test {

// Two bodies of boxes of cells of 0.1 m, `cells` thick, that meet at `speed` each.
struct Meeting {
  Meeting(uint32_t cells, float speed, float scale, float dt, int max_substeps,
          float gap_in_thicknesses = 0.6f)
      : shape(SurfaceBytes(TetBox(cells, 3, 3, 0.1), {.parts = 2, .depth = 0.0, .num_shells = 0})),
        world(DescOf(max_substeps)),
        dt_s(dt) {
    const float thick = 0.1f * static_cast<float>(cells) * scale;
    const float gap = 0.5f * gap_in_thicknesses * thick;
    for (const float side : {-1.0f, 1.0f}) {
      BodyDesc desc = {.pose = {.position = {side < 0.0f ? -thick - gap : gap, 0.0f, 0.0f}},
                       .scale = scale,
                       .velocity = {-side * speed, 0.0f, 0.0f},
                       .material = {.young = 2.0e5f, .damping = 0.02f}};
      bodies[side < 0.0f ? 0 : 1] = AddBody(&world, shape.asset(), desc);
    }
  }
  static WorldDesc DescOf(int max_substeps) {
    return WorldDesc{.gravity = {}, .contact = {.max_substeps = max_substeps}, .max_pairs = 4};
  }
  double Distance() const {
    return MomentsOf(world, bodies[1]).centre[0] - MomentsOf(world, bodies[0]).centre[0];
  }
  uint32_t Step(int steps) {
    uint32_t flags = 0;
    for (int k = 0; k < steps; ++k) flags |= StepWorld(&world, dt_s);
    return flags;
  }

  ShapeAsset shape;
  World world;
  float dt_s;
  BodyId bodies[2];
};

TEST_CASE("Bodies that approach by more than half their thickness in a substep are flagged") {
  const float dt = 0.01f, scale = GENERATE(1.0f, 0.5f);
  const uint32_t cells = GENERATE(1u, 3u);
  const int substeps = GENERATE(1, 4);
  CAPTURE(scale, cells, substeps);
  // They approach each other at twice the speed of each.
  const float limit =
      0.25f * 0.1f * static_cast<float>(cells) * scale / dt * static_cast<float>(substeps);
  Meeting slow(cells, 0.9f * limit, scale, dt, substeps),
      fast(cells, 1.1f * limit, scale, dt, substeps);
  const uint32_t slow_flags = slow.Step(2), fast_flags = fast.Step(2);
  CHECK((slow_flags & kStepBodiesFast) == 0);
  CHECK((fast_flags & kStepBodiesFast) != 0);
}

TEST_CASE("Soft boxes that meet at 10 m/s each at 60 Hz bounce off each other") {
  Meeting boxes(3, 10.0f, 1.0f, 1.0f / 60.0f, 4);
  for (int step = 0; step < 120; ++step) {
    static_cast<void>(boxes.Step(1));
    REQUIRE(boxes.Distance() > 0.0);
  }
  CHECK(boxes.Distance() > 0.25);
}

// A search looks at the end of the step only. There they overlap by nearly their thickness.
TEST_CASE("Plates that move by up to their thickness in a step bounce off each other") {
  constexpr float kDt = 0.01f, kThick = 0.1f;
  const float way = GENERATE(0.55f, 0.75f, 0.95f) * kThick;  // relative, in a step
  for (int phase = 0; phase < 12; ++phase) {
    CAPTURE(way, phase);
    const float gap = way * (0.02f + static_cast<float>(phase) / 12.0f);
    Meeting plates(1, 0.5f * way / kDt, 1.0f, kDt, 4, gap / kThick);
    for (int step = 0; step < 30; ++step) {
      static_cast<void>(plates.Step(1));
      REQUIRE(plates.Distance() > 0.75 * double(kThick));
    }
    CHECK(plates.Distance() > 1.1 * double(kThick));
  }
}

// From any distance, turned in any way, and a little beside each other: they do not pass each
// other.
TEST_CASE("Solids that meet at 10 m/s each at 60 Hz never swap sides, however they are turned",
          "[long]") {
  constexpr double kSpeed = 10.0, kDt = 1.0 / 60.0;
  const ShapeAsset shapes[] = {
      ShapeAsset(SurfaceBytes(TetBox(3, 3, 3, 0.1), {.parts = 2, .depth = 0.0, .num_shells = 0})),
      ShapeAsset(SurfaceBytes(TetBox(5, 3, 3, 0.1), {.parts = 2, .depth = 0.0, .num_shells = 0}))};
  const Eigen::Vector3d middles[] = {{0.15, 0.15, 0.15}, {0.25, 0.15, 0.15}};
  const uint32_t runs = tests::FullTests() ? 2000 : 40;
  for (uint32_t seed = 1; seed <= runs; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Eigen::Vector3d along = random.Direction();
    const double apart = random.Uniform(0.7, 1.4);
    const Eigen::Vector3d beside = along.cross(random.Vector(0.05));
    World world(Meeting::DescOf(4));
    BodyId bodies[2];
    for (int k = 0; k < 2; ++k) {
      const uint32_t kind = random.Below(2);
      const Eigen::Matrix3d R = random.Rotation();
      const Eigen::Vector3d at =
          along * (k == 0 ? -0.5 : 0.5) * apart + (k == 0 ? 1.0 : 0.0) * beside;
      BodyDesc desc = {.pose = {.position = ToVec3(at - R * middles[kind]), .rotation = ToQuat(R)},
                       .velocity = ToVec3(along * (k == 0 ? kSpeed : -kSpeed)),
                       .material = {.young = 2.0e5f, .damping = 0.02f}};
      bodies[k] = AddBody(&world, shapes[kind].asset(), desc);
    }
    const auto centre = [&](int k) { return Eigen::Vector3d(MomentsOf(world, bodies[k]).centre); };
    // Some slip off sideways and then fly past: beside each other, not through. Their middles are
    // 0.3 m apart then; squeezed ones, seven of 2,000, 0.22 to 0.29 m. Those that pass through are
    // no farther apart than they aimed, 0.09 m.
    constexpr double kBeside = 0.2;  // [m]
    double nearest = apart, distance = apart, beside_it = 1.0;
    for (int step = 0; step < 40; ++step) {
      StepWorld(&world, float(kDt));
      const Eigen::Vector3d way = centre(1) - centre(0);
      distance = way.norm();
      nearest = std::min(nearest, distance);
      const double ahead = along.dot(way);
      if (ahead < 0.0) beside_it = std::min(beside_it, (way - along * ahead).norm());
    }
    CAPTURE(nearest, distance, beside_it);
    CHECK(beside_it > kBeside);
    CHECK(nearest < 0.5);     // they met
    CHECK(distance > apart);  // and part
  }
}

TEST_CASE("A body that is put deep inside another one comes out") {
  const ShapeAsset shape(
      SurfaceBytes(TetBox(2, 2, 2, 0.1), {.parts = 2, .depth = 0.0, .num_shells = 0}));
  World world(Meeting::DescOf(4));
  BodyDesc outer, inner;
  outer.fixed = true;
  outer.scale = 5.0f;
  AddBody(&world, shape.asset(), outer);
  inner.pose.position = {0.6f, 0.4f, 0.45f};
  inner.scale = 0.5f;
  inner.material.damping = 0.05f;
  const BodyId id = AddBody(&world, shape.asset(), inner);
  StepWorld(&world, 0.01f);
  CHECK(world.stats().contacts > 0);
  for (int step = 0; step < 400; ++step) StepWorld(&world, 0.01f);
  CHECK(MomentsOf(world, id).centre[0] > 1.03);
}

// The plate's own box is thick, as the plate is tilted. It moves by ten of its thicknesses in a
// step.
TEST_CASE("A thin tilted plate does not sweep past a small body unseen") {
  const float way = GENERATE(0.05f, 0.1f, 0.15f, 0.2f);  // in a step [m]
  const bool is_first = GENERATE(false, true);
  CAPTURE(way, is_first);
  constexpr float kDt = 0.01f;
  const ShapeAsset plate(
      SurfaceBytes(TetBox(12, 12, 1, 0.05), {.parts = 1, .depth = 0.0, .num_shells = 0}));
  const ShapeAsset cube(
      SurfaceBytes(TetBox(2, 2, 2, 0.01), {.parts = 2, .depth = 0.0, .num_shells = 0}));
  World world({.gravity = {}, .max_pairs = 4});
  BodyDesc moving, still;
  moving.pose = TurnedPose({0.0f, 0.0f, 0.0f}, 0.785, Eigen::Vector3d::UnitY());
  moving.velocity = {0.0f, 0.0f, way / kDt};
  still.pose.position = {0.39f, 0.3f, -0.33f + 0.25f * way};  // before its rear edge
  BodyId id;
  for (const bool adds_cube : {is_first, !is_first}) {
    if (adds_cube) id = AddBody(&world, cube.asset(), still);
    if (!adds_cube) AddBody(&world, plate.asset(), moving);
  }
  for (int step = 0; step < 4; ++step) StepWorld(&world, kDt);
  const BodyMoments m = MomentsOf(world, id);
  CHECK(m.linear_momentum[2] > 0.2 * double(way / kDt) * m.mass);
}

TEST_CASE("Bodies that meet within a step and pass each other are flagged", "[long]") {
  // A bar of 8 cm goes through a plate of 1 cm.
  const float speed = GENERATE(6.0f, 10.0f, 20.0f, 40.0f);
  CAPTURE(speed);
  const ShapeAsset plate(
      SurfaceBytes(TetBox(20, 1, 20, 0.01), {.parts = 1, .depth = 0.0, .num_shells = 0}));
  const ShapeAsset bar(
      SurfaceBytes(TetBox(2, 8, 2, 0.01), {.parts = 1, .depth = 0.0, .num_shells = 0}));
  int num_passes = 0;
  for (int phase = 0; phase < 12; ++phase) {
    World world({.gravity = {}, .max_pairs = 4});
    BodyDesc fixed, thrown;
    fixed.fixed = true;
    thrown.pose.position = {0.09f, 0.011f + 0.01f * speed * static_cast<float>(phase) / 12.0f,
                            0.09f};
    thrown.velocity.y = -speed;
    AddBody(&world, plate.asset(), fixed);
    const BodyId id = AddBody(&world, bar.asset(), thrown);
    uint32_t flags = 0;
    for (int step = 0; step < 8; ++step) flags |= StepWorld(&world, 0.01f);
    const bool passes = MomentsOf(world, id).centre[1] < 0.0;
    if (passes) CHECK((flags & kStepBodiesFast) != 0);
    num_passes += passes ? 1 : 0;
  }
  // Slow ones bounce off.
  CAPTURE(num_passes);
  CHECK(num_passes >= (speed < 8.0f ? 0 : speed < 15.0f ? 1 : 5));
}

}  // namespace fast_bodies_test
