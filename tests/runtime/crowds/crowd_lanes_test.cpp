// SPDX-License-Identifier: MIT
// The motion of a body in a crowd depends neither on the other bodies nor on its lane.
#include "runtime/crowd_lanes.h"

#include "runtime/attachments/attachment_scene.h"
#include "runtime/crowds/crowd_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <memory>

using namespace plush;
using namespace plush::test;

namespace crowd_lanes_test {

constexpr float kDt = 0.01f;
constexpr int kSteps = 40;

using Trail = std::vector<std::vector<float>>;

// A world of bodies over a plane far below. The test follows one of them, the subject.
struct Scene {
  Scene(const ShapeAsset& of_shape, uint32_t seed) : shape(of_shape), random(seed) {
    AddPlane(&world, {{0.0f, 1.0f, 0.0f}, -30.0f});
  }

  void Add(const Member& member) { ids.push_back(member.AddTo(&world, shape.asset())); }
  void AddOthers(int count, size_t pins = 0) {
    for (int i = 0; i < count; ++i) {
      Member other = RandomMember(shape, ToVec3(random.Vector(20.0)), 1.0, &random);
      if (pins > 0) other.pins = RandomPins(shape.num_nodes(), pins, &random);
      Add(other);
    }
  }
  void AddSubject(const Member& member) {
    subject = ids.size();
    Add(member);
  }

  // Runs the scene. `happens` changes the other bodies before each step.
  Trail Run(const std::function<void(Scene*, int)>& happens = {}) {
    Trail trail;
    for (int step = 0; step < kSteps; ++step) {
      if (happens) happens(this, step);
      REQUIRE(world.Step(step / 4 % 2 == 0 ? kDt : 0.7f * kDt).ok());
      REQUIRE(HadCrowds(world));
      trail.push_back(StateOf(world, ids[subject], shape.num_nodes()));
    }
    return trail;
  }

  std::vector<Vec3> Positions(size_t body) {
    return PositionsOf(world, ids[body], shape.num_nodes());
  }

