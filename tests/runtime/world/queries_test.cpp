// SPDX-License-Identifier: MIT
// Queries through World: many bodies, far positions, errors, memory, threads.
#include "plush/format/cdg_records.h"
#include "plush/world.h"

#include "base/vector_math.h"
#include "runtime/collision/surface_fixtures.h"
#include "runtime/world/heap_counter.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <thread>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace queries_test {

const ShapeAsset& Bumpy() {
  static const ShapeAsset* const shape =
      new ShapeAsset(SurfaceBytes(TetBox(3, 2, 2, 0.1, 0.05, 7), {.parts = 5}));
  return *shape;
}

// A file without a collision surface.
ShapeAsset Bare() {
  tools::AssetContent content = ContentOf(TetBox(1, 1, 1, 0.1));
  content.collision = {};
  return ShapeAsset(tools::WriteAsset(content).value());
}

BodyDesc At(const Vec3& position) { return BodyDesc{.pose = {.position = position}}; }

// Ten bodies in a row along x, rotated and compressed.
void AddRow(World* world, std::vector<BodyId>* ids) {
  Random random(70);
  for (int i = 0; i < 10; ++i) {
    BodyDesc desc = At({0.5f * static_cast<float>(i), 0.0f, 0.0f});
    desc.pose.rotation = ToQuat(random.Rotation());
    ids->push_back(AddBody(world, Bumpy().asset(), desc));
    Points x = ToEigen(PositionsOf(*world, ids->back(), Bumpy().num_nodes()));
    REQUIRE(world->SetNodePositions(ids->back(), ToVec3s(x + random.Vectors(x.cols(), 0.01))).ok());
  }
}

bool Same(const SurfacePoint& a, const SurfacePoint& b) {
  return a.body.value == b.body.value && a.triangle == b.triangle && a.patch == b.patch &&
         a.distance == b.distance && a.position.x == b.position.x;
}

// Results of all kinds of queries.
std::vector<SurfacePoint> AskAll(const World& world, uint32_t seed) {
  Random random(seed);
  std::vector<SurfacePoint> answers;
  SurfacePoint found[32];
  uint32_t count = 0;
  for (int i = 0; i < 60; ++i) {
    const Vec3 a = ToVec3(random.Vector(5.0)), b = ToVec3(random.Vector(0.2));
    const Vec3 target = {b.x + 0.5f * static_cast<float>(i % 10), b.y, b.z};
    SurfacePoint point;
    REQUIRE(world.Raycast({.origin = a, .direction = target - a}, {}, &point).ok());
    answers.push_back(point);
    REQUIRE(world.ClosestPoint(a, 1e9f, {}, &point).ok());
    answers.push_back(point);
    REQUIRE(
        world
            .RaycastAll({.origin = {-9, 0, 0.01f * a.x}, .direction = {1, 0, 0}}, {}, found, &count)
            .ok());
    answers.insert(answers.end(), found, found + std::min(count, 32u));
    REQUIRE(world.OverlapSphere(target, 0.1f, {}, found, &count).ok());
    answers.insert(answers.end(), found, found + std::min(count, 32u));
  }
  return answers;
}

// Rays and nearest points, without Catch's macros, which only one thread may use. A query that
// fails adds no answer.
std::vector<SurfacePoint> AskNearest(const World& world, uint32_t seed) {
  Random random(seed);
  std::vector<SurfacePoint> answers;
  SurfacePoint point;
  for (int i = 0; i < 200; ++i) {
    const Vec3 a = ToVec3(random.Vector(5.0)), b = ToVec3(random.Vector(0.2));
    const Vec3 target = {b.x + 0.5f * static_cast<float>(i % 10), b.y, b.z};
    if (world.Raycast({.origin = a, .direction = target - a}, {}, &point).ok()) {
      answers.push_back(point);
    }
    if (world.ClosestPoint(a, 1e9f, {}, &point).ok()) answers.push_back(point);
  }
  return answers;
}

