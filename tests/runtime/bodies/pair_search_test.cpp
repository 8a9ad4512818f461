// SPDX-License-Identifier: MIT
// Which pairs of bodies are searched, when they are searched anew, and that contacts hold
// meanwhile.
#include "runtime/bodies/saved_contacts.h"
#include "runtime/bodies/touching_cubes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace pair_search_test {

using Cubes = TouchingCubes;

constexpr float kDt = Cubes::kDt;
const double kDiagonal = double(Cubes::kSize) * std::sqrt(3.0);  // what the margins are shares of

WorldDesc Weightless() {
  WorldDesc desc = Cubes::Awake();
  desc.gravity = {};
  return desc;
}

// Searches in each of some steps.
std::vector<uint32_t> SearchesIn(Cubes* cubes, int steps) {
  std::vector<uint32_t> searches;
  for (int k = 0; k < steps; ++k) {
    cubes->Step(1);
    searches.push_back(cubes->world.stats().pairs_searched);
  }
  return searches;
}

// A cube, and one that is turned by 45 degrees and has a face before the first one's edge, at `gap`
// [m]. It moves along that edge by `way` per step [m].
void AddCubeBesideEdge(double gap, double way, float young, float young_of_turned, Cubes* cubes) {
  const double half = 0.5 * double(Cubes::kSize), turn = 0.25 * std::acos(-1.0);
  cubes->Add({0, 0, 0}, young);
  const double aside = 2.0 * half + (half + gap) / std::sqrt(2.0);
  const Eigen::Matrix3d R = Eigen::AngleAxisd(turn, Eigen::Vector3d::UnitY()).toRotationMatrix();
  const Eigen::Vector3d centre(aside, half, aside);
  BodyDesc desc = {.pose = {.rotation = ToQuat(R)}, .velocity = {0.0f, float(way) / kDt, 0.0f}};
  cubes->Add(ToVec3(centre - R * Eigen::Vector3d::Constant(half)), young_of_turned, desc);
}

// A large fixed cube, and a small one that slides on it without friction by `way` per step [m].
struct Slide {
  static constexpr int kSettle = 200;

  explicit Slide(float young) : cubes(DescOf()) {
    BodyDesc fixed = {.scale = 4.0f, .material = {.friction = 0.0f}, .fixed = true};
    cubes.Add({0, -4.0f * Cubes::kSize, 0}, young, fixed);
    top = cubes.Add({0.1f, 1.0e-3f, 0.3f}, young, {.material = {.friction = 0.0f}});
    cubes.Step(kSettle);
  }
  static WorldDesc DescOf() {
    WorldDesc desc = Cubes::Awake();
    desc.gravity = {0.0f, -2.0f, 0.0f};
    return desc;
  }
  void Push(double way) {
    const std::vector<Vec3> v(cubes.shape.num_nodes(), Vec3{float(way) / kDt, 0.0f, 0.0f});
    REQUIRE(cubes.world.SetNodeVelocities(top, v).ok());
  }

  Cubes cubes;
  BodyId top;
};

std::vector<std::array<uint32_t, 2>> TrianglesOf(const std::vector<BodyContactPoint>& contacts) {
  std::vector<std::array<uint32_t, 2>> triangles;
  for (const BodyContactPoint& contact : contacts) {
    triangles.push_back({contact.triangles[0], contact.triangles[1]});
  }
  return triangles;
}

TEST_CASE("Two bodies are searched again once they have moved by their margin") {
  struct Case {
    float young[2];      // of the one that moves last
    double gap, margin;  // [diagonals]
  };
  const auto of = GENERATE(Case{{1.0e8f, 1.0e8f}, 4.0e-3, 3.0e-3},  // stiff ones near each other
                           Case{{1.0e4f, 1.0e4f}, 4.0e-3, 5.0e-3},  // soft ones
                           Case{{1.0e4f, 1.0e8f}, 4.0e-3, 3.0e-3},  // one of each
                           Case{{1.0e8f, 1.0e4f}, 4.0e-3, 3.0e-3},
                           Case{{1.0e8f, 1.0e8f}, 3.0e-2, 1.0e-2},  // far apart
                           Case{{1.0e4f, 1.0e4f}, 3.0e-2, 1.0e-2});
  const int every = GENERATE(1, 2, 5, 9);
  CAPTURE(of.young[0], of.young[1], of.margin, every);
  Cubes cubes(Weightless());
  AddCubeBesideEdge(of.gap * kDiagonal, of.margin * kDiagonal / (every - 0.5), of.young[0],
                    of.young[1], &cubes);
  const std::vector<uint32_t> searches = SearchesIn(&cubes, 4 * every + 2);
  for (size_t step = 0; step < searches.size(); ++step) {
    CAPTURE(step);
    REQUIRE(searches[step] == (step % size_t(every) == 0 ? 1u : 0u));
  }
}

