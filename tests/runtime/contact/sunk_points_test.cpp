// SPDX-License-Identifier: MIT
// The search for points below planes finds what a look at every vertex finds, whatever it
// remembers.
#include "contact/sunk_points.h"

#include "contact/deepest_point.h"
#include "contact/lowest_vertex.h"
#include "contact/plane_contacts.h"
#include "runtime/collision/surface_fixtures.h"
#include "runtime/simd_targets.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();

// A body somewhere among planes.
struct Place {
  Place(const SurfaceBody& of, Random* random, uint32_t num_planes = 3)
      : body(of), pinned(of.x().size(), 0) {
    for (const uint32_t node : random->Nodes(pinned.size(), 0.15)) pinned[node] = 1;
    x.assign(of.x().begin(), of.x().end());
    y = ToNodeVecs(x);
    d.resize(y.size());
    for (uint32_t p = 0; p < num_planes; ++p) {
      LocalCollider plane;
      plane.normal = plane.start_normal = ToVec3(random->Direction());
      float low = kInfinite, high = -kInfinite;
      for (const Vec3& node : x) {
        low = std::min(low, Dot(plane.normal, node));
        high = std::max(high, Dot(plane.normal, node));
      }
      plane.offset = low + static_cast<float>(random->Uniform(-0.1, 0.6)) * (high - low);
      plane.start_offset = plane.offset + static_cast<float>(random->Uniform(-0.02, 0.02));
      plane.slot = p;
      planes.push_back(plane);
    }
  }

  void Move(Random* random, double size) {
    const auto shake = [&](Vec3 v) { return v + ToVec3(random->Vector(size)); };
    for (NodeVec& node : y) node = shake(node);
    for (NodeVec& node : d) node = ToVec3(random->Vector(size));
    y.back() = d.back() = NodeVec();
  }

  ContactProblem Problem() const {
    return {.colliders = planes,
            .surface = {&body.surface(), pinned},
            .x = x,
            .y = y,
            .slop = 1.0e-3f,
            .reach = reach};
  }

  const SurfaceBody& body;
  std::vector<uint8_t> pinned;
  std::vector<Vec3> x;
  std::vector<NodeVec> y, d;
  std::vector<LocalCollider> planes;
  float reach = 0.03f;
};

// Knows every seventh vertex.
bool IsKnown(const void*, const SunkPoint& point) { return (point.id + point.collider) % 7 == 0; }

using Found = std::vector<std::tuple<uint32_t, uint32_t, float>>;  // plane, tet, gap