TEST_CASE("A hit describes its place completely") {
  World world;
  std::vector<BodyId> ids;
  AddRow(&world, &ids);
  const CollisionView& surface = Bumpy().asset().collision();
  Random random(71);
  int met = 0;
  for (int i = 0; i < 500; ++i) {
    const Vec3 origin = ToVec3(random.Vector(4.0));
    const Vec3 target = ToVec3(random.Vector(0.2) + Eigen::Vector3d(0.5 * (i % 10), 0, 0));
    const Ray ray = {.origin = origin, .direction = 3.0f * (target - origin)};
    SurfacePoint hit;
    REQUIRE(world.Raycast(ray, {}, &hit).ok());
    if (!hit.valid()) continue;
    ++met;
    const Eigen::Vector3d direction = ToEigen(ray.direction).normalized();
    const Eigen::Vector3d place = ToEigen(hit.position);
    REQUIRE((ToEigen(origin) + double(hit.distance) * direction - place).norm() < 1e-5);
    // The weights sum to one and give the place; patch and tet are those of the triangle.
    const std::vector<Vec3> x = PositionsOf(world, hit.body, Bumpy().num_nodes());
    const float weights[4] = {hit.weights.x, hit.weights.y, hit.weights.z, hit.weights.w};
    Eigen::Vector3d embedded = Eigen::Vector3d::Zero();
    for (size_t k = 0; k < 4; ++k) embedded += double(weights[k]) * ToEigen(x[hit.nodes[k]]);
    REQUIRE((embedded - place).norm() < 1e-6);
    const CdgTet& tet = surface.tets[surface.patches[hit.patch].tet];
    REQUIRE(hit.tet == tet.tet);
    REQUIRE(std::equal(hit.nodes, hit.nodes + 4, tet.nodes));
    REQUIRE(hit.triangle >= surface.patches[hit.patch].first_triangle);
    const Vec3& b = hit.barycentrics;
    REQUIRE(std::fmin(b.x, std::fmin(b.y, b.z)) >= 0.0f);
    REQUIRE(b.x + b.y + b.z == Approx(1.0f).epsilon(1e-5));
    REQUIRE(ToEigen(hit.normal).norm() == Approx(1.0).epsilon(1e-5));
    REQUIRE(hit.front == (ToEigen(hit.normal).dot(direction) <= 0.0));
    SurfacePoint near;
    REQUIRE(world.ClosestPoint(hit.position, 1e-3f, {}, &near).ok());
    REQUIRE(near.valid());
    REQUIRE(near.distance < 1e-6f);
  }
  CHECK(met > 200);
}

TEST_CASE("A query of all bodies gives the nearest result of any body") {
  World world;
  std::vector<BodyId> ids;
  AddRow(&world, &ids);
  Random random(72);
  for (int i = 0; i < 200; ++i) {
    const Vec3 a = ToVec3(random.Vector(3.0));
    const Ray ray = {.origin = a, .direction = ToVec3(random.Vector(1.0) - ToEigen(a))};
    SurfacePoint all, one, best, near, best_near;
    uint32_t sum = 0, count = 0;
    for (const BodyId id : ids) {
      REQUIRE(world.Raycast(id, ray, &one).ok());
      if (one.valid() && (!best.valid() || one.distance < best.distance)) best = one;
      REQUIRE(world.ClosestPoint(id, a, 100.0f, &one).ok());
      if (!best_near.valid() || one.distance < best_near.distance) best_near = one;
      REQUIRE(world.RaycastAll(id, ray, {}, &count).ok());
      sum += count;
    }
    REQUIRE(world.Raycast(ray, {}, &all).ok());
    REQUIRE(world.ClosestPoint(a, 100.0f, {}, &near).ok());
    REQUIRE(all.valid() == best.valid());
    if (all.valid()) REQUIRE(Same(all, best));
    REQUIRE(Same(near, best_near));
    SurfacePoint hits[64];
    REQUIRE(world.RaycastAll(ray, {}, hits, &count).ok());
    REQUIRE(count == sum);
    REQUIRE(count <= 64);
    if (count > 0) REQUIRE(Same(hits[0], all));
    for (uint32_t k = 1; k < count; ++k) REQUIRE(hits[k - 1].distance <= hits[k].distance);
    SurfacePoint few[3];
    REQUIRE(world.RaycastAll(ray, {}, few, &count).ok());
    REQUIRE(count == sum);
    for (uint32_t k = 0; k < std::min(count, 3u); ++k) REQUIRE(Same(few[k], hits[k]));
  }
}

