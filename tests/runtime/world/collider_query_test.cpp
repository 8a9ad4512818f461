// SPDX-License-Identifier: MIT
// Queries on colliders against analytic and brute-force answers.
#include "runtime/world/solid_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace {

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
      ColliderDesc desc;
      desc.plane = {ToVec3(random->Direction()), static_cast<float>(random->Uniform(-1.0, 1.0))};
      desc.pose = pose;
      return desc;
    }
  }
}

double SignedDistance(const ColliderDesc& desc, const Eigen::Vector3d& p) {
  if (desc.type != ShapeType::kPlane) return DistanceFrom(desc, p);
  const Eigen::Vector3d n = RotationOf(desc.pose.rotation) * ToEigen(desc.plane.normal);
  return n.dot(p - ToEigen(desc.pose.position)) - double(desc.plane.offset);
}

}  // namespace

TEST_CASE("Rays meet colliders where the distance changes its sign") {
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
