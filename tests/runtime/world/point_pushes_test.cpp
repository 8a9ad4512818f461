// SPDX-License-Identifier: MIT
// Impulses at points of a body's surface, and changes of their velocity and place.
#include "plush/collision.h"
#include "plush/format/cdg_records.h"

#include "base/vector_math.h"
#include "runtime/crowds/crowd_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace point_pushes_test {

constexpr float kDt = 0.01f;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

// A point on the body's surface.
SurfacePoint PointOn(const World& world, BodyId id, uint32_t seed) {
  Random random(seed);
  SurfacePoint point;
  REQUIRE(world.ClosestPoint(id, ToVec3(random.Vector(9.0)), 1.0e6f, &point).ok());
  REQUIRE(point.valid());
  return point;
}

TEST_CASE("An impulse at a point changes momentum and angular momentum as it should") {
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u);
  const float scale = seed > 2 ? 2.5f : 1.0f;
  CAPTURE(seed, scale);
  const ShapeAsset shape(TetBox(3, 2, 2, 0.1, 0.09, seed), {}, double(kDt));
  World world({.gravity = {}});
  Random random(seed);
  const BodyId id =
      AddBody(&world, shape.asset(),
              {.pose = {ToVec3(random.Vector(2.0)), ToQuat(random.Rotation())}, .scale = scale});
  for (int i = 0; i < 20; ++i) {
    const SurfacePoint at = PointOn(world, id, seed + 10u * static_cast<uint32_t>(i));
    const BodyMoments before = MomentsOf(world, id);
    const Eigen::Vector3d impulse = before.mass * random.Vector(1.0);
    REQUIRE(world.AddImpulse(at, ToVec3(impulse)).ok());
    const BodyMoments after = MomentsOf(world, id);
    const Eigen::Vector3d arm =
        ToEigen(at.position) -
        Eigen::Vector3d(before.centre[0], before.centre[1], before.centre[2]);
    const Eigen::Vector3d twist = arm.cross(impulse);
    for (int k = 0; k < 3; ++k) {
      CHECK(after.linear_momentum[k] - before.linear_momentum[k] ==
            Approx(impulse[k]).margin(1e-4 * before.mass));
      CHECK(after.angular_momentum[k] - before.angular_momentum[k] ==
            Approx(twist[k]).margin(1e-4 * before.mass * double(scale)));
    }
  }
}

// An impulse P at the point changes momentum by P and angular momentum by arm x P.
TEST_CASE("The velocity and the place of a point change as asked, by mass") {
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u);
  const bool is_moved = GENERATE(false, true);
  const float scale = seed > 2 ? 2.5f : 1.0f;
  CAPTURE(seed, is_moved, scale);
  const ShapeAsset shape(TetBox(3, 2, 2, 0.1, 0.09, seed), {}, double(kDt));
  const uint32_t num_nodes = shape.num_nodes();
  World world({.gravity = {}});
  Random random(seed);
  BodyDesc desc = {.pose = {ToVec3(random.Vector(2.0)), ToQuat(random.Rotation())}, .scale = scale};
  const BodyId id = AddBody(&world, shape.asset(), desc);
  const std::span<const float> masses = shape.asset().simulation().masses;
  const auto states = [&] {
    if (is_moved) return ToEigen(PositionsOf(world, id, num_nodes));
    std::vector<Vec3> velocities(num_nodes);
    REQUIRE(world.NodeVelocities(id, velocities).ok());
    return ToEigen(velocities);
  };
  for (int i = 0; i < 20; ++i) {
    const SurfacePoint at = PointOn(world, id, seed + 10u * static_cast<uint32_t>(i));
    const Eigen::Vector3d change = 0.05 * random.Vector(1.0);
    const auto before = states();
    REQUIRE((is_moved ? world.AddDisplacement(at, ToVec3(change))
                      : world.AddVelocity(at, ToVec3(change)))
                .ok());
    const Points by = states() - before;
    Eigen::Vector3d of_point = Eigen::Vector3d::Zero();
    const float weights[4] = {at.weights.x, at.weights.y, at.weights.z, at.weights.w};
    double share = -1.0;  // mass times way over weight: the impulse
    for (int k = 0; k < 4; ++k) {
      of_point += double(weights[k]) * by.col(at.nodes[k]);
      const double impulse = double(masses[at.nodes[k]]) * by.col(at.nodes[k]).norm();
      if (weights[k] < 0.05f) continue;
      if (share < 0.0) share = impulse / double(weights[k]);
      CHECK(impulse == Approx(share * double(weights[k])).epsilon(1e-3));
    }
    CHECK((of_point - change).norm() < 1e-6 + 1e-5 * change.norm());
    for (uint32_t node = 0; node < num_nodes; ++node) {
      if (std::count(at.nodes, at.nodes + 4, node) == 0) CHECK(by.col(node).norm() == 0.0);
    }
  }
}