TEST_CASE("Queries see where bodies are now") {
  World world({.gravity = {0.0f, -10.0f, 0.0f}});
  const BodyId falling = AddBody(&world, Bumpy().asset(), At({0.0f, 10.0f, 0.0f}));
  const Ray down = {.origin = {0.15f, 100.0f, 0.1f}, .direction = {0.0f, -1.0f, 0.0f}};
  SurfacePoint hit;
  REQUIRE(world.Raycast(down, {}, &hit).ok());
  REQUIRE(hit.valid());
  const float before = hit.distance;
  for (int i = 0; i < 50; ++i) StepWorld(&world, 0.01f);
  REQUIRE(world.Raycast(down, {}, &hit).ok());
  REQUIRE(hit.valid());
  CHECK(hit.distance == Approx(before + 1.25f).epsilon(0.02));
  std::vector<Vec3> x = PositionsOf(world, falling, Bumpy().num_nodes());
  for (Vec3& node : x) node.x += 5.0f;
  REQUIRE(world.SetNodePositions(falling, x).ok());
  REQUIRE(world.Raycast(down, {}, &hit).ok());
  CHECK_FALSE(hit.valid());
  for (Vec3& node : x) node.x -= 5.0f;  // back to a position that its search trees have not seen
  REQUIRE(world.SetNodePositions(falling, x).ok());
  REQUIRE(world.Raycast(down, {}, &hit).ok());
  CHECK(hit.valid());
  REQUIRE(world.RemoveBody(falling).ok());
  REQUIRE(world.ClosestPoint({0, 0, 0}, 1e9f, {}, &hit).ok());
  CHECK_FALSE(hit.valid());
}

TEST_CASE("Queries see the shape that was set, not the one before") {
  const uint32_t seed = GENERATE(74u, 75u, 76u);
  CAPTURE(seed);
  Random random(seed);
  World world({.gravity = {}});
  const BodyId id = AddBody(&world, Bumpy().asset());
  const Points rest = ToEigen(Bumpy().rest());
  size_t hits = 0;
  for (int round = 0; round < 4; ++round) {
    // Wider and narrower in turn. The search trees of the previous shape would not hold this one,
    // or would be too wide.
    const Points x = (round % 2 == 0 ? 4.0 : 0.5) * (random.Rotation() * rest) +
                     random.Vectors(rest.cols(), 0.01);
    REQUIRE(world.SetNodePositions(id, ToVec3s(x)).ok());
    World fresh({.gravity = {}});
    REQUIRE(fresh.SetNodePositions(AddBody(&fresh, Bumpy().asset()), ToVec3s(x)).ok());
    const std::vector<SurfacePoint> now = AskAll(world, seed), expected = AskAll(fresh, seed);
    REQUIRE(now.size() == expected.size());
    size_t unlike = 0;
    for (size_t i = 0; i < now.size(); ++i) {
      unlike += Same(now[i], expected[i]) ? 0 : 1;
      hits += now[i].valid() ? 1 : 0;
    }
    CHECK(unlike == 0);
  }
  CHECK(hits > 500);
}

