// SPDX-License-Identifier: MIT
// Friction and restitution between two bodies: those of both materials, mixed as with colliders.
#include "bake/asset_writer.h"
#include "runtime/collision/surface_fixtures.h"
#include "shapes/shape_asset.h"
#include "touching/contact_problem.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace pair_coefficients_test {

constexpr float kDt = 0.01f, kNone = -1.0f;
constexpr double kGravity = 9.81;

// A mesh with a flat surface, whose tets below and above half its height are of two materials.
ShapeAsset TwoLayers(const tools::TetMesh& mesh, const Coefficients& low,
                     const Coefficients& high) {
  tools::Material materials[2] = {{1.0e6, 0.35, 1000.0}, {1.0e6, 0.35, 1000.0}};
  const Coefficients* const given[2] = {&low, &high};
  for (int k = 0; k < 2; ++k) {
    if (given[k]->friction >= 0.0f) materials[k].friction = double(given[k]->friction);
    if (given[k]->restitution >= 0.0f) materials[k].restitution = double(given[k]->restitution);
  }
  double top = 0.0;
  for (const auto& node : mesh.nodes) top = std::max(top, node.y);
  std::vector<uint16_t> of_tets;
  for (const auto& nodes : mesh.tets) {
    double y = 0.0;
    for (const uint32_t node : nodes) y += mesh.nodes[node].y / 4.0;
    of_tets.push_back(y < 0.5 * top ? 0 : 1);
  }
  tools::AssetContent content =
      MixedContentOf(mesh, {materials[0], materials[1]}, of_tets, 0.0, double(kDt));
  AddSurface({.parts = 2, .depth = 0.0, .num_shells = 0}, &content);
  const auto bytes = tools::WriteAsset(content);
  REQUIRE(bytes.ok());
  return ShapeAsset(bytes.value());
}

// What a body has baked in its lower and its upper half, its own coefficient, and its user data.
struct Sides {
  float low = kNone, high = kNone, own = kNone;
  uint64_t user_data = 0;
};

struct SlideDesc {
  Sides floor, box;
  bool box_first = false;      // in the lower slot
  bool floor_is_free = false;  // 500 times as heavy as the box, on a smooth plane
  double angle = 0.0;          // of a slope down x [rad]
  MixCoefficients mix = nullptr;
};

// A box of 0.2 x 0.2 x 0.2 m that lies on a body of 2 x 0.5 x 1 m.
struct Slide {
  explicit Slide(const SlideDesc& desc)
      : floor_shape(TwoLayers(TetBox(8, 2, 4, 0.25), OfFriction(desc.floor.low),
                              OfFriction(desc.floor.high))),
        box_shape(
            TwoLayers(TetBox(2, 2, 2, 0.1), OfFriction(desc.box.low), OfFriction(desc.box.high))),
        world(DescOf(desc)) {
    if (desc.floor_is_free) AddPlane(&world, {}, 0.0f);
    for (int k = 0; k < 2; ++k) {
      const bool is_box = (k == 0) == desc.box_first;
      const Sides& of = is_box ? desc.box : desc.floor;
      BodyDesc body = {.material = {.damping = 0.02f, .friction = of.own},
                       .user_data = of.user_data};
      if (is_box) body.pose.position = {0.3f, 0.5f, 0.4f};
      body.fixed = !is_box && !desc.floor_is_free;
      if (!is_box && desc.floor_is_free) body.material.density = 4000.0f;
      (is_box ? box : floor) = AddBody(&world, (is_box ? box_shape : floor_shape).asset(), body);
    }
  }
  static Coefficients OfFriction(float friction) { return {friction, kNone}; }
  static WorldDesc DescOf(const SlideDesc& desc) {
    return WorldDesc{.gravity = {static_cast<float>(kGravity * std::sin(desc.angle)),
                                 static_cast<float>(-kGravity * std::cos(desc.angle)), 0.0f},
                     .sleep = {.speed = 0.0f},
                     .mix_friction = desc.mix,
                     .max_pairs = 4};
  }

  void Step(int steps) {
    for (int k = 0; k < steps; ++k) {
      CHECK((StepWorld(&world, kDt) & (kStepBodyFrozen | kStepContactsDropped)) == 0);
    }
  }
  double SpeedOf(BodyId id) const {
    const BodyMoments m = MomentsOf(world, id);
    return m.linear_momentum[0] / m.mass;
  }
  // Of the box, along x, relative to the floor.
  double Speed() const { return SpeedOf(box) - SpeedOf(floor); }

  ShapeAsset floor_shape, box_shape;
  World world;
  BodyId floor, box;
};

// The deceleration of a box that slides at 3 m/s after it has come to rest, in units of gravity.
double Braking(const SlideDesc& desc) {
  Slide slide(desc);
  slide.Step(60);
  CHECK(std::fabs(slide.Speed()) < 1e-3);
  std::vector<Vec3> velocities(slide.box_shape.num_nodes(), Vec3{3.0f, 0.0f, 0.0f});
  REQUIRE(slide.world.SetNodeVelocities(slide.box, velocities).ok());
  slide.Step(8);
  const double before = slide.Speed();
  constexpr int kSteps = 24;
  slide.Step(kSteps);
  CHECK(slide.Speed() > 0.2);  // it has not stopped
  CHECK(slide.world.stats().body_pairs == 1);
  return (before - slide.Speed()) / (kSteps * double(kDt) * kGravity);
}

