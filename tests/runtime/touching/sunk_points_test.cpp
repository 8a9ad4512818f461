// SPDX-License-Identifier: MIT
// The search for points below planes finds what a look at every vertex finds.
#include "touching/sunk_points.h"

#include "contact/plane_contacts.h"
#include "runtime/touching/planes_around.h"
#include "sweep.h"
#include "touching/deepest_point.h"
#include "touching/lowest_vertex.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace sunk_points_test {

using Found = std::vector<std::tuple<uint32_t, uint32_t, float>>;  // plane, tet, gap

// What Find promises, from every vertex.
Found LookAtAll(const AmongPlanes& place, float depth) {
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
        const float gap = MeanOf(gaps, w) + AllowedDepth(MeanOf(starts, w), problem.rise);
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

float DepthOf(const AmongPlanes& place) {
  const ContactProblem problem = place.Problem();
  float deepest = 0.0f;
  for (const LocalCollider& plane : place.planes) {
    deepest = std::max(deepest, DepthIn(plane, problem.surface, place.y));
  }
  return deepest;
}

float LookForDepth(const AmongPlanes& place) {
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

TEST_CASE("Points below planes are those that a look at every vertex finds", "[long]") {
  // With 30 parts tets hold more vertices than are read one after the other.
  const uint32_t parts = GENERATE(2u, 5u, 30u), num_planes = GENERATE(1u, 3u);
  size_t found = 0, searches = 0;
  const uint32_t count = tests::SweepCount(parts == 30 ? 2u : 8u);
  for (uint32_t seed = 1; seed <= count; ++seed) {
    CAPTURE(parts, num_planes, seed);
    const SurfaceBody body(parts == 30 ? TetBox(1, 1, 2, 0.1) : TetBox(3, 2, 2, 0.1, 0.05, seed),
                           {.parts = parts, .seed = seed});
    Random random(seed);
    AmongPlanes place(body, &random, num_planes);
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
    AmongPlanes place(body, &random, 1);
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
  AmongPlanes place(body, &random);
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
  AmongPlanes place(body, &random);
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
  const ContactProblem problem = {.colliders = moved,
                                  .surface = {&none, pinned},
                                  .x = x,
                                  .y = y,
                                  .slop = 1.0e-4f,
                                  .rise = 1.0e-4f};
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

}  // namespace sunk_points_test
