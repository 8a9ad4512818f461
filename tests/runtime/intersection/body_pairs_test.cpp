// SPDX-License-Identifier: MIT
// Intersections of deformed bodies: edges have one number across patches, curves close, and the
// trees lose no pair.
#include "intersection/body_pairs.h"

#include "collision/surface_records.h"
#include "collision/vertex_positions.h"
#include "intersection/surface_edges.h"
#include "runtime/collision/surface_fixtures.h"
#include "runtime/intersection/closed_curves.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace body_pairs_test {

Corners CornersOf(const SurfaceBody& body, uint32_t triangle, const Vec3& offset) {
  std::array<Vec3, 4> nodes = NodesOf(body.surface().tets[body.TetOf(triangle)], body.x());
  for (Vec3& node : nodes) node += offset;
  Corners corners;
  for (int k = 0; k < 3; ++k)
    corners[static_cast<size_t>(k)] =
        VertexPosition(nodes, body.surface().vertices[body.Corner(triangle, k)]);
  return corners;
}

std::vector<std::array<uint32_t, 2>> BruteForce(const SurfaceBody& moved, const SurfaceBody& fixed,
                                                const Vec3& offset) {
  std::vector<Corners> of_fixed;
  for (uint32_t t = 0; t < fixed.surface().num_triangles(); ++t)
    of_fixed.push_back(CornersOf(fixed, t, offset));
  std::vector<std::array<uint32_t, 2>> pairs;
  Segment segment;
  for (uint32_t s = 0; s < moved.surface().num_triangles(); ++s) {
    const Corners corners = CornersOf(moved, s, {});
    for (uint32_t t = 0; t < of_fixed.size(); ++t)
      if (Intersect(corners, of_fixed[t], &segment)) pairs.push_back({s, t});
  }
  return pairs;
}

void RequireSame(const TrianglePair& a, const TrianglePair& b) {
  REQUIRE(std::tuple(a.moved, a.fixed, a.start, a.end, a.start_corner, a.end_corner) ==
          std::tuple(b.moved, b.fixed, b.start, b.end, b.start_corner, b.end_corner));
  REQUIRE(std::memcmp(&a.from, &b.from, sizeof(Vec3)) == 0);
  REQUIRE(std::memcmp(&a.to, &b.to, sizeof(Vec3)) == 0);
}

// `roomiest`: whose surface there is memory for, or null: each body has its own.
std::vector<TrianglePair> FromTrees(const SurfaceBody& moved, const SurfaceBody& fixed,
                                    const Vec3& offset, const SurfaceBody* roomiest = nullptr) {
  const CollisionBody a = moved.view(), b = fixed.view();
  const PlacedBody at_a = {a, {0, 0, 0}}, at_b = {b, {offset.x, offset.y, offset.z}};
  std::vector<TrianglePair> pairs(50000), by_trees(50000);
  PlacedPatches placed[2];
  for (size_t k = 0; k < 2; ++k) {
    const CollisionView& surface = (roomiest != nullptr ? *roomiest
                                    : k == 0            ? moved
                                                        : fixed)
                                       .surface();
    REQUIRE(placed[k].Reserve(DefaultAllocator(), surface.vertices.size(), surface.num_triangles(),
                              surface.patches.size()));
  }
  const BodyPairCount count = FindBodyPairs(at_a, at_b, placed, pairs);
  REQUIRE(count.complete);
  // The patches' trees give the same pairs.
  const BodyPairCount of_trees = FindBodyPairs(at_a, at_b, {}, by_trees);
  REQUIRE(of_trees.complete);
  REQUIRE(of_trees.pairs == count.pairs);
  const auto sorted = [&](std::vector<TrianglePair> of) {
    of.resize(count.pairs);
    std::ranges::sort(of, {}, [](const TrianglePair& p) { return std::pair(p.moved, p.fixed); });
    return of;
  };
  const std::vector<TrianglePair> p = sorted(pairs), q = sorted(by_trees);
  for (size_t i = 0; i < p.size(); ++i) RequireSame(p[i], q[i]);
  REQUIRE(count.pairs <= count.candidates);
  pairs.resize(count.pairs);
  for (const uint32_t room : {count.pairs / 2, count.pairs - 1}) {
    if (count.pairs == 0) break;
    std::vector<TrianglePair> few(room);
    const BodyPairCount stopped = FindBodyPairs(at_a, at_b, placed, few);
    REQUIRE_FALSE(stopped.complete);
    REQUIRE(stopped.pairs == few.size());
    for (size_t i = 0; i < few.size(); ++i) RequireSame(few[i], pairs[i]);
  }
  return pairs;
}

using Point = std::array<float, 3>;
Point PointOf(const Vec3& p) { return {p.x, p.y, p.z}; }

