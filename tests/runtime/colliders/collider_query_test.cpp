// SPDX-License-Identifier: MIT
// Queries on colliders against analytic and brute-force answers.
#include "runtime/colliders/solid_scene.h"
#include "runtime/collision/static_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace collider_query_test {

constexpr QueryFilter kOnlyColliders = {.targets = kQueryColliders};

ColliderDesc RandomCollider(Random* random, std::vector<Vec3>* points) {
  const auto length = [&] { return static_cast<float>(random->Uniform(0.2, 2.0)); };
  const Pose pose = {ToVec3(random->Vector(3.0)), ToQuat(random->Rotation())};
  switch (random->Below(5)) {
    case 0:
      return SphereAt(pose.position, length());
    case 1:
      return CapsuleAt(pose, length(), length());
    case 2:
      return BoxAt(pose, {length(), length(), length()});
    case 3: {
      points->clear();
      for (int i = 0; i < 30; ++i) points->push_back(ToVec3(random->Vector(1.5)));
      return HullAt(pose, *points);
    }
    default: {
      return ColliderDesc{
          .plane = {ToVec3(random->Direction()), static_cast<float>(random->Uniform(-1.0, 1.0))},
          .pose = pose};
    }
  }
}

double SignedDistance(const ColliderDesc& desc, const Eigen::Vector3d& p) {
  if (desc.type != ShapeType::kPlane) return DistanceFrom(desc, p);
  const Eigen::Vector3d n = RotationOf(desc.pose.rotation) * ToEigen(desc.plane.normal);
  return n.dot(p - ToEigen(desc.pose.position)) - double(desc.plane.offset);
}

TEST_CASE("Rays meet colliders where the distance changes its sign", "[long]") {
  int hits = 0, inside = 0;
  for (uint32_t seed = 1; seed <= 1500; ++seed) {
    Random random(seed);
    std::vector<Vec3> points;
    const ColliderDesc desc = RandomCollider(&random, &points);
    CAPTURE(seed, int(desc.type));
    World world;
    const ColliderId id = AddCollider(&world, desc);
    Ray ray = {ToVec3(random.Vector(5.0)), ToVec3(random.Direction() * random.Uniform(0.1, 9.0))};
    if (seed % 2 == 0) ray.direction = desc.pose.position - ray.origin;
    ray.max_distance = static_cast<float>(seed % 3 == 0 ? random.Uniform(0.0, 10.0) : 30.0);
    const Eigen::Vector3d o = ToEigen(ray.origin), d = ToEigen(ray.direction).normalized();
    const double end = ray.max_distance;
    // Where the sign changes, by bisection between samples.
    std::vector<double> wanted;
    bool grazes = false;
    constexpr int kSamples = 3000;
    double before = SignedDistance(desc, o), last = before;
    if (before < 0.0) ++inside;
    grazes = std::fabs(before) < 1e-3;
    for (int k = 1; k <= kSamples; ++k) {
      const double after = SignedDistance(desc, o + end * k / kSamples * d);
      if ((before < 0.0) != (after < 0.0)) {
        double low = end * (k - 1) / kSamples, high = end * k / kSamples;
        for (int round = 0; round < 50; ++round) {
          const double middle = 0.5 * (low + high);
          ((SignedDistance(desc, o + middle * d) < 0.0) == (before < 0.0) ? low : high) = middle;
        }
        wanted.push_back(low);
      }
      // A ray that hardly misses may be found to hit.
      grazes = grazes || (before >= 0.0 && before < 2e-2 && last > before && after > before);
      last = before;
      before = after;
    }
    grazes =
        grazes || std::fabs(before) < 1e-3 || (wanted.size() == 2 && wanted[1] - wanted[0] < 1e-2);
    if (grazes) continue;
    std::array<SurfacePoint, 4> found;
    uint32_t count = 0;
    REQUIRE(world.RaycastAll(ray, kOnlyColliders, found, &count).ok());
    REQUIRE(count == wanted.size());
    SurfacePoint first;
    REQUIRE(world.Raycast(ray, kOnlyColliders, &first).ok());
    CHECK(first.valid() == (count > 0));
    if (count > 0) CHECK(first.distance == found[0].distance);
    for (uint32_t i = 0; i < count; ++i) {
      ++hits;
      CHECK(found[i].valid());
      CHECK(found[i].collider == id);
      CHECK_FALSE(found[i].body.valid());
      CHECK(double(found[i].distance) == Approx(wanted[i]).margin(2e-5));
      const Eigen::Vector3d at = ToEigen(found[i].position), n = ToEigen(found[i].normal);
      CHECK((at - (o + wanted[i] * d)).norm() < 5e-5);
      CHECK(n.norm() == Approx(1.0));
      CHECK(found[i].front == (n.dot(d) < 0.0));
      // The normal is the gradient of the distance.
      CHECK(SignedDistance(desc, at + 1e-3 * n) > 0.9e-3);
      CHECK(SignedDistance(desc, at - 1e-3 * n) < -0.5e-3);
    }
    // Nothing without the flag.
    REQUIRE(world.RaycastAll(ray, {}, found, &count).ok());
    CHECK(count == 0);
  }
  CHECK(hits > 1000);
  CHECK(inside > 100);
}

