// SPDX-License-Identifier: MIT
// Rays through the trees, against every triangle: by the query's own exact test and by another
// formula.
#include "collision/ray_query.h"

#include "plush/format/cdg_records.h"

#include "collision/surface_records.h"
#include "collision/vertex_positions.h"
#include "runtime/collision/surface_fixtures.h"
#include "skip.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace plush;
using namespace plush::test;
using plush::tests::FullTests;

namespace ray_query_test {

constexpr double kFar = std::numeric_limits<double>::infinity();

LocalRay MakeRay(const Eigen::Vector3d& origin, const Eigen::Vector3d& direction,
                 double max_t = 1e30) {
  const Eigen::Vector3d d = direction.normalized();
  return {{origin.x(), origin.y(), origin.z()}, {d.x(), d.y(), d.z()}, max_t};
}

// All corners, at the runtime's positions.
std::vector<std::array<Vec3, 3>> Triangles(const SurfaceBody& body) {
  std::vector<std::array<Vec3, 3>> triangles(body.surface().num_triangles());
  for (uint32_t i = 0; i < triangles.size(); ++i) {
    for (int k = 0; k < 3; ++k) triangles[i][static_cast<size_t>(k)] = body.CornerPosition(i, k);
  }
  return triangles;
}

struct Box {
  Eigen::Vector3d low = Eigen::Vector3d::Constant(kFar), high = -low;
  double size() const { return (high - low).norm(); }
};

Box BoxOf(const std::vector<std::array<Vec3, 3>>& triangles) {
  Box box;
  for (const auto& corners : triangles) {
    for (const Vec3& x : corners) {
      box.low = box.low.cwiseMin(ToEigen(x));
      box.high = box.high.cwiseMax(ToEigen(x));
    }
  }
  return box;
}

// Applies the query's own test to every triangle.
SurfaceHit NearestByExactTest(const std::vector<std::array<Vec3, 3>>& triangles,
                              const LocalRay& ray, double reach, uint32_t* out_count) {
  const RayShear shear = MakeRayShear(ray, reach);
  SurfaceHit nearest;
  *out_count = 0;
  for (uint32_t i = 0; i < triangles.size(); ++i) {
    const Float4 corners[3] = {ToLanes(triangles[i][0]), ToLanes(triangles[i][1]),
                               ToLanes(triangles[i][2])};
    TriangleHit hit;
    if (!MeetTriangle(shear, corners, &hit) || !(hit.t >= 0.0 && hit.t <= ray.max_t)) continue;
    ++*out_count;
    if (nearest.triangle == kNoTriangle || hit.t < nearest.distance) {
      nearest = {i, 0, 0, hit.t, {hit.part[0], hit.part[1], hit.part[2]}};
    }
  }
  return nearest;
}

// The nearest triangle that the ray certainly meets, by Moeller and Trumbore's formula in double:
// away from its edges, and not at too flat an angle.
double NearestForCertain(const std::vector<std::array<Vec3, 3>>& triangles, const LocalRay& ray) {
  const Eigen::Vector3d o(ray.origin), d(ray.direction);
  double nearest = kFar;
  for (const auto& x : triangles) {
    const Eigen::Vector3d a = ToEigen(x[0]), e = ToEigen(x[1]) - a, f = ToEigen(x[2]) - a;
    const Eigen::Vector3d p = d.cross(f), s = o - a, q = s.cross(e);
    const double determinant = e.dot(p);
    if (std::fabs(determinant) < 1e-3 * e.cross(f).norm()) continue;
    const double u = s.dot(p) / determinant, v = d.dot(q) / determinant;
    if (std::min({u, v, 1.0 - u - v}) < 1e-3) continue;
    const double t = f.dot(q) / determinant;
    if (t >= 0.0 && t < nearest) nearest = t;
  }
  return nearest;
}

uint32_t CountHits(const CollisionBody& body, const LocalRay& ray) {
  struct Count {
    uint32_t hits;
    double max_t;
  } count = {0, ray.max_t};
  ForHits(body, ray, &count, [](void* user, const SurfaceHit&) {
    auto* c = static_cast<Count*>(user);
    ++c->hits;
    return c->max_t;
  });
  return count.hits;
}

struct Tally {
  uint32_t rays = 0, met = 0, misses = 0, wrong_counts = 0, wrong_places = 0;
};

// A ray that is likely to meet a body in `box`.
LocalRay AimedRay(const Box& box, Random* random) {
  const Eigen::Vector3d extent = box.high - box.low;
  const auto inside = [&](double more) {
    Eigen::Vector3d p;
    for (int i = 0; i < 3; ++i) {
      p[i] = random->Uniform(box.low[i] - more * extent[i], box.high[i] + more * extent[i]);
    }
    return p;
  };
  const Eigen::Vector3d target = inside(0.0);
  switch (random->Below(4)) {
    case 0:
      return MakeRay(inside(0.0), random->Direction());
    case 1: {  // along an axis
      Eigen::Vector3d axis = Eigen::Vector3d::Zero();
      axis[static_cast<Eigen::Index>(random->Below(3))] = random->Below(2) == 0 ? 1.0 : -1.0;
      return MakeRay(target - 3.0 * box.size() * axis, axis);
    }
    case 2: {  // from afar
      const Eigen::Vector3d d = random->Direction();
      return MakeRay(target - 1e3 * box.size() * d, d);
    }
    default: {
      const Eigen::Vector3d origin = inside(2.0);
      return MakeRay(origin, target - origin, random->Uniform(0.1, 8.0) * box.size());
    }
  }
}

void CompareRays(const SurfaceBody& body, int count, Random* random, Tally* tally) {
  const auto triangles = Triangles(body);
  const Box box = BoxOf(triangles);
  if (!(box.size() > 0.0)) return;
  for (int i = 0; i < count; ++i) {
    const LocalRay ray = AimedRay(box, random);
    uint32_t expected_hits = 0;
    const SurfaceHit expected =
        NearestByExactTest(triangles, ray, double(body.state().reach), &expected_hits);
    SurfaceHit hit;
    const bool met = Raycast(body.view(), ray, &hit);
    ++tally->rays;
    tally->met += met ? 1u : 0u;
    tally->misses += met != (expected.triangle != kNoTriangle) ? 1u : 0u;
    tally->wrong_counts += CountHits(body.view(), ray) != expected_hits ? 1u : 0u;
    if (!met) continue;
    tally->misses += hit.triangle != expected.triangle || hit.distance != expected.distance;
    tally->wrong_places +=
        hit.patch != body.PatchOf(hit.triangle) || hit.tet != body.TetOf(hit.triangle) ? 1u : 0u;
  }
}

TEST_CASE("Rays agree with a test of every triangle, however the body is deformed", "[long]") {
  const int bodies = FullTests() ? 500 : 60, rays = 200;
  const uint32_t seed = 31;
  CAPTURE(seed);
  Random random(seed);
  const auto record = GENERATE(tools::TriangleRecord::kSmallest, tools::TriangleRecord::kWide);
  SurfaceBody body(TetBox(2, 1, 2, 0.1, 0.08, 9), {.parts = 4, .num_shells = 4, .record = record});
  Tally tally;
  for (int i = 0; i < bodies; ++i) {
    const auto kind = static_cast<Deformation>(i % static_cast<int>(Deformation::kCount));
    body.Move(Deform(body.shape().rest(), kind, &random));
    CompareRays(body, rays, &random, &tally);
  }
  CHECK(tally.misses == 0);
  CHECK(tally.wrong_counts == 0);
  CHECK(tally.wrong_places == 0);
  CHECK(tally.met > tally.rays / 8);
}

TEST_CASE("Hits agree with those of another formula", "[long]") {
  const int bodies = FullTests() ? 250 : 40;
  SurfaceBody body(TetBox(2, 2, 1, 0.1, 0.08, 5), {.parts = 5, .num_shells = 3});
  const uint32_t seed = 32;
  CAPTURE(seed);
  Random random(seed);
  int met = 0, missed = 0, unlike = 0;
  for (int i = 0; i < bodies; ++i) {
    const Deformation kinds[] = {Deformation::kGentle, Deformation::kAffine, Deformation::kRandom};
    body.Move(Deform(body.shape().rest(), kinds[i % 3], &random));
    const auto triangles = Triangles(body);
    const Box box = BoxOf(triangles);
    for (int r = 0; r < 200; ++r) {
      LocalRay ray = AimedRay(box, &random);
      ray.max_t = 1e30;
      const double certain = NearestForCertain(triangles, ray);
      SurfaceHit hit;
      const bool found = Raycast(body.view(), ray, &hit);
      met += found ? 1 : 0;
      if (certain == kFar) continue;
      missed += !found || hit.distance > certain + 1e-5 * box.size() ? 1 : 0;
      if (!found) continue;
      // The place, computed from the triangle's corners, must be on the ray.
      Eigen::Vector3d place = Eigen::Vector3d::Zero();
      for (size_t k = 0; k < 3; ++k) place += hit.part[k] * ToEigen(triangles[hit.triangle][k]);
      const Eigen::Vector3d on_ray =
          Eigen::Vector3d(ray.origin) + hit.distance * Eigen::Vector3d(ray.direction);
      unlike += (place - on_ray).norm() > 1e-5 * box.size() ? 1 : 0;
    }
  }
  CHECK(missed == 0);
  CHECK(unlike == 0);
  CHECK(met > bodies * 50);
}

TEST_CASE("Closed surfaces are met an even number of times, also through their edges and corners") {
  SurfaceBody body(TetBox(2, 2, 2, 0.1), {.parts = 4, .depth = 0.0, .num_shells = 5});
  Random random(33);
  const bool deformed = GENERATE(false, true);
  if (deformed) body.Move(Deform(body.shape().rest(), Deformation::kGentle, &random));
  const auto triangles = Triangles(body);
  const Box box = BoxOf(triangles);
  int odd = 0, met = 0;
  for (int i = 0; i < 4000; ++i) {
    // Through a corner or the middle of an edge of a random triangle. Every other ray is along an
    // axis, so that rays also lie in the planes of faces.
    const auto& x = triangles[random.Below(static_cast<uint32_t>(triangles.size()))];
    const Eigen::Vector3d target =
        i % 4 < 2 ? ToEigen(x[0]) : Eigen::Vector3d(0.5 * (ToEigen(x[0]) + ToEigen(x[1])));
    Eigen::Vector3d d = random.Direction();
    if (i % 2 == 0) d = Eigen::Vector3d::Unit(static_cast<Eigen::Index>(random.Below(3)));
    const uint32_t hits = CountHits(body.view(), MakeRay(target - 4.0 * box.size() * d, d));
    odd += hits % 2 != 0 ? 1 : 0;
    met += hits > 0 ? 1 : 0;
  }
  CHECK(odd == 0);
  CHECK(met > 2000);
}

TEST_CASE("Rays on bodies of any size and place give finite answers") {
  SurfaceBody body(TetBox(1, 1, 1, 1.0, 0.08, 2), {.parts = 3});
  Random random(34);
  for (int exponent = -44; exponent <= 38; ++exponent) {
    const double scale = std::pow(10.0, exponent);
    CAPTURE(exponent);
    Points x = ToEigen(body.shape().rest());
    x.colwise() -= Eigen::Vector3d::Constant(0.5);
    body.Move(ToVec3s(x * scale));
    int met = 0;
    for (int r = 0; r < 50; ++r) {
      const Eigen::Vector3d d = random.Direction();
      SurfaceHit hit;
      const LocalRay ray = MakeRay(-2.0 * scale * d + random.Vector(0.2 * scale), d, 1e39);
      if (!Raycast(body.view(), ray, &hit)) continue;
      ++met;
      REQUIRE(std::isfinite(hit.distance));
      const SurfacePoint point = DescribeHit(body.view(), hit, ray.direction, ray.origin);
      REQUIRE(IsFinite(point.position));
      REQUIRE(ToEigen(point.normal).norm() == Approx(1.0).epsilon(1e-5));
    }
    if (exponent > -36) CHECK(met > 25);
  }
}

TEST_CASE("The normal of a triangle without area points towards the query") {
  SurfaceBody body(TetBox(1, 1, 1, 0.1), {.parts = 2});
  const double origin[3] = {1.0, 2.0, 3.0};
  Random random(35);
  for (int i = 0; i < 20; ++i) {
    const Eigen::Vector3d towards = 3.0 * random.Direction();
    std::vector<Vec3> x = body.shape().rest();
    for (Vec3& p : x) p = i % 2 == 0 ? Vec3{} : ToVec3(Eigen::Vector3d::UnitX() * double(p.x));
    body.Move(x);
    const uint32_t triangle = random.Below(body.surface().num_triangles());
    const SurfaceHit hit = {triangle, body.PatchOf(triangle), body.TetOf(triangle), 0.5, {1, 0, 0}};
    const SurfacePoint point = DescribeHit(body.view(), hit, towards.data(), origin);
    CHECK((ToEigen(point.normal) - towards.normalized()).norm() < 1e-6);
    CHECK(point.front);
    const double nowhere[3] = {0.0, 0.0, 0.0};
    const Vec3 up = DescribeHit(body.view(), hit, nowhere, origin).normal;
    CHECK((up.x == 0.0f && up.y == 1.0f && up.z == 0.0f));
  }
}

TEST_CASE("A ray of length zero hits the surface that it starts on") {
  SurfaceBody body(TetBox(2, 1, 1, 0.1, 0.05, 3), {.parts = 3, .num_shells = 2});
  const auto triangles = Triangles(body);
  Random random(36);
  uint32_t met = 0, unlike = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto& corners = triangles[random.Below(static_cast<uint32_t>(triangles.size()))];
    const LocalRay ray = MakeRay(ToEigen(corners[random.Below(3)]), random.Direction(), 0.0);
    uint32_t expected = 0;
    const SurfaceHit nearest =
        NearestByExactTest(triangles, ray, double(body.state().reach), &expected);
    SurfaceHit hit;
    const bool found = Raycast(body.view(), ray, &hit);
    unlike += found != (expected > 0) || CountHits(body.view(), ray) != expected ? 1u : 0u;
    if (!found) continue;
    unlike += hit.distance != 0.0 || hit.triangle != nearest.triangle ? 1u : 0u;
    ++met;
  }
  CHECK(unlike == 0);
  CHECK(met > 1000);  // each vertex of a closed surface is met from most sides
}

TEST_CASE("No ray hits a body without a surface") {
  const CollisionView none;
  const CollisionState state;
  const CollisionBody body = {none, {}, {}, state};
  SurfaceHit hit;
  CHECK_FALSE(Raycast(body, MakeRay({0, 0, 0}, {1, 0, 0}), &hit));
}

}  // namespace ray_query_test
