// SPDX-License-Identifier: MIT
// World::FindIntersection and kDrawIntersections.
#include "runtime/colliders/solid_scene.h"
#include "runtime/world/heap_counter.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace intersections_test {

constexpr float kDt = 0.01f;

// Cubes of 0.2 m.
struct Cubes {
  Cubes()
      : shape(SurfaceBytes(TetBox(2, 2, 2, 0.1), {.parts = 2, .depth = 0.0, .num_shells = 0})) {}

  BodyId Add(World* world, const Vec3& position, float scale = 1.0f) const {
    return AddBody(world, shape.asset(), {.pose = {.position = position}, .scale = scale});
  }

  ShapeAsset shape;
};

struct Found {
  Intersection sums;
  std::vector<IntersectionSegment> segments;
  std::vector<IntersectionRegion> regions;
};

Found FindIn(const World& world, BodyId a, BodyId b) {
  Found found;
  REQUIRE(world.FindIntersection(a, b, {}, {}, &found.sums).ok());
  found.segments.resize(found.sums.num_segments);
  found.regions.resize(found.sums.num_regions);
  Intersection again;
  REQUIRE(world.FindIntersection(a, b, found.segments, found.regions, &again).ok());
  CHECK(again.num_segments == found.sums.num_segments);
  CHECK(again.num_regions == found.sums.num_regions);
  return found;
}

double LengthOf(const IntersectionSegment& s) { return (ToEigen(s.to) - ToEigen(s.from)).norm(); }

// How many lines and triangles a world draws.
struct Drawn {
  size_t lines = 0, triangles = 0;
};
Drawn Draw(const World& world) {
  Drawn drawn;
  DebugDraw draw = {.user = &drawn, .flags = kDrawIntersections};
  draw.line = [](void* user, const Vec3&, const Vec3&, uint32_t) {
    ++static_cast<Drawn*>(user)->lines;
  };
  draw.triangle = [](void* user, const Vec3&, const Vec3&, const Vec3&, uint32_t) {
    ++static_cast<Drawn*>(user)->triangles;
  };
  world.Draw(draw);
  return drawn;
}

TEST_CASE("A corner in a corner has one curve, and regions of the right areas") {
  const Cubes cubes;
  World world({.max_pairs = 4});
  const float far = 100.0f;
  const BodyId a = cubes.Add(&world, {far, 0, 0}),
               b = cubes.Add(&world, {far + 0.17f, 0.16f, 0.15f});
  const Found found = FindIn(world, a, b);
  CHECK(found.sums.is_complete);
  CHECK_FALSE(found.sums.is_open);
  CHECK(found.sums.num_curves == 1);
  CHECK(found.sums.num_volumes == 1);
  // The overlap is a box of 3 x 4 x 5 cm; six of its twelve edges are the curve.
  double length = 0.0;
  for (size_t i = 0; i < found.segments.size(); ++i) {
    const IntersectionSegment &s = found.segments[i],
                              &next = found.segments[(i + 1) % found.segments.size()];
    CHECK((ToEigen(s.to) - ToEigen(next.from)).norm() < 2e-5);
    CHECK(s.curve == 0);
    length += LengthOf(s);
  }
  CHECK(length == Approx(2 * (0.03 + 0.04 + 0.05)).epsilon(1e-3));
  double areas[2] = {};
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (const IntersectionRegion& region : found.regions) {
    areas[region.body == a ? 0 : 1] += double(region.area);
    sum += ToEigen(region.vector_area);
    CHECK(region.volume == found.segments[0].volume);
    CHECK(region.centroid.x > far + 0.165f);
    CHECK(region.centroid.x < far + 0.205f);
  }
  for (const double area : areas) {
    CHECK(area == Approx(0.03 * 0.04 + 0.04 * 0.05 + 0.05 * 0.03).epsilon(2e-3));
  }
  CHECK(sum.norm() < 1e-2 * areas[0]);  // together they bound the overlap
  // The other way round, triangles change sides.
  const Found swapped = FindIn(world, b, a);
  REQUIRE(swapped.segments.size() == found.segments.size());
  for (size_t i = 0; i < found.segments.size(); ++i) {
    CHECK(swapped.segments[i].triangles[0] == found.segments[i].triangles[1]);
    CHECK(swapped.segments[i].triangles[1] == found.segments[i].triangles[0]);
  }
  // Scales are the bodies' own.
  const BodyId large = cubes.Add(&world, {far - 0.38f, -0.1f, -0.1f}, 2.0f);
  const Found between = FindIn(world, a, large);
  CHECK(between.sums.num_curves == 1);
}