  const ShapeAsset& shape;
  Random random;
  World world;
  std::vector<BodyId> ids;
  size_t subject = 0;
};

void CheckSame(const Trail& a, const Trail& b) {
  REQUIRE(a.size() == b.size());
  for (size_t step = 0; step < a.size(); ++step) {
    CAPTURE(step);
    REQUIRE(SameBits(a[step], b[step]));
  }
  REQUIRE(!SameBits(a.front(), a.back()));
}

enum class Pins { kNone, kRegion, kFew };

Member MakeSubject(const ShapeAsset& shape, Pins pins, Random* random) {
  Member member = RandomMember(shape, {1.0f, 2.0f, 3.0f}, 1.0, random);
  const auto region = NodesOfRegion(shape.asset(), "low");
  if (pins == Pins::kRegion) member.pins.assign(region.begin(), region.end());
  if (pins == Pins::kFew) member.pins = RandomPins(shape.num_nodes(), 9, random);
  return member;
}

// Adds others of the same crowd before and after the subject, without and with pins.
void AddAll(Scene* scene, const Member& subject, Pins pins, int before, int behind, int pinned) {
  const auto add = [&](int count) {
    for (int i = 0; i < count; ++i) {
      scene->AddOthers(1);
      if (pins != Pins::kRegion) continue;
      // The subject's system has the region pinned, so the other body needs the same pins.
      REQUIRE(scene->world.RemoveBody(scene->ids.back()).ok());
      Member other =
          RandomMember(scene->shape, ToVec3(scene->random.Vector(20.0)), 1.0, &scene->random);
      other.pins = subject.pins;
      scene->ids.pop_back();
      scene->Add(other);
    }
  };
  add(before);
  if (pinned > 0 && pins != Pins::kRegion) scene->AddOthers(pinned, 5);
  scene->AddSubject(subject);
  add(behind);
}

TEST_CASE("A body's motion in a crowd depends neither on its lane nor on the others") {
  const uint32_t seed = GENERATE(1u, 2u);
  const Pins pins = GENERATE(Pins::kNone, Pins::kRegion, Pins::kFew);
  CAPTURE(seed, int(pins));
  const ShapeAsset shape = CrowdBox(seed);
  Random random(seed);
  const Member subject = MakeSubject(shape, pins, &random);
  // Add six bodies before it, so that it finds a system to share.
  Scene first(shape, seed + 100);
  AddAll(&first, subject, pins, 6, 0, 0);
  const Trail expected = first.Run();
  struct Case {
    int before, behind, pinned;
  };
  uint32_t other_seed = seed + 200;
  for (const Case& c : {Case{6, 9, 0}, Case{6, 3, 2}, Case{10, 5, 5}, Case{15, 0, 0},
                        Case{7, 30, 8}, Case{22, 10, 0}, Case{8, 0, 7}}) {
    CAPTURE(c.before, c.behind, c.pinned);
    Scene scene(shape, other_seed++);
    AddAll(&scene, subject, pins, c.before, c.behind, c.pinned);
    CheckSame(scene.Run(), expected);
  }
}

TEST_CASE("Nothing that happens to other bodies of a crowd changes a body's motion") {
  const uint32_t seed = GENERATE(3u, 4u);
  const Pins pins = GENERATE(Pins::kNone, Pins::kFew);
  CAPTURE(seed, int(pins));
  const ShapeAsset shape = CrowdBox(seed);
  Random random(seed);
  const Member subject = MakeSubject(shape, pins, &random);
  const auto make = [&] {
    auto scene = std::make_unique<Scene>(shape, seed + 300);
    AddAll(scene.get(), subject, pins, 8, 4, 3);
    return scene;
  };
  const Trail expected = make()->Run();
  const auto set_all = [](Scene* s, size_t body, const Vec3& by) {
    std::vector<Vec3> x = s->Positions(body);
    for (Vec3& node : x) node = {node.x + by.x, node.y + by.y, node.z + by.z};
    REQUIRE(s->world.SetNodePositions(s->ids[body], x).ok());
  };
  const auto set_speed = [](Scene* s, size_t body, float speed) {
    std::vector<Vec3> v(s->shape.num_nodes());
    for (Vec3& node : v) node = {speed, -speed, speed};
    v[3] = {-speed, speed, speed};
    REQUIRE(s->world.SetNodeVelocities(s->ids[body], v).ok());
  };
  SECTION("They go far out, and freeze") {
    bool frozen = false;
    auto scene = make();
    CheckSame(scene->Run([&](Scene* s, int step) {
      frozen = frozen || (s->world.stats().flags & kStepBodyFrozen) != 0;
      if (step == 3) set_all(s, 1, {9.0e8f, 0.0f, 0.0f});
      if (step == 5) set_speed(s, 2, 3.0e38f);
      if (step == 6) set_speed(s, 4, 1.0e27f);
      if (step == 7) set_speed(s, 5, 1.0e20f);
      if (step == 8) {
        std::vector<Vec3> x = s->Positions(6);
        x[2].x = kMostCoordinate;
        x[3].x = -kMostCoordinate;
        REQUIRE(s->world.SetNodePositions(s->ids[6], x).ok());
      }
    }),
              expected);
    CHECK(frozen);
  }
  SECTION("They leave for good, and others come") {
    auto scene = make();
    CheckSame(scene->Run([&](Scene* s, int step) {
      const auto remove = [&](size_t body) { REQUIRE(s->world.RemoveBody(s->ids[body]).ok()); };
      if (step == 2) remove(0);
      if (step == 9) remove(7);
      if (step == 9) remove(6);
      if (step == 12) s->AddOthers(1);
      if (step == 15) s->AddOthers(1, 4);
      if (step == 20) remove(5);
      if (step == 25) s->AddOthers(20);
    }),
              expected);
  }
  SECTION("They touch the plane, and come back") {
    auto scene = make();
    uint32_t contacts = 0;
    CheckSame(scene->Run([&](Scene* s, int step) {
      contacts = std::max(contacts, s->world.stats().contacts);
      for (size_t body : {0u, 2u, 3u}) {
        if (step != 4 + 3 * static_cast<int>(body)) continue;
        const std::vector<Vec3> x = s->Positions(body);
        float lowest = x[0].y;
        for (const Vec3& node : x) lowest = std::min(lowest, node.y);
        set_all(s, body, {0.0f, -29.98f - lowest, 0.0f});
      }
      if (step == 25) set_all(s, 2, {0.0f, 50.0f, 0.0f});
    }),
              expected);
    CHECK(contacts > 0);
  }
  SECTION("They are moved, kicked and asked") {
    auto scene = make();
    CheckSame(scene->Run([&](Scene* s, int step) {
      const size_t body = static_cast<size_t>(step) % 8;
      if (step % 3 == 0) set_all(s, body, {1.0f, 0.5f, 0.0f});
      if (step % 3 == 1) set_speed(s, body, 2.0f);
      BodyMoments moments;
      REQUIRE(s->world.Moments(s->ids[body], &moments).ok());
    }),
              expected);
  }
}

TEST_CASE("A body on springs moves alike, whatever springs hold the others in its crowd",
          "[long]") {
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u);
  const double young = GENERATE(1.0e5, 1.0e7, 1.0e8);
  const float rest_length = GENERATE(0.0f, 0.1f);
  CAPTURE(seed, young, rest_length);
  const ShapeAsset shape(TetBox(4, 2, 2, 0.1, 0.09, seed), {young, 0.3, 1000.0}, double(kDt));
  Random random(seed);
  const Member subject = RandomMember(shape, {1.0f, 2.0f, 3.0f}, 1.0, &random);
  const auto run = [&](uint32_t of_others, bool hold_others) {
    Scene scene(shape, of_others);
    scene.AddOthers(7);
    scene.AddSubject(subject);
    scene.AddOthers(3);
    for (size_t body = 0; body < scene.ids.size(); ++body) {
      if (body != scene.subject && !hold_others) continue;
      for (uint32_t node = 0; node < 2; ++node) {
        AttachmentDesc spring = {.body = scene.ids[body],
                                 .rest_length = rest_length,
                                 .stiffness = 1.0e3f,
                                 .damping = 3.0f};
        spring.nodes[0] = node;
        spring.weights = {1.0f, 0.0f, 0.0f, 0.0f};
        spring.target = scene.Positions(body)[node] + Vec3{0.05f, 0.15f, 0.0f};
        Attach(&scene.world, spring);
      }
    }
    return scene.Run();
  };
  const Trail expected = run(seed + 500, true);
  CheckSame(run(seed + 600, true), expected);
  CheckSame(run(seed + 700, false), expected);
}