TEST_CASE("The closest point of a collider is at its distance, on its surface") {
  int inside = 0;
  for (uint32_t seed = 1; seed <= 1000; ++seed) {
    Random random(seed);
    std::vector<Vec3> points;
    const ColliderDesc desc = RandomCollider(&random, &points);
    CAPTURE(seed, int(desc.type));
    World world;
    const ColliderId id = AddCollider(&world, desc);
    const Vec3 asked =
        ToVec3(ToEigen(desc.pose.position) + random.Vector(seed % 5 == 0 ? 2000.0 : 3.0));
    const double distance = SignedDistance(desc, ToEigen(asked));
    if (distance < 0.0) ++inside;
    SurfacePoint place;
    const float most = std::numeric_limits<float>::max();
    REQUIRE(world.ClosestPoint(asked, most, kOnlyColliders, &place).ok());
    REQUIRE(place.collider == id);
    const Eigen::Vector3d at = ToEigen(place.position), n = ToEigen(place.normal);
    const double rounding = 1e-6 * (std::fabs(distance) + 10.0);
    CHECK(std::fabs(SignedDistance(desc, at)) < rounding);
    CHECK((at - ToEigen(asked)).norm() == Approx(std::fabs(distance)).margin(rounding));
    CHECK(double(place.distance) == Approx(std::fabs(distance)).margin(rounding));
    CHECK(place.front == (distance >= 0.0));
    if (std::fabs(distance) > 0.01) {
      const Eigen::Vector3d way = (ToEigen(asked) - at).normalized() * (distance < 0.0 ? -1 : 1);
      CHECK((way - n).norm() < 1e-3);
    }
    // In and out of reach.
    const float near = static_cast<float>(std::fabs(distance)) * 0.999f - 1e-4f;
    const float far = static_cast<float>(std::fabs(distance)) * 1.001f + 1e-4f;
    uint32_t count = 0;
    std::array<SurfacePoint, 2> touching;
    REQUIRE(world.OverlapSphere(asked, far, kOnlyColliders, touching, &count).ok());
    CHECK(count == 1);
    CHECK(touching[0].position.x == place.position.x);
    if (near < 0.0f) continue;
    REQUIRE(world.ClosestPoint(asked, near, kOnlyColliders, &place).ok());
    CHECK_FALSE(place.valid());
    REQUIRE(world.OverlapSphere(asked, near, kOnlyColliders, touching, &count).ok());
    CHECK(count == 0);
  }
  CHECK(inside > 100);
}

using Triangles = std::vector<std::array<Eigen::Vector3d, 3>>;

// [Moeller and Trumbore 1997]: the distance along the unit direction `d`, or infinity.
double DistanceAlong(const Eigen::Vector3d& o, const Eigen::Vector3d& d,
                     const std::array<Eigen::Vector3d, 3>& t, double tolerance) {
  const Eigen::Vector3d ab = t[1] - t[0], ac = t[2] - t[0], p = d.cross(ac);
  const double det = ab.dot(p);
  const Eigen::Vector3d from = o - t[0], q = from.cross(ab);
  const double u = from.dot(p) / det, v = d.dot(q) / det, distance = ac.dot(q) / det;
  const bool hits = u >= -tolerance && v >= -tolerance && u + v <= 1.0 + tolerance;
  return hits && distance >= 0.0 ? distance : std::numeric_limits<double>::infinity();
}

double DistanceTo(const Eigen::Vector3d& p, const std::array<Eigen::Vector3d, 3>& t) {
  double least = std::numeric_limits<double>::infinity();
  const Eigen::Vector3d n = (t[1] - t[0]).cross(t[2] - t[0]).normalized();
  bool is_above = true;
  for (size_t k = 0; k < 3; ++k) {
    const Eigen::Vector3d a = t[k], along = t[(k + 1) % 3] - a;
    is_above = is_above && n.cross(along).dot(p - a) >= 0.0;
    const double at = std::clamp((p - a).dot(along) / along.squaredNorm(), 0.0, 1.0);
    least = std::min(least, (p - a - at * along).norm());
  }
  return is_above ? std::fabs(n.dot(p - t[0])) : least;
}

