// SPDX-License-Identifier: MIT
// Queries with masks and ignored bodies, against queries on the bodies one by one.
#include "plush/collision.h"

#include "base/id_layout.h"
#include "base/vector_math.h"
#include "runtime/crowds/crowd_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace query_filter_test {

struct Scene {
  explicit Scene(uint32_t seed) : shape(TetBox(2, 2, 1, 0.2, 0.09, seed), {}, 0.01) {
    Random random(seed);
    for (uint32_t i = 0; i < 12; ++i) {
      BodyDesc desc = {.pose = {ToVec3(random.Vector(0.6)), ToQuat(random.Rotation())},
                       .scale = i % 3 == 0 ? 1.5f : 1.0f,
                       .filter = {.category = 1u << i % 5},
                       .enabled = i != 4};
      ids.push_back(AddBody(&world, shape.asset(), desc));
      categories.push_back(i == 4 ? 0u : desc.filter.category);
    }
    REQUIRE(world.RemoveBody(ids[7]).ok());
  }
  bool Passes(size_t i, const QueryFilter& filter) const {
    return i != 7 && (categories[i] & filter.mask) != 0 && ids[i] != filter.ignore;
  }

  ShapeAsset shape;
  World world;
  std::vector<BodyId> ids;
  std::vector<uint32_t> categories;
};

bool Before(const SurfacePoint& a, const SurfacePoint& b) {
  if (a.distance != b.distance) return a.distance < b.distance;
  if (a.body != b.body) return SlotOf(a.body.value) < SlotOf(b.body.value);
  return a.triangle < b.triangle;
}

bool Same(const SurfacePoint& a, const SurfacePoint& b) {
  return a.body == b.body && a.triangle == b.triangle && a.distance == b.distance &&
         a.position.x == b.position.x;
}

// The best of the answers that queries on single bodies give.
template <class Ask>
SurfacePoint Best(const Scene& scene, const QueryFilter& filter, const Ask& ask) {
  SurfacePoint best;
  for (size_t i = 0; i < scene.ids.size(); ++i) {
    if (!scene.Passes(i, filter)) continue;
    const SurfacePoint point = ask(scene.ids[i]);
    if (point.valid() && (!best.valid() || Before(point, best))) best = point;
  }
  return best;
}

// All of them, sorted.
template <class Ask>
std::vector<SurfacePoint> AllOf(const Scene& scene, const QueryFilter& filter, const Ask& ask) {
  std::vector<SurfacePoint> all;
  for (size_t i = 0; i < scene.ids.size(); ++i) {
    if (!scene.Passes(i, filter)) continue;
    SurfacePoint points[256];
    const uint32_t count = ask(scene.ids[i], points);
    REQUIRE(count <= 256);
    all.insert(all.end(), points, points + count);
  }
  std::sort(all.begin(), all.end(), Before);
  return all;
}

void CheckSame(const std::vector<SurfacePoint>& expected, std::span<const SurfacePoint> found,
               uint32_t count) {
  REQUIRE(count == expected.size());
  for (size_t k = 0; k < std::min(found.size(), expected.size()); ++k) {
    REQUIRE(Same(found[k], expected[k]));
  }
}

TEST_CASE("Filtered queries are those on the bodies that pass, in order") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  Scene scene(seed);
  const World& world = scene.world;
  Random random(seed);
  int met = 0, ignored = 0;
  for (int i = 0; i < 300; ++i) {
    QueryFilter filter;
    if (i % 3 != 0) filter.mask = random.Below(64);
    if (i % 2 == 0) filter.ignore = scene.ids[random.Below(12)];  // may be stale
    const Vec3 origin = ToVec3(random.Vector(2.0)), target = ToVec3(random.Vector(0.6));
    const Ray ray = {
        .origin = origin, .direction = target - origin, .max_distance = i % 5 == 0 ? 1.0f : 1.0e9f};
    SurfacePoint point, found[16];
    uint32_t count = 0;
    REQUIRE(world.Raycast(ray, filter, &point).ok());
    const SurfacePoint hit = Best(scene, filter, [&](BodyId id) {
      SurfacePoint own;
      REQUIRE(world.Raycast(id, ray, &own).ok());
      return own;
    });
    REQUIRE(Same(point, hit));
    met += hit.valid() ? 1 : 0;
    const SurfacePoint any = Best(scene, {}, [&](BodyId id) {
      SurfacePoint own;
      REQUIRE(world.Raycast(id, ray, &own).ok());
      return own;
    });
    ignored += any.valid() && !Same(any, hit) ? 1 : 0;
    REQUIRE(world.RaycastAll(ray, filter, found, &count).ok());
    CheckSame(AllOf(scene, filter,
                    [&](BodyId id, std::span<SurfacePoint> points) {
                      uint32_t own = 0;
                      REQUIRE(world.RaycastAll(id, ray, points, &own).ok());
                      return own;
                    }),
              found, count);
    const Vec3 centre = ToVec3(random.Vector(1.0));
    REQUIRE(world.OverlapSphere(centre, 0.3f, filter, found, &count).ok());
    CheckSame(AllOf(scene, filter,
                    [&](BodyId id, std::span<SurfacePoint> points) {
                      uint32_t own = 0;
                      REQUIRE(world.OverlapSphere(id, centre, 0.3f, points, &own).ok());
                      return own;
                    }),
              found, count);
    REQUIRE(world.ClosestPoint(centre, 2.0f, filter, &point).ok());
    REQUIRE(Same(point, Best(scene, filter, [&](BodyId id) {
                   SurfacePoint own;
                   REQUIRE(world.ClosestPoint(id, centre, 2.0f, &own).ok());
                   return own;
                 })));
  }
  CHECK(met > 40);
  CHECK(ignored > 40);
}