TEST_CASE("Bodies far from the world's origin are met as well as near ones") {
  Random random(73);
  const BodyDesc here = At({0.0f, 0.0f, 0.0f}), there = At({262144.0f, -131072.0f, 65536.0f});
  World near, far;
  AddBody(&near, Bumpy().asset(), here);
  AddBody(&far, Bumpy().asset(), there);
  int met = 0;
  for (int i = 0; i < 300; ++i) {
    // Offsets that float represents exactly at that distance.
    Vec3 offset = ToVec3(random.Vector(2.0));
    offset = {std::round(offset.x * 32) / 32, std::round(offset.y * 32) / 32,
              std::round(offset.z * 32) / 32};
    const Vec3 direction = ToVec3(Eigen::Vector3d(0.15, 0.1, 0.1) + random.Vector(0.1)) - offset;
    SurfacePoint a, b;
    REQUIRE(near.Raycast({.origin = offset, .direction = direction}, {}, &a).ok());
    REQUIRE(
        far.Raycast({.origin = there.pose.position + offset, .direction = direction}, {}, &b).ok());
    REQUIRE(a.valid() == b.valid());
    REQUIRE(a.triangle == b.triangle);
    REQUIRE(a.distance == Approx(b.distance).epsilon(1e-5));
    met += a.valid() ? 1 : 0;
  }
  CHECK(met > 100);
  // A ray from there to here ends within float's resolution at its origin.
  SurfacePoint hit;
  REQUIRE(near.Raycast({.origin = {1.0e6f, 0.1f, 0.1f}, .direction = {-1.0f, 0.0f, 0.0f}}, {}, &hit)
              .ok());
  REQUIRE(hit.valid());
  CHECK(hit.position.x == Approx(0.3f).margin(0.1));
}

TEST_CASE("Invalid rays and spheres are refused") {
  World world;
  const BodyId id = AddBody(&world, Bumpy().asset());
  const float nan = std::numeric_limits<float>::quiet_NaN();
  SurfacePoint point;
  uint32_t count = 7;
  const auto refuses = [&](const Ray& ray) {
    return world.Raycast(ray, {}, &point).code == StatusCode::kInvalidArgument && !point.valid() &&
           world.RaycastAll(id, ray, {}, &count).code == StatusCode::kInvalidArgument && count == 0;
  };
  CHECK(refuses({.origin = {nan, 0, 0}}));
  CHECK(refuses({.direction = {0, nan, 0}}));
  CHECK(refuses({.direction = {0, 0, 0}}));
  CHECK(refuses({.max_distance = -1.0f}));
  CHECK(refuses({.max_distance = nan}));
  CHECK(world.ClosestPoint({0, nan, 0}, 1.0f, {}, &point).code == StatusCode::kInvalidArgument);
  CHECK(world.ClosestPoint({0, 0, 0}, nan, {}, &point).code == StatusCode::kInvalidArgument);
  CHECK(world.OverlapSphere({0, 0, 0}, -1.0f, {}, {}, &count).code == StatusCode::kInvalidArgument);
  CHECK(world.Raycast(BodyId{7}, {}, &point).code == StatusCode::kForeignId);
  CHECK(world.ClosestPoint(BodyId{7}, {}, 1.0f, &point).code == StatusCode::kForeignId);
  CHECK(world.OverlapSphere(BodyId{7}, {}, 1.0f, {}, &count).code == StatusCode::kForeignId);
  DeformedPatch patch;
  CHECK(world.PatchOf({7}, 0, &patch).code == StatusCode::kForeignId);
  const auto num_patches = static_cast<uint32_t>(Bumpy().asset().collision().patches.size());
  CHECK(world.PatchOf(id, num_patches, &patch).code == StatusCode::kInvalidArgument);
  CHECK(world.PatchOf(id, num_patches - 1, &patch).ok());
  CHECK(patch.area > 0.0f);
  REQUIRE(world
              .Raycast({.direction = {1e-30f, 0, 0},
                        .max_distance = std::numeric_limits<float>::infinity()},
                       {}, &point)
              .ok());
}

TEST_CASE("A ray reaches as far as it says") {
  World world;
  AddBody(&world, Bumpy().asset());
  Ray ray = {.origin = {0.15f, 5.0f, 0.1f}};
  SurfacePoint hit;
  REQUIRE(world.Raycast(ray, {}, &hit).ok());
  REQUIRE(hit.valid());
  ray.max_distance = hit.distance * 0.9999f;
  REQUIRE(world.Raycast(ray, {}, &hit).ok());
  CHECK_FALSE(hit.valid());
}