// What Find promises, from every vertex.
Found LookAtAll(const Place& place, float depth) {
  const CollisionView& surface = place.body.surface();
  const ContactProblem problem = place.Problem();
  Found all;
  for (uint32_t p = 0; p < place.planes.size(); ++p) {
    const LocalCollider& plane = place.planes[p];
    struct Deep {
      float gap;
      uint32_t id, tet, node;
    };
    std::vector<Deep> deep;
    for (uint32_t t = 0; t < surface.tets.size(); ++t) {
      const CdgTet& tet = surface.tets[t];
      float gaps[4], starts[4];
      for (int k = 0; k < 4; ++k) {
        gaps[k] = Gap(plane, place.y[tet.nodes[k]] + place.d[tet.nodes[k]]);
        starts[k] = StartGap(plane, place.x[tet.nodes[k]]);
      }
      Deep deepest = {-depth, 0, t, 0};
      for (uint32_t v = 0; v < surface.vertices.size(); ++v) {
        const EmbeddedPoint point = problem.surface.Point(v);
        if (v < surface.patches[tet.first_patch].first_vertex) continue;
        const uint32_t after = t + 1 < surface.tets.size() ? surface.tets[t + 1].first_patch : 0;
        if (after != 0 && v >= surface.patches[after].first_vertex) break;
        const float movable = point.Free(0) + point.Free(1) + point.Free(2) + point.Free(3);
        const Vec4& w = surface.vertices[v];
        const float gap = MeanOf(gaps, w) + AllowedDepth(MeanOf(starts, w), problem.slop);
        if (!(gap < deepest.gap) || IsKnown(nullptr, {v, t, 0, p, 0.0f})) continue;
        if (movable < kLeastMovable + 1e-5f) {
          if (movable > kLeastMovable - 1e-5f) return {};  // rounding decides
          continue;
        }
        const float weights[4] = {w.x, w.y, w.z, w.w};
        deepest = {gap, v, t, tet.nodes[std::max_element(weights, weights + 4) - weights]};
      }
      if (deepest.gap < -depth) deep.push_back(deepest);
    }
    std::sort(deep.begin(), deep.end(), [](const Deep& a, const Deep& b) {
      return std::tie(a.gap, a.id) < std::tie(b.gap, b.id);
    });
    std::set<uint32_t> taken;
    for (const Deep& one : deep) {
      if (taken.count(one.node) > 0) continue;
      for (const uint32_t node : surface.tets[one.tet].nodes) taken.insert(node);
      all.emplace_back(p, one.tet, one.gap);
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

float DepthOf(const Place& place) {
  const ContactProblem problem = place.Problem();
  float deepest = 0.0f;
  for (const LocalCollider& plane : place.planes) {
    deepest = std::max(deepest, DepthIn(plane, problem.surface, place.y));
  }
  return deepest;
}

float LookForDepth(const Place& place) {
  const ContactProblem problem = place.Problem();
  float deepest = 0.0f;
  for (uint32_t v = 0; v < problem.surface.num_points(); ++v) {
    const EmbeddedPoint point = problem.surface.Point(v);
    const float movable = point.Free(0) + point.Free(1) + point.Free(2) + point.Free(3);
    if (movable < kLeastMovable) continue;
    for (const LocalCollider& plane : place.planes) {
      deepest = std::max(deepest, -Gap(plane, point.Of(place.y)));
    }
  }
  return deepest;
}

}  // namespace

TEST_CASE("Points below planes are those that a look at every vertex finds") {
  // With 30 parts tets hold more vertices than are read one after the other.
  const uint32_t parts = GENERATE(2u, 5u, 30u), num_planes = GENERATE(1u, 3u);
  size_t found = 0, searches = 0;
  for (uint32_t seed = 1; seed <= (parts == 30 ? 2u : 8u); ++seed) {
    CAPTURE(parts, num_planes, seed);
    const SurfaceBody body(parts == 30 ? TetBox(1, 1, 2, 0.1) : TetBox(3, 2, 2, 0.1, 0.05, seed),
                           {.parts = parts, .seed = seed});
    Random random(seed);
    Place place(body, &random, num_planes);
    SunkPoints search;
    REQUIRE(search.Allocate(DefaultAllocator(), body.surface().tets.size(), place.x.size(),
                            place.planes.size(), 1000));
    for (int move = 0; move < 30; ++move) {
      CAPTURE(move);
      // From a shiver, for which it searches little, to jumps.
      place.Move(&random, move % 10 == 0 ? 0.05 : move % 3 == 0 ? 1e-3 : 1e-6);
      const float depth = move % 4 == 0 ? 1.0e-3f : 1.0e-6f;
      const Found expected = LookAtAll(place, depth);
      Found got;
      uint64_t before = 0;
      for (const SunkPoint& point :
           search.Find(place.Problem(), place.d, depth, IsKnown, nullptr)) {
        got.emplace_back(point.collider, point.tet, point.gap);
        const uint64_t key = uint64_t{point.id} << 32 | point.collider;
        CHECK(key >= before);
        before = key;
        CHECK(!IsKnown(nullptr, point));
      }
      std::sort(got.begin(), got.end());
      if (!expected.empty()) CHECK(got == expected);
      found += got.size();
      ++searches;
      CHECK(DepthOf(place) == Approx(LookForDepth(place)).margin(1e-6));
    }
  }
  CHECK(found > num_planes * searches);
}

TEST_CASE("A body that sinks slowly and unevenly is searched as for the first time") {
  using Listed = std::vector<std::tuple<uint32_t, uint32_t, float>>;  // id, plane, gap
  constexpr int kMoves = 180;
  constexpr float kDepth = 1.0e-6f, kFar = 10.0f, kHeight = 0.1f, kJump = 0.06f;  // [m]
  size_t first_points = 0, last_points = 0;
  for (uint32_t seed = 1; seed <= 24; ++seed) {
    const SurfaceBody body(TetBox(4, 3, 2, 0.1, 0.05, seed), {.parts = 3, .seed = seed});
    Random random(seed);
    Place place(body, &random, 1 + seed % 2);
    place.reach = seed % 3 == 0 ? 0.03f : 1.0f;  // the latter lists all tets
    const Vec3 down = place.planes[0].normal * -1.0f;
    place.Move(&random, 1.0e-5);
    for (NodeVec& node : place.y) node -= down * kHeight;
    place.y.back() = NodeVec();
    const auto find = [&](float depth, SunkPoints* by) {
      Listed points;
      for (const SunkPoint& point : by->Find(place.Problem(), place.d, depth, IsKnown, nullptr)) {
        points.emplace_back(point.id, point.collider, point.gap);
      }
      return points;
    };
    const auto allocate = [&](SunkPoints* to) {
      REQUIRE(to->Allocate(DefaultAllocator(), body.surface().tets.size(), place.x.size(),
                           place.planes.size(), 1000));
    };
    SunkPoints search;
    allocate(&search);
    for (int move = 0; move < kMoves; ++move) {
      CAPTURE(seed, move);
      // Searches that find nothing know of falls, too, also of a node that was nowhere.
      NodeVec& lost = place.y[random.Below(static_cast<uint32_t>(place.x.size()))];
      const NodeVec before = lost;
      if (move % 4 == 0) lost = Vec3{std::nanf(""), 0.0f, 0.0f};
      CHECK(find(kFar, &search).empty());
      lost = before + down * (move % 2 == 0 ? kJump : 0.0f);
      for (size_t i = 0; i < place.x.size(); ++i) {
        if (random.Below(6) == 0) place.y[i] += down * (6.0f * kHeight / kMoves);
      }
      CHECK(find(kFar, &search).empty());
      CHECK(find(kFar, &search).empty());
      SunkPoints first;
      allocate(&first);
      const Listed expected = find(kDepth, &first);
      CHECK(find(kDepth, &search) == expected);
      (move < kMoves / 3 ? first_points : last_points) += expected.size();
    }
  }
  CHECK(last_points > 2 * first_points);
  CHECK(first_points > 1000);
}

TEST_CASE("A search knows of a node that fell while searches found nothing") {
  constexpr float kDepth = 1.0e-6f, kFar = 10.0f, kFall = 0.5f;  // [m]
  size_t found = 0;
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    const SurfaceBody body(TetBox(4, 3, 2, 0.1, 0.05, seed), {.parts = 3, .seed = seed});
    Random random(seed);
    Place place(body, &random, 1);
    place.reach = seed % 2 == 0 ? 1.0f : 0.1f;
    std::fill(place.pinned.begin(), place.pinned.end(), uint8_t{0});
    LocalCollider* const plane = &place.planes[0];
    for (size_t node = 0; node < place.x.size(); ++node) {
      for (const bool is_lost : {false, true}) {
        CAPTURE(seed, node, is_lost);
        place.y = ToNodeVecs(place.x);
        place.y.resize(place.d.size());
        // Few vertices are below the plane.
        float low = kInfinite;
        for (const Vec3& x : place.x) low = std::min(low, Dot(plane->normal, x));
        plane->offset = plane->start_offset = low + 1.0e-5f;
        const auto count = [&](float depth, SunkPoints* by) {
          return by->Find(place.Problem(), {}, depth, IsKnown, nullptr).size();
        };
        SunkPoints search, first;
        for (SunkPoints* each : {&search, &first}) {
          REQUIRE(each->Allocate(DefaultAllocator(), body.surface().tets.size(), place.x.size(), 1,
                                 1000));
        }
        count(kDepth, &search);
        const Vec3 end = place.y[node] - plane->normal * kFall;
        if (is_lost) place.y[node] = Vec3{std::nanf(""), 0.0f, 0.0f};
        count(kFar, &search);
        place.y[node] = end;
        count(kFar, &search);
        count(kFar, &search);
        const size_t expected = count(kDepth, &first);
        CHECK(count(kDepth, &search) == expected);
        found += expected;
      }
    }
  }
  CHECK(found > 50);
}

TEST_CASE("A search passes over vertices that are contacts, and finds those next to them") {
  struct Held {
    const ContactState& state;
    const ContactProblem& problem;
  };
  const auto is_held = [](const void* user, const SunkPoint& sunk) {
    const Held& held = *static_cast<const Held*>(user);
    const EmbeddedPoint point = held.problem.surface.Vertex(sunk.tet, sunk.id);
    return std::ranges::any_of(held.state.Current(), [&](const PlaneContact& contact) {
      return held.state.PointOf(contact).IsAt(point);
    });
  };
  size_t of_first = 0, of_all = 0;
  for (uint32_t seed = 1; seed <= 24; ++seed) {
    const SurfaceBody body(TetBox(3, 2, 2, 0.1, 0.05, seed), {.parts = 5, .seed = seed});
    Random random(seed);
    Place place(body, &random, 1);
    place.Move(&random, 0.01);
    ContactProblem problem = place.Problem();
    problem.tolerance = 1.0e-6f;
    ContactState state;
    SunkPoints search;
    const size_t num_tets = body.surface().tets.size();
    REQUIRE(state.Reserve(DefaultAllocator(), num_tets, static_cast<uint32_t>(place.x.size()),
                          false, 1));
    REQUIRE(search.Allocate(DefaultAllocator(), num_tets, place.x.size(), 1, 1000));
    for (int round = 0; round < 4; ++round) {
      CAPTURE(seed, round);
      const Held held = {state, problem};
      const size_t expected =
          search.Find(problem, place.d, problem.tolerance, is_held, &held).size();
      const uint32_t before = state.num_contacts;
      // Once half of the room is taken, some are left out.
      if (2 * (before + expected) > place.x.size()) break;
      AddContacts(problem, place.d, &state);
      CHECK(state.num_contacts - before == expected);
      (round == 0 ? of_first : of_all) += expected;
    }
  }
  CHECK(of_first > 20);
  CHECK(of_all > of_first);
}

TEST_CASE("A search that met NaN finds all points afterwards") {
  const SurfaceBody body(TetBox(3, 2, 2, 0.1, 0.05, 3), {.parts = 3});
  Random random(5);
  Place place(body, &random);
  place.Move(&random, 0.03);
  const size_t expected = LookAtAll(place, 1.0e-6f).size();
  REQUIRE(expected > 3);
  for (size_t node = 0; node < place.x.size(); ++node) {
    for (const float broken : {std::nanf(""), kInfinite, -kInfinite}) {
      CAPTURE(node, broken);
      SunkPoints search;
      REQUIRE(search.Allocate(DefaultAllocator(), body.surface().tets.size(), place.x.size(),
                              place.planes.size(), 1000));
      const Vec3 before = place.y[node];
      search.Find(place.Problem(), place.d, 1.0e-6f, IsKnown, nullptr);
      place.y[node] = Vec3{broken, broken, broken};
      for (NodeVec& other : place.y) other += Vec3{1.0e-3f, 1.0e-3f, 1.0e-3f};
      search.Find(place.Problem(), place.d, 1.0e-6f, IsKnown, nullptr);
      for (NodeVec& other : place.y) other += Vec3{-1.0e-3f, -1.0e-3f, -1.0e-3f};
      place.y[node] = before;
      CHECK(search.Find(place.Problem(), place.d, 1.0e-6f, IsKnown, nullptr).size() == expected);
    }
  }
}

TEST_CASE("A search with little room returns the deepest points") {
  const SurfaceBody body(TetBox(3, 2, 2, 0.1, 0.05, 3), {.parts = 3});
  Random random(3);
  Place place(body, &random);
  const auto find = [&](size_t most) {
    SunkPoints search;
    REQUIRE(search.Allocate(DefaultAllocator(), body.surface().tets.size(), place.x.size(),
                            place.planes.size(), most));
    Found found;
    for (const SunkPoint& point : search.Find(place.Problem(), place.d, 0.0f, IsKnown, nullptr)) {
      found.emplace_back(point.collider, point.tet, point.gap);
    }
    return found;
  };
  const Found all = find(1000), some = find(3);
  REQUIRE(all.size() > 6);
  CHECK(some.size() <= 3);
  const auto gap = [](const auto& point) { return std::get<2>(point); };
  CHECK(gap(*std::ranges::min_element(some, {}, gap)) ==
        gap(*std::ranges::min_element(all, {}, gap)));
}

TEST_CASE("Of a cage without a surface, a search finds all nodes, or the deepest") {
  const ShapeAsset shape(TetBox(3, 2, 2, 0.1));
  const std::vector<Vec3> x = shape.rest();
  const CollisionView none;
  std::vector<uint8_t> pinned(x.size(), 0);
  pinned[0] = 1;
  // Start with all nodes above, and end with most of them below both.
  const LocalCollider planes[] = {{.normal = {0.0f, 1.0f, 0.0f}, .offset = 0.15f},
                                  {.normal = {0.6f, 0.8f, 0.0f}, .offset = 0.2f}};
  LocalCollider moved[2];
  for (int p = 0; p < 2; ++p) {
    moved[p] = planes[p];
    moved[p].slot = static_cast<uint32_t>(p);
    moved[p].start_normal = planes[p].normal;
    moved[p].start_offset = -1.0f;
  }
  const std::vector<NodeVec> y = ToNodeVecs(x);
  const ContactProblem problem = {
      .colliders = moved, .surface = {&none, pinned}, .x = x, .y = y, .slop = 1.0e-4f};
  std::vector<float> gaps;
  for (const LocalCollider& plane : moved) {
    for (size_t i = 1; i < x.size(); ++i) {
      if (Gap(plane, y[i]) < -1.0e-6f) gaps.push_back(Gap(plane, y[i]));
    }
  }
  std::sort(gaps.begin(), gaps.end());
  REQUIRE(gaps.size() > 20);
  for (const size_t most : {size_t{5}, size_t{12}, gaps.size()}) {
    SunkPoints search;
    REQUIRE(search.Allocate(DefaultAllocator(), 0, x.size(), 2, most));
    const auto nothing = [](const void*, const SunkPoint&) { return false; };
    const std::span<SunkPoint> found = search.Find(problem, {}, 1.0e-6f, nothing, nullptr);
    REQUIRE(found.size() == most);
    std::vector<float> found_gaps;
    uint64_t before = 0;
    for (const SunkPoint& point : found) {
      const uint64_t key = uint64_t{point.id} << 32 | point.collider;
      CHECK(key > before);
      before = key;
      found_gaps.push_back(point.gap);
    }
    std::sort(found_gaps.begin(), found_gaps.end());
    CHECK(std::equal(found_gaps.begin(), found_gaps.end(), gaps.begin()));
  }
}

TEST_CASE("The lowest vertex is the first of the lowest, on every instruction set") {
  Random random(4);
  for (size_t count = 0; count < 70; ++count) {
    std::vector<Vec4> weights(count);
    for (Vec4& w : weights) {
      // Few different ones, so that some are equal.
      const auto part = [&] { return static_cast<float>(random.Below(4)) * 0.25f; };
      w = {part(), part(), part(), part()};
    }
    const float gaps[4] = {static_cast<float>(random.Uniform(-1.0, 1.0)), -0.5f, 0.25f,
                           static_cast<float>(random.Uniform(-1.0, 1.0))};
    LowVertex expected = {0, kInfinite};
    for (uint32_t i = 0; i < count; ++i) {
      if (MeanOf(gaps, weights[i]) < expected.gap) expected = {i, MeanOf(gaps, weights[i])};
    }
    for (const int64_t target : SimdTargets()) {
      const SimdTargetScope scope(target);
      CAPTURE(NameOf(target), count);
      const LowVertex lowest = LowestVertex(weights, gaps);
      CHECK(lowest.gap == expected.gap);
      CHECK(lowest.index == expected.index);
    }
  }
}

TEST_CASE("The lowest point beside taken nodes is the first of them, on every instruction set") {
  constexpr uint32_t kTaken[4] = {3, 0, 9, 5};
  Random random(7);
  for (size_t count = 16; count <= 64; count += 16) {
    std::vector<uint32_t> nodes(count);
    std::vector<float> gaps(count);
    for (size_t i = 0; i < count; ++i) {
      nodes[i] = random.Below(12);
      gaps[i] = 0.25f * static_cast<float>(random.Below(8)) - 2.0f;
    }
    std::vector<float> left = gaps;
    LowVertex expected = {0, kInfinite};
    for (uint32_t i = 0; i < count; ++i) {
      if (std::ranges::find(kTaken, nodes[i]) != std::end(kTaken)) left[i] = kInfinite;
      if (left[i] < expected.gap) expected = {i, left[i]};
    }
    for (const int64_t target : SimdTargets()) {
      const SimdTargetScope scope(target);
      CAPTURE(NameOf(target), count);
      std::vector<float> got = gaps;
      const LowVertex lowest = LowestBeside(kTaken, nodes.data(), count, got.data());
      CHECK(lowest.gap == expected.gap);
      CHECK(lowest.index == expected.index);
      CHECK(got == left);
      std::fill(got.begin(), got.end(), kInfinite);
      CHECK(LowestBeside(kTaken, nodes.data(), count, got.data()).gap == kInfinite);
    }
  }
}
