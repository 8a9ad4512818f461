// SPDX-License-Identifier: MIT
// WorldMeasures::max_penetration is the depth of the deepest vertex of all, below colliders as they
// are now.
#include "mesh/tet_mesh.h"
#include "runtime/colliders/solid_scene.h"
#include "runtime/collision/static_meshes.h"
#include "runtime/contact/plane_fixtures.h"
#include "touching/contact_problem.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace deepest_point_test {

// Depth of a body's deepest point, in doubles. `gap_of(place)`: signed distance from the collider.
// Leaves out points of which free nodes carry less than `least`, and those deeper than `most` [m].
template <class GapOf>
double DepthOfPoints(const World& world, BodyId id, const ShapeAsset& shape,
                     const std::vector<uint32_t>& pins, double least, double most,
                     const GapOf& gap_of) {
  std::vector<uint8_t> pinned(shape.num_nodes(), 0);
  for (const uint32_t node : pins) pinned[node] = 1;
  const std::vector<Vec3> nodes = PositionsOf(world, id, shape.num_nodes());
  const CollisionView& collision = shape.asset().collision();
  const TouchingSurface surface = {&collision, pinned};
  double deepest = 0.0;
  for (uint32_t i = 0; i < surface.num_points(); ++i) {
    const EmbeddedPoint point = surface.Point(i);
    Eigen::Vector3d at = Eigen::Vector3d::Zero();
    double free = 0.0;
    for (int k = 0; k < 4; ++k) {
      at += double(point.weights[k]) * ToEigen(nodes[point.nodes[k]]);
      free += double(point.Free(k));
    }
    if (free < least) continue;
    const double gap = gap_of(at);
    if (-gap <= most) deepest = std::max(deepest, -gap);
  }
  return deepest;
}

// The same below a collider of this `type`.
double LookForDepth(const World& world, BodyId id, ColliderId collider, const ColliderDesc& type,
                    const ShapeAsset& shape, const std::vector<uint32_t>& pins, double least,
                    double most) {
  ColliderDesc now, desc = type;
  REQUIRE(world.GetCollider(collider, &now).ok());
  desc.pose = now.pose;
  const bool is_solid = desc.type != ShapeType::kPlane;
  const Eigen::Vector3d normal = RotationOf(desc.pose.rotation) * ToEigen(desc.plane.normal);
  const double offset = double(desc.plane.offset) + normal.dot(ToEigen(desc.pose.position));
  return DepthOfPoints(world, id, shape, pins, least, most, [&](const Eigen::Vector3d& at) {
    return is_solid ? DistanceFrom(desc, at) : normal.dot(at) - offset;
  });
}

// Distance of a point from a height field, below 0 under it, by all its triangles. Of one above all
// of them, its height.
double DistanceFromGround(const ColliderDesc& desc, const Eigen::Vector3d& at) {
  const HeightFieldShape& field = desc.height_field;
  const Eigen::Vector3d local =
      RotationOf(desc.pose.rotation).transpose() * (at - ToEigen(desc.pose.position));
  const Vec3d point = {local.x(), local.y(), local.z()};
  if (local.y() > double(std::ranges::max(field.heights))) return local.y();
  const auto corner = [&](uint32_t column, uint32_t row) {
    const double spacing = double(field.spacing);
    return Vec3d{column * spacing, double(field.heights[size_t{row} * field.columns + column]),
                 row * spacing};
  };
  double nearest = 1e30, sign = 1.0;
  for (uint32_t row = 0; row + 1 < field.rows; ++row) {
    for (uint32_t column = 0; column + 1 < field.columns; ++column) {
      const Vec3d a = corner(column, row), c = corner(column + 1, row + 1);
      for (const Vec3d& b : {corner(column + 1, row), corner(column, row + 1)}) {
        const Vec3d way = point - plush::tools::ClosestPointOnTriangle(point, a, b, c);
        nearest = std::min(nearest, std::sqrt(Dot(way, way)));
        // The triangle that the point is above or below.
        const double u = (b.x - a.x) * (c.z - a.z) - (b.z - a.z) * (c.x - a.x);
        const double v = ((point.x - a.x) * (c.z - a.z) - (point.z - a.z) * (c.x - a.x)) / u;
        const double w = ((b.x - a.x) * (point.z - a.z) - (b.z - a.z) * (point.x - a.x)) / u;
        if (v < 0.0 || w < 0.0 || v + w > 1.0) continue;
        sign = point.y < a.y + v * (b.y - a.y) + w * (c.y - a.y) ? -1.0 : 1.0;
      }
    }
  }
  return sign * nearest;
}