// Tells all four arguments apart: 0.3 for a body 7 of 0.2 that comes before a body 9 of 0.9, 0.15
// if they come in the other order.
float FrictionOfSevenAndNine(float first, uint64_t first_data, float second, uint64_t second_data) {
  const bool is_seven_first = first == 0.2f && first_data == 7;
  const bool is_nine_first = first == 0.9f && first_data == 9;
  if (is_seven_first && second == 0.9f && second_data == 9) return 0.3f;
  if (is_nine_first && second == 0.2f && second_data == 7) return 0.15f;
  return 0.6f;
}

// 0.25 if neither body has friction, 0.6 otherwise.
float FrictionOfNone(float first, uint64_t, float second, uint64_t) {
  return first < 0.0f && second < 0.0f ? 0.25f : 0.6f;
}

TEST_CASE("A box slides on another body with the geometric mean of their frictions") {
  const bool box_first = GENERATE(false, true);
  struct Case {
    float floor, box;
    double friction;
  };
  for (const Case& c : {Case{0.3f, 0.3f, 0.3},
                        {0.5f, 0.5f, 0.5},
                        {0.2f, 0.8f, 0.4},
                        {0.8f, 0.2f, 0.4},
                        {kNone, 0.3f, 0.3},
                        {0.3f, kNone, 0.3},
                        {kNone, kNone, 0.5},
                        {0.0f, 0.9f, 0.0},
                        {0.9f, 0.0f, 0.0}}) {
    CAPTURE(box_first, c.floor, c.box);
    const SlideDesc desc = {
        .floor = {.own = c.floor}, .box = {.own = c.box}, .box_first = box_first};
    CHECK(Braking(desc) == Approx(c.friction).epsilon(0.02).margin(1e-3));
  }
}

TEST_CASE("On a body as steep as between 0.3 and 0.5, friction of 0.5 holds a box, 0.3 does not") {
  const bool box_first = GENERATE(false, true);
  const float friction = GENERATE(0.3f, 0.5f);
  CAPTURE(box_first, friction);
  constexpr double kAngle = 0.3805;  // its tangent is 0.4
  Slide slide({.floor = {.own = friction},
               .box = {.own = friction},
               .box_first = box_first,
               .angle = kAngle});
  slide.Step(20);
  const double before = slide.Speed();
  slide.Step(40);
  const double gained = slide.Speed() - before;
  if (friction > 0.4f) {
    CHECK(std::fabs(slide.Speed()) < 2e-3);
  } else {
    const double expected = kGravity * (std::sin(kAngle) - 0.3 * std::cos(kAngle));
    CHECK(gained / (40 * double(kDt)) == Approx(expected).epsilon(0.02));
  }
}

TEST_CASE("Friction brakes a box on a heavy free body as much as it speeds that one up") {
  const float friction = GENERATE(0.3f, 0.5f);
  const bool box_first = GENERATE(false, true);
  CAPTURE(friction, box_first);
  Slide slide({.floor = {.own = friction},
               .box = {.own = friction},
               .box_first = box_first,
               .floor_is_free = true});
  slide.Step(60);
  std::vector<Vec3> velocities(slide.box_shape.num_nodes(), Vec3{3.0f, 0.0f, 0.0f});
  REQUIRE(slide.world.SetNodeVelocities(slide.box, velocities).ok());
  slide.Step(8);
  const double box = slide.SpeedOf(slide.box), floor = slide.SpeedOf(slide.floor);
  constexpr int kSteps = 24;
  slide.Step(kSteps);
  const double lost = box - slide.SpeedOf(slide.box), gained = slide.SpeedOf(slide.floor) - floor;
  CHECK(lost / (kSteps * double(kDt)) == Approx(double(friction) * kGravity).epsilon(0.02));
  const double ratio =
      MomentsOf(slide.world, slide.floor).mass / MomentsOf(slide.world, slide.box).mass;
  CHECK(gained * ratio == Approx(lost).epsilon(0.02));
}

TEST_CASE("Between bodies, friction comes from the baked material where they touch") {
  const bool box_first = GENERATE(false, true);
  CAPTURE(box_first);
  // What lies away from the other body counts for nothing.
  const Sides floor = {.low = 0.9f, .high = 0.2f}, box = {.low = 0.8f, .high = 0.05f};
  CHECK(Braking({.floor = floor, .box = {}, .box_first = box_first}) == Approx(0.2).epsilon(0.02));
  CHECK(Braking({.floor = {}, .box = box, .box_first = box_first}) == Approx(0.8).epsilon(0.02));
  CHECK(Braking({.floor = floor, .box = box, .box_first = box_first}) == Approx(0.4).epsilon(0.02));
  // The body's own number comes before that of its material.
  Sides own = floor;
  own.own = 0.45f;
  CHECK(Braking({.floor = own, .box = box, .box_first = box_first}) == Approx(0.6).epsilon(0.02));
}