TEST_CASE("Bodies without a collision surface are never found") {
  const ShapeAsset bare = Bare();
  World world;
  const BodyId id = AddBody(&world, bare.asset());
  world.PrepareQueries();
  SurfacePoint point;
  uint32_t count = 1;
  REQUIRE(world.Raycast({.origin = {0.05f, 1.0f, 0.05f}}, {}, &point).ok());
  CHECK_FALSE(point.valid());
  REQUIRE(world.Raycast(id, {.origin = {0.05f, 1.0f, 0.05f}}, &point).ok());
  CHECK_FALSE(point.valid());
  REQUIRE(world.ClosestPoint({0, 0, 0}, 1e9f, {}, &point).ok());
  CHECK_FALSE(point.valid());
  REQUIRE(world.OverlapSphere({0, 0, 0}, 1e9f, {}, {}, &count).ok());
  CHECK(count == 0);
}

TEST_CASE("Queries take no memory, the first after a step included") {
  CountingMemory memory;
  World world({.allocator = memory.allocator()});
  BodyDesc scenery = At({0.0f, -1.0f, 0.0f});
  scenery.fixed = true;
  AddBody(&world, Bumpy().asset(), scenery);
  const BodyId id = AddBody(&world, Bumpy().asset());
  StepWorld(&world, 0.01f);
  SurfacePoint found[16], point;
  uint32_t count = 0;
  DeformedPatch patch;
  const uint64_t heap = HeapAllocations(), requests = memory.requests();
  bool ok = true;
  for (int i = 0; i < 5; ++i) {
    ok = world.Raycast({.origin = {0.1f, 1.0f, 0.1f}}, {}, &point).ok() && point.valid() && ok;
    ok =
        world.RaycastAll({.origin = {0.1f, 1.0f, 0.1f}}, {}, found, &count).ok() && count > 3 && ok;
    ok = world.OverlapSphere({}, 0.2f, {}, found, &count).ok() && count > 16 && ok;
    ok = world.ClosestPoint({1.0f, 1.0f, 1.0f}, 10.0f, {}, &point).ok() && point.valid() && ok;
    ok = world.PatchOf(id, 0, &patch).ok() && ok;
    StepWorld(&world, 0.01f);
    world.PrepareQueries();
  }
  const uint64_t after = HeapAllocations();
  CHECK(ok);
  CHECK(after == heap);
  CHECK(memory.requests() == requests);
}

TEST_CASE("Prepared queries from many threads at once give the answers of one thread") {
  World world;
  std::vector<BodyId> ids;
  AddRow(&world, &ids);
  World other;
  std::vector<BodyId> other_ids;
  AddRow(&other, &other_ids);
  const std::vector<SurfacePoint> expected = AskAll(other, 74), one_by_one = AskNearest(other, 74);
  REQUIRE(one_by_one.size() == 400);  // a ray and a nearest point, 200 times
  size_t hits = 0, nearest = 0;
  for (size_t i = 0; i < one_by_one.size(); ++i) {
    (i % 2 == 0 ? hits : nearest) += one_by_one[i].valid() ? 1 : 0;
  }
  CAPTURE(hits);
  CHECK(hits > 40);
  CHECK(nearest == 200);
  world.PrepareQueries();
  std::vector<std::vector<SurfacePoint>> answers(4);
  std::vector<std::thread> threads;
  for (auto& answer : answers) {
    threads.emplace_back([&world, &answer] { answer = AskNearest(world, 74); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& answer : answers) {
    REQUIRE(answer.size() == one_by_one.size());
    for (size_t i = 0; i < answer.size(); ++i) REQUIRE(Same(answer[i], one_by_one[i]));
  }
  const std::vector<SurfacePoint> now = AskAll(world, 74);
  REQUIRE(now.size() == expected.size());
  for (size_t i = 0; i < now.size(); ++i) REQUIRE(Same(now[i], expected[i]));
}

}  // namespace queries_test