Pose RandomPose(Random* random) {
  return {ToVec3(random->Vector(0.2)), ToQuat(random->Rotation())};
}

TEST_CASE("Measure finds the deepest point below the colliders where they are now", "[long]") {
  const uint32_t seed = GENERATE(range(1u, 13u));
  const bool has_surface = GENERATE(true, false);
  CAPTURE(seed, has_surface);
  Random random(seed);
  const tools::TetMesh mesh = TetBox(3, 2, 2, 0.1, 0.03, seed);
  const ShapeAsset shape =
      has_surface ? ShapeAsset(SurfaceBytes(mesh, {.parts = 4, .seed = seed})) : ShapeAsset(mesh);
  World world;
  BodyDesc body = {.pose = RandomPose(&random),
                   .scale = static_cast<float>(random.Uniform(0.5, 2.0))};
  const std::vector<uint32_t> pins = random.Nodes(shape.num_nodes(), 0.2);
  body.pinned_nodes = pins;
  const BodyId id = AddBody(&world, shape.asset(), body);
  std::vector<ColliderId> colliders(3);
  std::vector<ColliderDesc> types(3);
  std::vector<Vec3> stone;
  for (int i = 0; i < 20; ++i) stone.push_back(ToVec3(random.Vector(0.2)));
  const double edge = double(body.scale) * double(shape.simulation().median_edge);
  const Vec3d half = {0.3, seed < 6 ? 0.2 : 0.4 * edge, 0.3};
  const StaticSubject plate(plush::tests::MakeGridBox(half * -1.0, half, 3));
  for (size_t i = 0; i < 3; ++i) {
    ColliderDesc plane = {.pose = RandomPose(&random)};
    plane.plane.offset = static_cast<float>(random.Uniform(-0.3, 0.1));
    if (i == 1 && seed % 6 == 1) plane.type = ShapeType::kSphere;
    if (i == 1 && seed % 6 == 2) plane.type = ShapeType::kCapsule;
    if (i == 1 && seed % 6 == 3) plane.type = ShapeType::kBox;
    if (i == 1 && seed % 6 == 4) plane.type = ShapeType::kHull, plane.hull = {stone};
    if (i == 1 && seed % 6 == 5) {
      plane.type = ShapeType::kMesh;
      plane.mesh = {&plate.asset()};
    }
    plane.sphere.radius = plane.capsule.radius = 0.2f;
    plane.box.half_extents = {0.1f, 0.2f, 0.3f};
    plane.velocity = ToVec3(random.Vector(0.5));
    if (i == 2) plane.filter.mask = 0;  // touches nothing
    REQUIRE(world.AddCollider(plane, &colliders[i]).ok());
    types[i] = plane;
    if (plane.type != ShapeType::kMesh) continue;
    types[i].type = ShapeType::kBox;
    types[i].box.half_extents = {float(half.x), float(half.y), float(half.z)};
  }
  const auto check = [&] {
    constexpr double kRounding = 1e-5;  // may decide what counts
    double least = 0.0, most = 0.0;
    for (size_t i = 0; i < 2; ++i) {
      const bool is_mesh = i == 1 && seed % 6 == 5;
      const auto look = [&](double share, double times) {
        return LookForDepth(world, id, colliders[i], types[i], shape, pins, share,
                            is_mesh ? times * edge : 1e30);
      };
      least = std::max(least, look(double(kLeastMovable) + kRounding, 1.0 - kRounding));
      most = std::max(most, look(double(kLeastMovable) - kRounding, 1.0 + kRounding));
    }
    const double depth = double(MeasuresOf(world).max_penetration);
    CHECK(depth > least - 1e-6);
    CHECK(depth < most + 1e-6);
    return depth;
  };
  check();  // before the first step
  for (int step = 0; step < 10; ++step) {
    StepWorld(&world, kDt);
    check();
  }
  double sum = 0.0;
  for (int move = 0; move < 10; ++move) {
    REQUIRE(world.SetColliderPose(colliders[move % 2], RandomPose(&random)).ok());
    REQUIRE(world.Teleport(id, RandomPose(&random)).ok());
    sum += check();
  }
  CHECK(sum > 0.1);
  // What the plane hides: the other collider alone.
  REQUIRE(world.SetColliderPose(colliders[0], {.position = {0.0f, -100.0f, 0.0f}}).ok());
  double alone = 0.0;
  for (int move = 0; move < 10; ++move) {
    REQUIRE(world.SetColliderPose(colliders[1], RandomPose(&random)).ok());
    REQUIRE(world.Teleport(id, RandomPose(&random)).ok());
    alone += check();
  }
  CHECK(alone > 0.05);
  REQUIRE(world.SetEnabled(id, false).ok());
  CHECK(MeasuresOf(world).max_penetration == 0.0f);
  REQUIRE(world.SetEnabled(id, true).ok());
  REQUIRE(world.SetColliderPose(colliders[0], {.position = {0.0f, 100.0f, 0.0f}}).ok());
  CHECK(MeasuresOf(world).max_penetration > 90.0f);
}