TEST_CASE("Pins keep their nodes where a point is moved, and hold a point that they carry") {
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1, 0.05, 3), {}, double(kDt));
  World world({.gravity = {}});
  const BodyId free = AddBody(&world, shape.asset());
  const SurfacePoint at = PointOn(world, free, 1);
  for (const uint32_t num_pinned : {1u, 4u}) {
    const BodyId id = AddBody(&world, shape.asset(), {.pinned_nodes = {at.nodes, num_pinned}});
    SurfacePoint point = at;
    point.body = id;
    const float weights[4] = {at.weights.x, at.weights.y, at.weights.z, at.weights.w};
    const bool is_carried = num_pinned == 4 || weights[0] > 0.75f;
    const std::vector<Vec3> before = PositionsOf(world, id, shape.num_nodes());
    CHECK(world.AddVelocity(point, {1, 0, 0}).ok() == !is_carried);
    CHECK(world.AddDisplacement(point, {0.01f, 0, 0}).ok() == !is_carried);
    const std::vector<Vec3> after = PositionsOf(world, id, shape.num_nodes());
    float moved = 0.0f;
    for (int k = 0; k < 4; ++k) {
      moved += weights[k] * (after[at.nodes[k]].x - before[at.nodes[k]].x);
    }
    CHECK(moved == Approx(is_carried ? 0.0f : 0.01f).margin(1e-6));
    CHECK(after[at.nodes[0]].x == before[at.nodes[0]].x);
  }
}

TEST_CASE("Impulses at places that the surface does not have are refused") {
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1, 0.05, 3), {}, double(kDt));
  World world, other({.tag = 3});
  const BodyId id = AddBody(&world, shape.asset());
  const BodyId fixed = AddBody(&world, shape.asset(), {.pose = {{5, 5, 5}, {}}, .fixed = true});
  const SurfacePoint good = PointOn(world, id, 1);
  const uint64_t hash = world.StateHash();
  const Vec3 push = {1, 0, 0};
  const auto refused = [&](const SurfacePoint& at, const Vec3& impulse) {
    const StatusCode code = world.AddImpulse(at, impulse).code;
    const bool is_finite = std::isfinite(impulse.x) && std::isfinite(impulse.z);
    if (is_finite && std::fabs(impulse.x) > 1.0e30f) return code == StatusCode::kInvalidArgument;
    CHECK(world.AddVelocity(at, impulse).code == code);
    CHECK(world.AddDisplacement(at, impulse).code == code);
    return code == StatusCode::kInvalidArgument;
  };
  CHECK(refused({}, push));
  SurfacePoint bad = good;
  bad.triangle = kNoTriangle;
  CHECK(refused(bad, push));
  for (const uint32_t wrong : {UINT32_MAX - 1, uint32_t{1} << 20, 100000u}) {
    for (uint32_t SurfacePoint::*field :
         {&SurfacePoint::triangle, &SurfacePoint::patch, &SurfacePoint::tet}) {
      bad = good;
      bad.*field = wrong;
      CHECK(refused(bad, push));
    }
    for (uint32_t& node : (bad = good, bad.nodes)) {
      const uint32_t was = node;
      node = wrong;
      CHECK(refused(bad, push));
      node = was;
    }
  }
  bad = good;
  bad.nodes[0] = good.nodes[1];
  CHECK(refused(bad, push));
  for (const float wrong : {kNan, kInf, -kInf, 2.0f, -1.0f, 1.0e30f}) {
    for (float Vec4::*field : {&Vec4::x, &Vec4::y, &Vec4::z, &Vec4::w}) {
      bad = good;
      bad.weights.*field = wrong;
      CHECK(refused(bad, push));
    }
    if (std::isfinite(wrong)) continue;
    CHECK(refused(good, {wrong, 0, 0}));
    CHECK(refused(good, {0, 0, wrong}));
  }
  bad = good;
  bad.weights = {0.1f, 0.1f, 0.1f, 0.1f};
  CHECK(refused(bad, push));
  CHECK(refused(good, {3.0e38f, 0, 0}));  // its velocities are beyond float's range
  CHECK(refused(PointOn(world, fixed, 1), push));
  bad = good;
  bad.body = {};
  CHECK(world.AddImpulse(bad, push).code == StatusCode::kNullId);
  CHECK(other.AddImpulse(good, push).code == StatusCode::kForeignId);
  CHECK(world.StateHash() == hash);
  REQUIRE(world.AddImpulse(good, push).ok());
  CHECK(world.StateHash() != hash);
  REQUIRE(world.RemoveBody(id).ok());
  CHECK(world.AddImpulse(good, push).code == StatusCode::kStaleId);
}

}  // namespace point_pushes_test