TEST_CASE("Of two bodies in one place, a query finds that of the lower slot") {
  const ShapeAsset shape(TetBox(1, 1, 1, 0.1), {}, 0.01);
  World world;
  const BodyId first = AddBody(&world, shape.asset()), second = AddBody(&world, shape.asset());
  const Ray down = {.origin = {0.06f, 9.0f, 0.03f}};
  SurfacePoint point, points[8];
  REQUIRE(world.Raycast(down, {}, &point).ok());
  CHECK(point.body == first);
  REQUIRE(world.Raycast(down, {.ignore = first}, &point).ok());
  CHECK(point.body == second);
  uint32_t count = 0;
  REQUIRE(world.RaycastAll(down, {}, points, &count).ok());
  REQUIRE(count == 4);
  CHECK(points[0].body == first);
  CHECK(points[1].body == second);
  CHECK(points[0].distance == points[1].distance);
  REQUIRE(world.SetFilter(first, {.category = 8}).ok());
  REQUIRE(world.Raycast(down, {.mask = 1}, &point).ok());
  CHECK(point.body == second);
  REQUIRE(world.Raycast(down, {.mask = 8}, &point).ok());
  CHECK(point.body == first);
  REQUIRE(world.Raycast(down, {.mask = 0}, &point).ok());
  CHECK_FALSE(point.valid());
}

TEST_CASE("Queries check numbers, outputs and ids") {
  const ShapeAsset shape(TetBox(1, 1, 1, 0.1), {}, 0.01);
  World world;
  const BodyId id = AddBody(&world, shape.asset(), {.scale = 2.0f});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  SurfacePoint point, points[4];
  DeformedPatch patch;
  uint32_t count = 0;
  const Ray good = {};
  for (const Ray& ray :
       {Ray{.origin = {nan, 0, 0}}, Ray{.direction = {}}, Ray{.direction = {0, nan, 0}},
        Ray{.max_distance = -1.0f}, Ray{.max_distance = nan}}) {
    point.triangle = 0;
    CHECK(world.Raycast(ray, {}, &point).code == StatusCode::kInvalidArgument);
    CHECK_FALSE(point.valid());
    CHECK(world.Raycast(id, ray, &point).code == StatusCode::kInvalidArgument);
    CHECK(world.RaycastAll(ray, {}, points, &count).code == StatusCode::kInvalidArgument);
    CHECK(world.RaycastAll(id, ray, points, &count).code == StatusCode::kInvalidArgument);
  }
  for (const float wrong : {nan, -1.0f}) {
    CHECK(world.ClosestPoint({}, wrong, {}, &point).code == StatusCode::kInvalidArgument);
    CHECK(world.ClosestPoint(id, {}, wrong, &point).code == StatusCode::kInvalidArgument);
    CHECK(world.OverlapSphere({}, wrong, {}, points, &count).code == StatusCode::kInvalidArgument);
    CHECK(world.OverlapSphere(id, {0, wrong < 0 ? nan : 0, 0}, wrong, points, &count).code ==
          StatusCode::kInvalidArgument);
  }
  CHECK(world.Raycast(good, {}, nullptr).section == std::string("output"));
  CHECK(world.RaycastAll(good, {}, points, nullptr).section == std::string("output"));
  CHECK(world.OverlapSphere({}, 1.0f, {}, points, nullptr).section == std::string("output"));
  CHECK(world.ClosestPoint({}, 1.0f, {}, nullptr).section == std::string("output"));
  CHECK(world.PatchOf(id, 0, nullptr).section == std::string("output"));
  CHECK(world.PatchOf(id, UINT32_MAX, &patch).section == std::string("patch"));
  // Huge rays and distances stay finite in a small body's coordinates.
  const BodyId tiny = AddBody(&world, shape.asset(), {.scale = kLeastScale});
  const float most = std::numeric_limits<float>::max();
  CHECK(
      world.Raycast(tiny, {.origin = {most, most, -most}, .direction = {-1, -1, 1}}, &point).ok());
  CHECK(world.ClosestPoint(tiny, {most, 0, 0}, most, &point).ok());
  CHECK(world.OverlapSphere(tiny, {most, 0, -most}, most, points, &count).ok());
  REQUIRE(world.RemoveBody(id).ok());
  CHECK(world.Raycast(id, good, &point).code == StatusCode::kStaleId);
  CHECK(world.RaycastAll(id, good, points, &count).code == StatusCode::kStaleId);
  CHECK(world.OverlapSphere(id, {}, 1.0f, points, &count).code == StatusCode::kStaleId);
  CHECK(world.ClosestPoint(id, {}, 1.0f, &point).code == StatusCode::kStaleId);
  CHECK(world.PatchOf(id, 0, &patch).code == StatusCode::kStaleId);
  CHECK(world.PatchOf({}, 0, &patch).code == StatusCode::kNullId);
}

}  // namespace query_filter_test