TEST_CASE("Measure finds the deepest point under a height field as a look at all triangles does") {
  const uint32_t seed = GENERATE(range(1u, 9u));
  const bool has_surface = GENERATE(true, false);
  CAPTURE(seed, has_surface);
  Random random(seed);
  const tools::TetMesh mesh = TetBox(3, 2, 2, 0.1, 0.03, seed);
  const ShapeAsset shape =
      has_surface ? ShapeAsset(SurfaceBytes(mesh, {.parts = 2, .seed = seed})) : ShapeAsset(mesh);
  World world;
  BodyDesc body = {.scale = static_cast<float>(random.Uniform(0.5, 1.2))};
  const std::vector<uint32_t> pins = random.Nodes(shape.num_nodes(), 0.1);
  body.pinned_nodes = pins;
  const BodyId id = AddBody(&world, shape.asset(), body);
  constexpr uint32_t kColumns = 13, kRows = 11;
  std::vector<float> heights;
  for (uint32_t i = 0; i < kColumns * kRows; ++i) {
    heights.push_back(static_cast<float>(random.Uniform(-0.05, 0.05)));
  }
  ColliderDesc ground = {.type = ShapeType::kHeightField,
                         .height_field = {heights, kColumns, kRows, 0.1f},
                         .pose = RandomPose(&random)};
  AddCollider(&world, ground);
  const Eigen::Matrix3d R = RotationOf(ground.pose.rotation);
  const double edge = double(body.scale) * double(shape.simulation().median_edge);
  constexpr double kRounding = 1e-5;
  int compared = 0;
  for (int move = 0; move < 10; ++move) {
    const Eigen::Matrix3d turn = random.Rotation();
    const Eigen::Vector3d middle = turn * Eigen::Vector3d(0.15, 0.1, 0.1) * double(body.scale);
    const Eigen::Vector3d above(0.6, random.Uniform(0.05, 0.25) * double(body.scale), 0.5);
    const Vec3 position = ToVec3(ToEigen(ground.pose.position) + R * above - middle);
    REQUIRE(world.Teleport(id, {position, ToQuat(turn)}).ok());
    const auto look = [&](double share) {
      return DepthOfPoints(world, id, shape, pins, share, 1e30, [&](const Eigen::Vector3d& at) {
        return DistanceFromGround(ground, at);
      });
    };
    const double least = look(double(kLeastMovable) + kRounding);
    const double most = look(double(kLeastMovable) - kRounding);
    if (most > 0.95 * edge) continue;  // what is deeper need not count
    const double depth = double(MeasuresOf(world).max_penetration);
    CAPTURE(move, least, most, edge);
    CHECK(depth > least - 1e-6);
    CHECK(depth < most + 1e-6);
    compared += depth > 0.05 * edge ? 1 : 0;
  }
  CHECK(compared >= 1);
}

TEST_CASE("Fixed bodies touch nothing, sleeping ones lie as deep as they did") {
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1));
  World world({.sleep = {.time = 0.1f}});
  AddPlane(&world, {});
  AddBody(&world, shape.asset(), {.pose = {.position = {.y = -0.1f}}, .fixed = true});
  CHECK(MeasuresOf(world).max_penetration == 0.0f);
  const BodyId id = AddBody(&world, shape.asset());
  float depth = 0.0f;
  for (int step = 0; step < 300 && !world.IsAsleep(id); ++step) {
    StepWorld(&world, kDt);
    depth = MeasuresOf(world).max_penetration;
  }
  REQUIRE(world.IsAsleep(id));
  for (int step = 0; step < 3; ++step) StepWorld(&world, kDt);
  CHECK(MeasuresOf(world).max_penetration == depth);
}

}  // namespace deepest_point_test