TEST_CASE("Rays and closest points of meshes and height fields are those of their triangles") {
  int hits = 0, misses = 0, from_behind = 0;
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    Random random(seed);
    const bool is_field = seed % 2 == 0;
    const auto scale = static_cast<float>(is_field ? 1.0 : std::exp(random.Uniform(-2.0, 2.0)));
    CAPTURE(seed, scale);
    const StaticSubject torus(plush::tests::MakeTorus(1.0, 0.3, 14, 9));
    const uint32_t columns = 2 + random.Below(12), rows = 2 + random.Below(12);
    std::vector<float> heights;
    for (uint32_t i = 0; i < columns * rows; ++i) {
      heights.push_back(static_cast<float>(random.Uniform(-0.3, 0.3)));
    }
    ColliderDesc desc = {.type = is_field ? ShapeType::kHeightField : ShapeType::kMesh,
                         .height_field = {heights, columns, rows, 0.25f},
                         .mesh = {&torus.asset(), scale},
                         .pose = {ToVec3(random.Vector(3.0)), ToQuat(random.Rotation())}};
    const Eigen::Matrix3d turn = RotationOf(desc.pose.rotation);
    Triangles triangles;
    const auto add = [&](const Vec3& a, const Vec3& b, const Vec3& c) {
      const auto place = [&](const Vec3& p) {
        return Eigen::Vector3d(turn * (double(scale) * ToEigen(p)) + ToEigen(desc.pose.position));
      };
      triangles.push_back({place(a), place(b), place(c)});
    };
    for (const StaticTriangle& t : torus.mesh().triangles) {
      if (is_field) break;
      const auto at = [&](int k) { return torus.mesh().positions[t.vertices[k]]; };
      add(at(0), at(1), at(2));
    }
    for (uint32_t row = 0; is_field && row + 1 < rows; ++row) {
      for (uint32_t column = 0; column + 1 < columns; ++column) {
        const auto at = [&](uint32_t right, uint32_t down) {
          return Vec3{0.25f * static_cast<float>(column + right),
                      heights[size_t{row + down} * columns + column + right],
                      0.25f * static_cast<float>(row + down)};
        };
        add(at(0, 0), at(0, 1), at(1, 1));
        add(at(0, 0), at(1, 1), at(1, 0));
      }
    }
    World world;
    const ColliderId id = AddCollider(&world, desc);
    for (int k = 0; k < 10; ++k) {
      CAPTURE(k);
      const auto& aim = triangles[random.Below(static_cast<uint32_t>(triangles.size()))];
      const Eigen::Vector3d o = aim[0] + random.Vector(2.5 * double(scale));
      Eigen::Vector3d d = random.Direction();
      if (k % 2 == 0) d = (aim[0] + aim[1] + aim[2]) / 3.0 - o;
      Ray ray = {ToVec3(o), ToVec3(d)};
      if (k % 3 == 0) ray.max_distance = 4.0f * scale;
      const Eigen::Vector3d from = ToEigen(ray.origin), along = ToEigen(ray.direction).normalized();
      double wanted = std::numeric_limits<double>::infinity(), sure = wanted;
      for (const auto& t : triangles) {
        wanted = std::min(wanted, DistanceAlong(from, along, t, 1e-5));
        sure = std::min(sure, DistanceAlong(from, along, t, -1e-5));
      }
      const double margin = 2e-5 * (1.0 + double(scale)), end = ray.max_distance;
      SurfacePoint place;
      REQUIRE(world.Raycast(ray, kOnlyColliders, &place).ok());
      if (wanted == sure && std::fabs(wanted - end) > margin) {
        REQUIRE(place.valid() == (wanted < end));
        if (place.valid()) {
          ++hits;
          CHECK(place.collider == id);
          CHECK(double(place.distance) == Approx(wanted).margin(margin));
          CHECK((ToEigen(place.position) - (from + wanted * along)).norm() < 2.0 * margin);
          const auto& t = triangles[place.triangle];
          const Eigen::Vector3d n = (t[1] - t[0]).cross(t[2] - t[0]).normalized();
          CHECK(DistanceTo(ToEigen(place.position), t) < 2.0 * margin);
          CHECK((ToEigen(place.normal) - n).norm() < 1e-4);
          CHECK(place.front == (n.dot(along) < 0.0));
          from_behind += place.front ? 0 : 1;
        } else {
          ++misses;
        }
      }
      double least = std::numeric_limits<double>::infinity();
      for (const auto& t : triangles) least = std::min(least, DistanceTo(from, t));
      const float most = k % 3 == 0 ? static_cast<float>(least * random.Uniform(0.5, 1.5)) : 1e6f;
      REQUIRE(world.ClosestPoint(ray.origin, most, kOnlyColliders, &place).ok());
      if (std::fabs(double(most) - least) < margin) continue;
      REQUIRE(place.valid() == (least < double(most)));
      if (!place.valid()) continue;
      CHECK(double(place.distance) == Approx(least).margin(margin));
      CHECK((ToEigen(place.position) - from).norm() == Approx(least).margin(2.0 * margin));
      CHECK(DistanceTo(ToEigen(place.position), triangles[place.triangle]) < 2.0 * margin);
    }
  }
  CHECK(hits > 1500);
  CHECK(misses > 300);
  CHECK(from_behind > 300);
}