TEST_CASE("A body that leaves its lane for a while comes back to the same motion in any lane") {
  const uint32_t seed = GENERATE(5u, 6u);
  CAPTURE(seed);
  const ShapeAsset shape = CrowdBox(seed);
  Random random(seed);
  Member subject = MakeSubject(shape, Pins::kNone, &random);
  subject.pose.position.y = -29.3f;
  subject.velocity = {0.0f, -4.0f, 0.0f};
  Trail expected;
  uint32_t contacts = 0;
  for (const int before : {6, 9, 14, 20}) {
    CAPTURE(before);
    Scene scene(shape, seed + 400 + static_cast<uint32_t>(before));
    for (int i = 0; i < before + 6; ++i) {
      if (i == before) scene.AddSubject(subject);
      scene.AddOthers(1);
    }
    const Trail found =
        scene.Run([&](Scene* s, int) { contacts = std::max(contacts, s->world.stats().contacts); });
    if (expected.empty()) expected = found;
    CheckSame(found, expected);
  }
  CHECK(contacts > 0);
}

TEST_CASE("Damped bodies step by themselves, whatever else is in the world") {
  const uint32_t seed = GENERATE(7u, 8u);
  CAPTURE(seed);
  const ShapeAsset shape = CrowdBox(seed);
  Random random(seed);
  World together;
  AddPlane(&together, {{0.0f, 1.0f, 0.0f}, -30.0f});
  std::vector<BodyDesc> descs(10);
  const std::vector<uint32_t> pins = RandomPins(shape.num_nodes(), 5, &random);
  descs.back().pinned_nodes = pins;
  std::vector<BodyId> ids;
  for (BodyDesc& desc : descs) {
    desc.pose = {ToVec3(random.Vector(9.0)), ToQuat(random.Rotation())};
    desc.angular_velocity = ToVec3(random.Vector(5.0));
    desc.material.damping = 0.02f;
    ids.push_back(AddBody(&together, shape.asset(), desc));
  }
  for (int step = 0; step < kSteps; ++step) REQUIRE(StepWorld(&together, kDt) == kStepOk);
  CHECK(!HadCrowds(together));
  for (size_t i = 0; i < descs.size(); ++i) {
    CAPTURE(i);
    World alone;
    AddPlane(&alone, {{0.0f, 1.0f, 0.0f}, -30.0f});
    const BodyId id = AddBody(&alone, shape.asset(), descs[i]);
    for (int step = 0; step < kSteps; ++step) REQUIRE(StepWorld(&alone, kDt) == kStepOk);
    CHECK(SameBits(StateOf(together, ids[i], shape.num_nodes()),
                   StateOf(alone, id, shape.num_nodes())));
  }
}

TEST_CASE("Stiff bodies whose pins a shared factor cannot hold step by themselves") {
  const ShapeAsset shape(TetBox(3, 2, 2, 0.1, 0.09, 7), {1.0e11, 0.3, 1000.0}, double(kDt));
  Random random(7);
  Scene scene(shape, 8);
  scene.AddOthers(7);
  Member pinned = RandomMember(shape, {}, 0.0, &random);
  pinned.pins = RandomPins(shape.num_nodes(), 15, &random);
  scene.AddSubject(pinned);
  World alone;
  AddPlane(&alone, {{0.0f, 1.0f, 0.0f}, -30.0f});
  const BodyId id = pinned.AddTo(&alone, shape.asset());
  for (int step = 0; step < 20; ++step) {
    REQUIRE(StepWorld(&scene.world, kDt) == kStepOk);
    REQUIRE(StepWorld(&alone, kDt) == kStepOk);
  }
  CHECK(HadCrowds(scene.world));
  CHECK(SameBits(StateOf(scene.world, scene.ids[scene.subject], shape.num_nodes()),
                 StateOf(alone, id, shape.num_nodes())));
}

}  // namespace crowd_lanes_test
