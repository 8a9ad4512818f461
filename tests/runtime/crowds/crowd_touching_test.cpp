// SPDX-License-Identifier: MIT
// Crowds whose bodies may touch each other: those out of reach keep their lanes and bits, and those
// that touch step by themselves until they have parted.
#include "runtime/collision/surface_fixtures.h"
#include "runtime/crowd_lanes.h"
#include "runtime/crowds/crowd_scene.h"

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace crowd_touching_test {

constexpr float kDt = 0.01f;
constexpr int kSteps = 60;

using Trail = std::vector<std::vector<float>>;

// Boxes of 0.2 m over a plane far below, without gravity. With the plane, the phases of a step tell
// who steps in lanes: see HadCrowds.
struct Boxes {
  explicit Boxes(uint32_t max_pairs)
      : shape(SurfaceBytes(TetBox(2, 2, 2, 0.1, 0.02, 3),
                           {.parts = 2, .depth = 0.0, .num_shells = 0})),
        world(DescOf(max_pairs)) {
    AddPlane(&world, {{0.0f, 1.0f, 0.0f}, -30.0f});
  }
  static WorldDesc DescOf(uint32_t max_pairs) {
    return WorldDesc{.gravity = {}, .max_pairs = max_pairs};
  }

  size_t Add(const Vec3& position, const Vec3& velocity, Random* random) {
    Member member = RandomMember(shape, position, 0.02, random);
    // Turned by 45 degrees about z.
    member.pose.rotation = {0.0f, 0.0f, 0.38268343f, 0.92387953f};
    member.angular_velocity = {};
    member.velocity = velocity;
    ids.push_back(member.AddTo(&world, shape.asset()));
    trails.emplace_back();
    return ids.size() - 1;
  }
  // Bodies a metre apart from each other and from all that is near the origin.
  void AddFar(int count, Random* random) {
    for (int i = 0; i < count; ++i) {
      Add({5.0f + float(ids.size() % 6), float(ids.size() / 6), 3.0f}, {}, random);
    }
  }
  void Step() {
    REQUIRE(world.Step(kDt).ok());
    for (size_t i = 0; i < ids.size(); ++i) {
      trails[i].push_back(StateOf(world, ids[i], shape.num_nodes()));
    }
  }
  bool AnyStepsAlone() const {
    return world.stats().phase_s[static_cast<size_t>(Phase::kContact)] > 0.0f;
  }

  ShapeAsset shape;
  World world;
  std::vector<BodyId> ids;
  std::vector<Trail> trails;  // by body
};

void CheckSame(const Trail& a, const Trail& b) {
  REQUIRE(a.size() == b.size());
  for (size_t step = 0; step < a.size(); ++step) {
    CAPTURE(step);
    REQUIRE(SameBits(a[step], b[step]));
  }
}

TEST_CASE("Bodies of a crowd that touch none keep their lanes and bits when bodies may touch") {
  const uint32_t seed = GENERATE(1u, 2u);
  CAPTURE(seed);
  const auto run = [&](uint32_t max_pairs, Boxes* boxes) {
    Random random(seed);
    boxes->AddFar(12, &random);
    // The boxes around two overlap, though these do not.
    boxes->Add({0.0f, 0.0f, 0.0f}, {}, &random);
    boxes->Add({0.163f, 0.163f, 0.0f}, {}, &random);
    uint32_t searches = 0;
    for (int step = 0; step < kSteps; ++step) {
      boxes->Step();
      CAPTURE(step, max_pairs);
      REQUIRE(HadCrowds(boxes->world));
      REQUIRE_FALSE(boxes->AnyStepsAlone());
      REQUIRE(boxes->world.stats().contacts == 0);
      searches += boxes->world.stats().pairs_searched;
    }
    CHECK((searches > 0) == (max_pairs > 0));
  };
  Boxes without(0), with(64);
  run(0, &without);
  run(64, &with);
  for (size_t i = 0; i < with.trails.size(); ++i) {
    CAPTURE(i);
    CheckSame(with.trails[i], without.trails[i]);
  }
}

TEST_CASE("Bodies of a crowd that touch leave their lanes and come back and change no other body") {
  const uint32_t seed = GENERATE(3u, 4u);
  CAPTURE(seed);
  struct Motions {
    Trail left, right, far;
  };
  const auto run = [&](int before, int between, int behind, bool collide) {
    Random random(seed);
    Boxes boxes(64);
    const auto add_far = [&](int count) {
      Random of_others(seed + 10 + uint32_t(before));
      boxes.AddFar(count, &of_others);
    };
    add_far(before);
    const size_t far = boxes.Add({-5.0f, 0.0f, 0.0f}, {0.1f, 0.0f, 0.0f}, &random);
    const size_t left =
        boxes.Add({-0.4f, 0.0f, 0.0f}, {collide ? 1.5f : -1.5f, 0.0f, 0.0f}, &random);
    add_far(between);
    const size_t right = boxes.Add({0.3f, 0.02f, 0.01f}, {}, &random);
    add_far(behind);
    bool touched = false, back = true;
    for (int step = 0; step < kSteps; ++step) {
      boxes.Step();
      CAPTURE(before, step);
      REQUIRE(HadCrowds(boxes.world));
      const bool touches = boxes.world.stats().body_pairs > 0;
      touched = touched || touches;
      if (touches) REQUIRE(boxes.AnyStepsAlone());
      back = !boxes.AnyStepsAlone();
    }
    CHECK(touched == collide);
    CHECK(back);
    return Motions{boxes.trails[left], boxes.trails[right], boxes.trails[far]};
  };
  // The first six find a system to share. Each crowd of 16 keeps at least six.
  const Motions first = run(6, 0, 7, true), passing = run(6, 0, 7, false);
  CheckSame(first.far, passing.far);
  REQUIRE_FALSE(SameBits(first.right.back(), passing.right.back()));
  struct Case {
    int before, between, behind;
  };
  for (const Case& c : {Case{13, 0, 0}, Case{9, 3, 1}, Case{15, 0, 14}, Case{14, 5, 10}}) {
    CAPTURE(c.before, c.between, c.behind);
    const Motions other = run(c.before, c.between, c.behind, true);
    CheckSame(other.far, first.far);
    CheckSame(other.left, first.left);
    CheckSame(other.right, first.right);
  }
}

}  // namespace crowd_touching_test