TEST_CASE("Bodies that move together are searched once") {
  Cubes cubes(Weightless());
  AddCubeBesideEdge(4.0e-3 * kDiagonal, 0.0, 1.0e6f, 1.0e6f, &cubes);
  for (const BodyId id : cubes.ids) {
    const std::vector<Vec3> v(cubes.shape.num_nodes(), Vec3{2.0f, -1.0f, 0.5f});
    REQUIRE(cubes.world.SetNodeVelocities(id, v).ok());
  }
  std::vector<uint32_t> searches = SearchesIn(&cubes, 30);
  CHECK(searches[0] == 1);
  for (size_t step = 1; step < searches.size(); ++step) CHECK(searches[step] == 0);
}

TEST_CASE("A resting body is not searched and keeps its contacts, as does one that slides") {
  Slide slide(1.0e6f);
  Cubes& cubes = slide.cubes;
  const auto at_rest = TrianglesOf(cubes.Contacts());
  REQUIRE(at_rest.size() >= 4);
  for (const uint32_t searches : SearchesIn(&cubes, 20)) CHECK(searches == 0);
  CHECK(TrianglesOf(cubes.Contacts()) == at_rest);
  const double way = 0.3e-3 * kDiagonal;
  slide.Push(way);
  int held = 0, searched = 0;
  for (int step = 0; step < 60; ++step) {
    CAPTURE(step);
    const std::vector<BodyContactPoint> before = cubes.Contacts();
    cubes.Step(1);
    if (cubes.world.stats().pairs_searched > 0) {
      ++searched;
      continue;
    }
    ++held;
    // A contact stays at its points of both bodies: the middle goes half the way.
    int kept = 0;
    for (const BodyContactPoint& now : cubes.Contacts()) {
      for (const BodyContactPoint& old : before) {
        if (!std::ranges::equal(now.triangles, old.triangles)) continue;
        ++kept;
        CHECK((ToEigen(now.point - old.point) - Eigen::Vector3d(0.5 * way, 0, 0)).norm() <
              0.1 * way);
      }
    }
    CHECK(kept >= 3);
  }
  // By 18e-3 diagonals, in margins of 3e-3 or 5e-3.
  CHECK(searched >= 3);
  CHECK(searched <= 6);
  CHECK(held > 0);
}

TEST_CASE("A pair that was searched in the step before waits while it is slow") {
  // Ways per step beyond the margins.
  const bool is_slow = GENERATE(true, false);
  const double way = (is_slow ? 8.0e-3 : 1.2e-2) * kDiagonal;
  Slide slide(1.0e6f);
  Cubes& cubes = slide.cubes;
  slide.Push(way);
  const std::vector<uint32_t> searches = SearchesIn(&cubes, 20);
  REQUIRE(cubes.Contacts().size() >= 3);
  for (size_t step = 1; step < searches.size(); ++step) {
    CAPTURE(step);
    CHECK(searches[step] == (is_slow ? 1 - searches[step - 1] : 1u));
  }
}

// On a floor without friction, contacts are where the cube was when they were found.
TEST_CASE("A contact that carries load keeps its points across searches until they have slipped") {
  constexpr double kSlip = 5.0e-3, kMargin = 3.0e-3;  // [diagonals]
  const double way = 1.6e-3 * kDiagonal;
  Slide slide(1.0e8f);
  Cubes& cubes = slide.cubes;
  slide.Push(way);
  // How far a contact's two points are from each other beside its normal.
  const auto slip_of = [&](const StateBodyContact& contact) {
    const CollisionView& surface = cubes.shape.asset().collision();
    const Eigen::Vector3d apart = PointOf(contact, 0, surface, cubes.Nodes(cubes.ids[0])) -
                                  PointOf(contact, 1, surface, cubes.Nodes(cubes.ids[1]));
    const Eigen::Vector3d normal(contact.normal[0], contact.normal[1], contact.normal[2]);
    return (apart - normal * normal.dot(apart)).norm() / kDiagonal;
  };
  int num_kept = 0, num_replaced = 0, num_contacts = 0;
  for (int step = 0; step < 40; ++step) {
    CAPTURE(step);
    const SavedPair before = SavedPairOf(cubes.world);
    cubes.Step(1);
    const bool is_searched = cubes.world.stats().pairs_searched > 0;
    const SavedPair after = SavedPairOf(cubes.world);
    for (const StateBodyContact& contact : after.contacts) {
      REQUIRE(slip_of(contact) < 1.02 * (kSlip + (is_searched ? 0.0 : kMargin)));
      num_contacts += Presses(contact);
    }
    for (const StateBodyContact& old : before.contacts) {
      if (!is_searched || !Presses(old)) continue;
      const double slip = slip_of(old);
      const bool is_kept = std::ranges::any_of(
          after.contacts, [&](const StateBodyContact& now) { return IsSamePlace(old, now); });
      CAPTURE(slip);
      if (slip > 0.98 * kSlip && slip < 1.02 * kSlip) continue;
      CHECK(is_kept == (slip < kSlip));
      ++(is_kept ? num_kept : num_replaced);
    }
  }
  CAPTURE(num_kept, num_replaced, num_contacts);
  CHECK(num_kept >= 50);
  CHECK(num_replaced >= 50);
  CHECK(num_contacts >= 200);
}