TEST_CASE("Bodies apart have no intersection, and a piece inside has a volume without a curve") {
  const Cubes cubes;
  World world({.max_pairs = 4});
  const BodyId a = cubes.Add(&world, {}), b = cubes.Add(&world, {0.3f, 0, 0});
  CHECK(FindIn(world, a, b).sums.num_volumes == 0);
  const BodyId inner = cubes.Add(&world, {0.05f, 0.05f, 0.05f}, 0.3f);
  const Found found = FindIn(world, a, inner);
  CHECK(found.sums.num_curves == 0);
  CHECK(found.sums.num_volumes == 1);
}

TEST_CASE("FindIntersection refuses what it cannot answer") {
  const Cubes cubes;
  World world({.max_pairs = 4}), none;
  const BodyId a = cubes.Add(&world, {}), b = cubes.Add(&world, {0.1f, 0, 0});
  Intersection sums;
  CHECK(world.FindIntersection(a, a, {}, {}, &sums).code == StatusCode::kInvalidArgument);
  CHECK(world.FindIntersection(a, b, {}, {}, nullptr).code == StatusCode::kInvalidArgument);
  CHECK(world.FindIntersection(a, {}, {}, {}, &sums).code == StatusCode::kNullId);
  const BodyId c = cubes.Add(&none, {}), d = cubes.Add(&none, {0.1f, 0, 0});
  CHECK(none.FindIntersection(c, d, {}, {}, &sums).code == StatusCode::kInvalidArgument);
  REQUIRE(world.RemoveBody(b).ok());
  CHECK(world.FindIntersection(a, b, {}, {}, &sums).code == StatusCode::kStaleId);
}

TEST_CASE("Curves and regions are drawn, without heap use and without a trace in later steps") {
  const Cubes cubes;
  World drawn({.max_pairs = 8}), plain({.max_pairs = 8});
  std::vector<BodyId> ids;
  for (World* world : {&drawn, &plain}) {
    AddPlane(world, {});
    for (int k = 0; k < 3; ++k) {
      ids.push_back(cubes.Add(world, {0.02f * float(k), 0.001f + 0.22f * float(k), 0.01f}));
    }
  }
  size_t lines = 0, triangles = 0;
  for (int step = 0; step < 100; ++step) {
    StepWorld(&drawn, kDt);
    StepWorld(&plain, kDt);
    const uint64_t heap = HeapAllocations();
    const Drawn now = Draw(drawn);
    const uint64_t after = HeapAllocations();
    CHECK(after == heap);
    lines = std::max(lines, now.lines);
    triangles = std::max(triangles, now.triangles);
    Intersection sums;
    REQUIRE(drawn.FindIntersection(ids[0], ids[1], {}, {}, &sums).ok());
    REQUIRE(drawn.StateHash() == plain.StateHash());
  }
  CHECK(lines > 8);
  CHECK(triangles > 0);
  // Queries see the bodies as before.
  SurfacePoint a, b;
  const Ray down = {.origin = {0.05f, 5.0f, 0.05f}, .direction = {0.0f, -1.0f, 0.0f}};
  REQUIRE(drawn.Raycast(down, {}, &a).ok());
  REQUIRE(plain.Raycast(down, {}, &b).ok());
  CHECK(a.distance == b.distance);
}

}  // namespace intersections_test