TEST_CASE("An edge has one number in both of its triangles, across patches and tets") {
  const uint32_t holes = GENERATE(0u, 5u);
  SurfaceBody body(TetBox(2, 2, 1, 0.1, 0.02, 4), {.parts = 3, .num_shells = 2, .holes = holes});
  std::map<uint32_t, std::vector<std::pair<Point, Point>>> edges;
  for (uint32_t t = 0; t < body.surface().num_triangles(); ++t) {
    const Corners at = CornersOf(body, t, {});
    for (size_t k = 0; k < 3; ++k)
      edges[EdgeOf(body.surface(), t, static_cast<int>(k))].push_back(
          {PointOf(at[k]), PointOf(at[(k + 1) % 3])});
  }
  size_t open = 0;
  for (const auto& [number, uses] : edges) {
    REQUIRE(uses.size() <= 2);
    if (uses.size() == 2) REQUIRE(uses[0] == std::make_pair(uses[1].second, uses[1].first));
    open += uses.size() == 1;
  }
  CHECK((open > 0) == (holes > 0));
}

TEST_CASE("Each triangle's patch is found") {
  const SurfaceBody body(TetBox(2, 2, 1, 0.1, 0.02, 4), {.parts = 3, .num_shells = 2});
  for (uint32_t t = 0; t < body.surface().num_triangles(); ++t)
    REQUIRE(PatchOf(body.surface(), t) == body.PatchOf(t));
}

TEST_CASE("Two triangles that share all edges have three edges") {
  const CdgTet tet = {{4, 5, 6, 7}, 0, 0, {}, {1, 1, 1, 1}};
  const CdgPatch patches[2] = {{{}, 1, {}, 0, 0, 0, 0}, {{}, 1, {}, 0, 1, 3, 0}};
  const Vec4 vertices[6] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0},
                            {0, 1, 0, 0}, {1, 0, 0, 0}, {0, 0, 1, 0}};
  const CdgTriangle triangles[2] = {PackTriangle({{0, 1, 2}, {1, 1, 1}, 0}),
                                    PackTriangle({{3, 4, 5}, {0, 0, 0}, 0})};
  CollisionView surface;
  surface.tets = {&tet, 1};
  surface.patches = patches;
  surface.vertices = vertices;
  surface.triangles = triangles;
  for (int k = 0; k < 3; ++k) CHECK(EdgeOf(surface, 0, k) == static_cast<uint32_t>(k));
  CHECK(EdgeOf(surface, 1, 0) == 0);
  CHECK(EdgeOf(surface, 1, 1) == 2);
  CHECK(EdgeOf(surface, 1, 2) == 1);
}

TEST_CASE("Curves of deformed bodies close, and their pairs equal brute force") {
  const uint32_t seed = 61;
  CAPTURE(seed);
  Random random(seed);
  SurfaceBody a(TetBox(2, 1, 1, 0.1, 0.08, 2), {.parts = 4, .num_shells = 2});
  SurfaceBody b(TetBox(1, 1, 2, 0.1, 0.08, 3),
                {.parts = 4, .num_shells = 2, .record = tools::TriangleRecord::kWide});
  SurfaceBody copy(TetBox(2, 1, 1, 0.1, 0.08, 2), {.parts = 4, .num_shells = 2});
  size_t num_pairs = 0, num_curves = 0;
  const uint32_t scenes = tests::SweepCount(60u);
  for (uint32_t scene = 0; scene < scenes; ++scene) {
    CAPTURE(scene);
    const auto kinds = static_cast<uint32_t>(Deformation::kTiny);
    const auto kind = [&] { return static_cast<Deformation>(random.Below(kinds)); };
    a.Move(Deform(a.shape().rest(), kind(), &random));
    const bool identical = scene % 4 == 0;
    SurfaceBody& other = identical ? copy : b;
    if (identical) {
      copy.Move({a.x().begin(), a.x().end()});
    } else {
      b.Move(Deform(b.shape().rest(), kind(), &random));
    }
    const Eigen::Vector3d away = random.Vector(identical ? 0.0 : 0.1);
    const Vec3 offset = {float(away.x()), float(away.y()), float(away.z())};
    const std::vector<TrianglePair> pairs = FromTrees(a, other, offset);
    std::vector<std::array<uint32_t, 2>> indices;
    for (const TrianglePair& pair : pairs) indices.push_back({pair.moved, pair.fixed});
    std::sort(indices.begin(), indices.end());
    REQUIRE(indices == BruteForce(a, other, offset));
    const Curves curves = CurvesOf(pairs);
    RequireClosed(pairs, curves);
    num_pairs += pairs.size();
    num_curves += curves.curves.size();
  }
  CHECK(num_pairs > 80 * scenes);
  CHECK(num_curves > 5 * scenes / 6);
}