TEST_CASE("Bodies without contacts do not wait, however slow they are") {
  Cubes cubes(Weightless());
  AddCubeBesideEdge(4.0e-3 * kDiagonal, 8.0e-3 * kDiagonal, 1.0e6f, 1.0e6f, &cubes);
  for (const uint32_t searches : SearchesIn(&cubes, 20)) CHECK(searches == 1);
}

TEST_CASE("Too many pairs are dropped and flagged") {
  Cubes cubes(Cubes::WithPairs(1));
  AddPlane(&cubes.world, {});
  for (int k = 0; k < 3; ++k) cubes.Add({0, 0.001f + 0.2f * float(k), 0});
  cubes.Step(5);
  CHECK((cubes.flags & kStepContactsDropped) != 0);
  CHECK(cubes.world.stats().body_pairs <= 1);
}

TEST_CASE("If pairs are too many, bodies that press on each other stay apart") {
  const float side = GENERATE(-1.0f, 1.0f);
  CAPTURE(side);
  Cubes cubes(Cubes::WithPairs(1));
  AddPlane(&cubes.world, {});
  cubes.Add({0, 0.001f, 0});
  const BodyId high = cubes.Add({0, 0.001f + Cubes::kSize, 0});
  cubes.Step(50);
  REQUIRE(cubes.world.stats().body_pairs == 1);
  REQUIRE((cubes.flags & kStepContactsDropped) == 0);
  cubes.Add({side * 1.001f * Cubes::kSize, 0.001f, 0});  // beside the lower one
  cubes.Step(100);
  CHECK((cubes.flags & kStepContactsDropped) != 0);
  CHECK(cubes.Lowest(high) > double(Cubes::kSize) - 5e-3);
}

// A bar's cage in which only two closed shells are: one in the block that the bar's end is in, far
// from the block's surface, and one outside. Boxes do not tell that a piece is inside.
TEST_CASE("A piece that is put inside a body is found though another one of its cage is outside") {
  const float speed = GENERATE(0.0f, 100.0f);  // fast ones are looked at several times in a step
  CAPTURE(speed);
  constexpr uint32_t kLong = 16, kSkin = 2 * (4 * kLong + 2);
  const ShapeAsset block(
      SurfaceBytes(TetBox(7, 7, 7, 0.1), {.parts = 1, .depth = 0.0, .num_shells = 0}));
  const auto bar_of = [](uint32_t seed) {
    return SurfaceBytes(TetBox(kLong, 1, 1, 0.1),
                        {.parts = 1, .num_shells = 2, .seed = seed, .holes = kSkin});
  };
  // Shells are in random tets.
  const auto is_right = [](const SurfaceBody& bar) {
    bool has_inner = false, has_middle = false;
    for (uint32_t t = 0; t < bar.surface().num_triangles(); ++t) {
      const float x = bar.CornerPosition(t, 0).x;
      has_inner = has_inner || x < 0.2f;
      has_middle = has_middle || (x > 0.2f && x < 0.6f);
    }
    return has_inner && !has_middle && bar.state().pieces.size() == 2;
  };
  uint32_t seed = 1;
  while (!is_right(SurfaceBody(bar_of(seed)))) REQUIRE(++seed < 100);
  const ShapeAsset bar(bar_of(seed));
  REQUIRE(bar.simulation().components == 1);
  WorldDesc desc = Cubes::WithPairs(2);
  desc.gravity = {};
  World world(desc);
  AddBody(&world, block.asset(), {.fixed = true});
  BodyDesc through = {.pose = {.position = {0.25f, 0.3f, 0.3f}}, .velocity = {speed, 0.0f, 0.0f}};
  AddBody(&world, bar.asset(), through);
  StepWorld(&world, 1e-3f);
  CHECK(world.stats().contacts > 0);
}

}  // namespace pair_search_test