TEST_CASE("A ray finds a height field whose steps are ten thousand million cells high") {
  std::vector<float> heights(9, 1.0e6f);
  heights[0] = 0.0f;
  ColliderDesc desc = {.type = ShapeType::kHeightField, .height_field = {heights, 3, 3, 1.0e-4f}};
  World world;
  AddCollider(&world, desc);
  SurfacePoint place;
  const Ray down = {{1.6e-4f, 2.0e6f, 1.5e-4f}, {0.0f, -1.0f, 0.0f}};
  REQUIRE(world.Raycast(down, kOnlyColliders, &place).ok());
  CHECK(place.distance == Approx(1.0e6f));
  const Ray across = {{-1.0e6f, 5.0e5f, 1.0e-5f}, {1.0f, 0.0f, 0.0f}};
  REQUIRE(world.Raycast(across, kOnlyColliders, &place).ok());
  CHECK(place.distance == Approx(1.0e6f));
}

TEST_CASE("Queries choose bodies, colliders or both, by category, and order them by distance") {
  SolidScene scene(true, {.pose = {{1.0f, 0.0f, 0.0f}}});  // x from 1 to 1.2
  ColliderDesc near = BoxAt({{0.5f, 0.1f, 0.1f}}, {0.1f, 1.0f, 1.0f});
  near.filter.category = 2;
  const ColliderId front = AddCollider(&scene.world, near);
  const ColliderId back = AddCollider(&scene.world, SphereAt({2.0f, 0.11f, 0.12f}, 0.3f));
  const Ray ray = {{0.0f, 0.11f, 0.12f}, {1.0f, 0.0f, 0.0f}};
  const uint32_t both = kQueryBodies | kQueryColliders;
  std::array<SurfacePoint, 8> found;
  const auto count_of = [&](const QueryFilter& filter) {
    uint32_t count = 0;
    found = {};
    REQUIRE(scene.world.RaycastAll(ray, filter, found, &count).ok());
    return count;
  };
  CHECK(count_of({}) == 2);
  CHECK(found[0].body == scene.body);
  CHECK(count_of({.targets = 0}) == 0);
  CHECK(count_of({.targets = both}) == 6);
  const ColliderId wanted[6] = {front, front, {}, {}, back, back};
  for (size_t i = 0; i < 6; ++i) {
    CHECK(found[i].collider == wanted[i]);
    CHECK(found[i].body.valid() == !wanted[i].valid());
    CHECK((i == 0 || found[i - 1].distance < found[i].distance));
  }
  CHECK(count_of({.mask = 2, .targets = both}) == 2);
  CHECK(found[0].collider == front);
  CHECK(count_of({.targets = both, .ignore_collider = front}) == 4);
  CHECK(count_of({.ignore = scene.body, .targets = both}) == 4);
  SurfacePoint place;
  REQUIRE(scene.world.Raycast(ray, {.targets = both}, &place).ok());
  CHECK(place.collider == front);
  REQUIRE(scene.world.Raycast(ray, {.targets = both, .ignore_collider = front}, &place).ok());
  CHECK(place.body == scene.body);
  REQUIRE(scene.world.ClosestPoint({1.3f, 0.1f, 0.1f}, 1.0f, {.targets = both}, &place).ok());
  CHECK(place.body == scene.body);
  REQUIRE(scene.world.ClosestPoint({1.6f, 0.1f, 0.1f}, 1.0f, {.targets = both}, &place).ok());
  CHECK(place.collider == back);
  // A collider takes no impulse.
  const Status pushed = scene.world.AddImpulse(place, {1.0f, 0.0f, 0.0f});
  CHECK(pushed.code == StatusCode::kInvalidArgument);
  CHECK(std::string(pushed.section) == "at");
  // A query of one body sees no collider.
  uint32_t count = 0;
  REQUIRE(scene.world.RaycastAll(scene.body, ray, found, &count).ok());
  CHECK(count == 2);
  // Moved and removed ones.
  REQUIRE(scene.world.SetColliderPose(back, {{3.0f, 0.11f, 0.12f}}).ok());
  REQUIRE(scene.world.RemoveCollider(front).ok());
  CHECK(count_of(kOnlyColliders) == 2);
  CHECK(double(found[0].distance) == Approx(2.7).margin(1e-5));
}

}  // namespace collider_query_test