TEST_CASE("A world's own function mixes the frictions of two bodies, the lower slot's first") {
  const bool box_first = GENERATE(false, true);
  CAPTURE(box_first);
  SlideDesc desc = {.floor = {.high = 0.2f, .user_data = 7},
                    .box = {.own = 0.9f, .user_data = 9},
                    .box_first = box_first,
                    .mix = FrictionOfSevenAndNine};
  CHECK(Braking(desc) == Approx(box_first ? 0.15 : 0.3).epsilon(0.02));
  desc.box.user_data = 8;
  CHECK(Braking(desc) == Approx(0.6).epsilon(0.02));
  desc.floor = desc.box = {};
  desc.mix = FrictionOfNone;
  CHECK(Braking(desc) == Approx(0.25).epsilon(0.02));
}

// 0.5 for a body 7 of 0.1 that comes before a body 9 without restitution.
float RestitutionOfSevenAndNine(float first, uint64_t first_data, float second,
                                uint64_t second_data) {
  const bool fits = first == 0.1f && first_data == 7 && second < 0.0f && second_data == 9;
  return fits ? 0.5f : 0.0f;
}

struct Bounces {
  Coefficients baked[2];  // of both halves of the target, then of the cube
  float own[2] = {kNone, kNone};
  uint64_t user_data[2] = {};
  bool cube_first = false;
  MixCoefficients mix = nullptr;
};

// Share of its speed of 2 m/s at which a stiff cube leaves a fixed one.
double Rebound(const Bounces& desc) {
  const tools::TetMesh mesh = TetBox(3, 3, 3, 0.1);
  World world(
      {.gravity = {}, .sleep = {.speed = 0.0f}, .mix_restitution = desc.mix, .max_pairs = 4});
  const ShapeAsset shapes[2] = {TwoLayers(mesh, desc.baked[0], desc.baked[0]),
                                TwoLayers(mesh, desc.baked[1], desc.baked[1])};
  BodyId cube;
  for (int k = 0; k < 2; ++k) {
    const bool is_cube = (k == 0) == desc.cube_first;
    const size_t i = is_cube ? 1 : 0;
    BodyDesc body = {.material = {.young = 1.0e8f, .restitution = desc.own[i]},
                     .fixed = !is_cube,
                     .user_data = desc.user_data[i]};
    if (is_cube) body.pose.position = {-0.4f, 0.0f, 0.0f}, body.velocity = {2.0f, 0.0f, 0.0f};
    const BodyId id = AddBody(&world, shapes[i].asset(), body);
    if (is_cube) cube = id;
  }
  for (int step = 0; step < 20; ++step) StepWorld(&world, kDt);
  const BodyMoments m = MomentsOf(world, cube);
  return -0.5 * m.linear_momentum[0] / m.mass;
}

TEST_CASE("A cube leaves another body at the larger restitution of the two") {
  const bool cube_first = GENERATE(false, true);
  CAPTURE(cube_first);
  const Coefficients none = {kNone, kNone}, half = {kNone, 0.5f};
  const auto of = [&](const Coefficients& target, const Coefficients& cube, float own_target,
                      float own_cube) {
    return Rebound(
        {.baked = {target, cube}, .own = {own_target, own_cube}, .cube_first = cube_first});
  };
  CHECK(of(none, none, kNone, kNone) == Approx(0.0).margin(0.03));
  CHECK(of(none, none, 0.5f, kNone) == Approx(0.5).margin(0.03));
  CHECK(of(none, none, kNone, 0.5f) == Approx(0.5).margin(0.03));
  CHECK(of(none, none, 0.5f, 0.2f) == Approx(0.5).margin(0.03));
  CHECK(of(none, none, 0.2f, 0.5f) == Approx(0.5).margin(0.03));
  CHECK(of(half, none, kNone, kNone) == Approx(0.5).margin(0.03));
  CHECK(of(none, half, kNone, kNone) == Approx(0.5).margin(0.03));
  CHECK(of(half, half, 0.1f, 0.0f) == Approx(0.1).margin(0.03));
}

TEST_CASE("A world's own function mixes the restitutions of two bodies, the lower slot's first") {
  const bool cube_first = GENERATE(false, true);
  CAPTURE(cube_first);
  Bounces desc = {.cube_first = cube_first, .mix = RestitutionOfSevenAndNine};
  for (Coefficients& baked : desc.baked) baked = {kNone, kNone};
  const size_t first = cube_first ? 1 : 0;
  desc.baked[first].restitution = 0.1f;
  desc.user_data[first] = 7;
  desc.user_data[1 - first] = 9;
  CHECK(Rebound(desc) == Approx(0.5).margin(0.03));
  std::swap(desc.user_data[0], desc.user_data[1]);
  CHECK(Rebound(desc) == Approx(0.0).margin(0.03));
}

}  // namespace pair_coefficients_test