// Two halves of a shell have so many triangles that their trees are searched. All around it, and on
// the other body, patches are placed.
TEST_CASE("Patches that are too large to be placed find their pairs once, beside those that are",
          "[long]") {
  const uint32_t seed = 62;
  CAPTURE(seed);
  Random random(seed);
  SurfaceBody large(TetBox(1, 1, 1, 0.1), {.parts = 46, .depth = 0.05, .num_shells = 1});
  SurfaceBody small(TetBox(1, 1, 1, 0.06), {.parts = 3, .num_shells = 0});
  const auto is_large = [&](uint32_t patch) {
    return TrianglesEnd(large.surface(), patch) - large.surface().patches[patch].first_triangle >
           PlacedPatches::kMostPicked;
  };
  uint32_t num_large = 0;
  for (uint32_t patch = 0; patch < large.surface().patches.size(); ++patch)
    num_large += is_large(patch);
  REQUIRE(num_large == 2);
  REQUIRE(large.surface().patches.size() > 4);
  size_t of_large = 0, of_placed = 0;
  for (int scene = 0; scene < 6; ++scene) {
    CAPTURE(scene);
    large.Move(Deform(large.shape().rest(), Deformation::kGentle, &random));
    small.Move(Deform(small.shape().rest(), Deformation::kGentle, &random));
    uint32_t shell = 0;
    while (!is_large(large.PatchOf(shell))) ++shell;
    // A corner of the small body is in the shell, another one outside of all.
    const Eigen::Vector3d corner = ToEigen(small.x()[random.Below(8)]);
    const Vec3 offset = ToVec3(ToEigen(large.CornerPosition(shell, 0)) - corner);
    const bool swapped = scene % 2 == 1;
    const SurfaceBody &moved = swapped ? small : large, &fixed = swapped ? large : small;
    const Vec3 way = swapped ? -offset : offset;
    const std::vector<TrianglePair> pairs = FromTrees(moved, fixed, way, &large);
    RequireClosed(pairs, CurvesOf(pairs));
    std::vector<std::array<uint32_t, 2>> indices;
    for (const TrianglePair& pair : pairs) {
      indices.push_back({pair.moved, pair.fixed});
      ++(is_large(large.PatchOf(swapped ? pair.fixed : pair.moved)) ? of_large : of_placed);
    }
    std::ranges::sort(indices);
    if (scene < 2) REQUIRE(indices == BruteForce(moved, fixed, way));
    // With less room than a patch of the other body may need, the trees are searched, too.
    REQUIRE(FromTrees(moved, fixed, way).size() == pairs.size());
  }
  CAPTURE(of_large, of_placed);
  CHECK(of_large > 500);
  CHECK(of_placed > 500);
}

// A beam that is bent round so far that its ends overlap. If a body is given for both sides, it
// meets a copy of itself that is moved symbolically.
TEST_CASE("A body meets itself as a copy does, and in both orders where it overlaps itself") {
  constexpr double kLength = 0.8, kTurn = 6.6;  // [m], [rad]
  const tools::TetMesh beam = TetBox(8, 1, 1, 0.1);
  SurfaceBody body(beam, {.parts = 3, .num_shells = 1}), copy(beam, {.parts = 3, .num_shells = 1});
  std::vector<Vec3> bent(body.x().begin(), body.x().end());
  for (Vec3& x : bent) {
    const double angle = kTurn * double(x.x) / kLength, radius = kLength / kTurn + double(x.y);
    x = {float(radius * std::cos(angle)), float(radius * std::sin(angle)),
         float(double(x.z) + 0.03 * double(x.x) / kLength)};
  }
  const auto along = [&](uint32_t triangle) {  // in the rest shape [m]
    const CdgTet& tet = body.surface().tets[body.TetOf(triangle)];
    double sum = 0.0;
    for (const uint32_t node : tet.nodes) sum += double(body.shape().rest()[node].x);
    return 0.25 * sum;
  };
  body.Move(bent);
  copy.Move(bent);
  const std::vector<TrianglePair> pairs = FromTrees(body, body, {});
  RequireClosed(pairs, CurvesOf(pairs));
  std::vector<std::array<uint32_t, 2>> indices, overlaps;
  for (const TrianglePair& pair : pairs) {
    indices.push_back({pair.moved, pair.fixed});
    if (std::fabs(along(pair.moved) - along(pair.fixed)) > 0.5 * kLength) {
      overlaps.push_back({pair.moved, pair.fixed});
    }
  }
  std::ranges::sort(indices);
  std::ranges::sort(overlaps);
  CHECK(indices == BruteForce(body, copy, {}));
  CHECK(overlaps.size() > 20);
  for (const auto& [moved, fixed] : overlaps) {
    CHECK(std::ranges::binary_search(overlaps, std::array{fixed, moved}));
  }
}

}  // namespace body_pairs_test
