// SPDX-License-Identifier: MIT
#include "runtime/colliders/solid_scene.h"

#include "collision/surface_records.h"
#include "runtime/colliders/hull_distance.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

namespace plush::test {

BodyDesc BodyAt(const Vec3& position, const Vec3& velocity) {
  return BodyDesc{.pose = {.position = position}, .velocity = velocity};
}

Pose TurnedPose(const Vec3& position, double angle, const Eigen::Vector3d& axis) {
  return {position, TurnOf(angle, axis)};
}

ColliderDesc SphereAt(const Vec3& position, float radius) {
  return ColliderDesc{
      .type = ShapeType::kSphere, .sphere = {.radius = radius}, .pose = {.position = position}};
}

ColliderDesc CapsuleAt(const Pose& pose, float half_height, float radius) {
  return ColliderDesc{.type = ShapeType::kCapsule, .capsule = {half_height, radius}, .pose = pose};
}

ColliderDesc BoxAt(const Pose& pose, const Vec3& half_extents) {
  return ColliderDesc{.type = ShapeType::kBox, .box = {.half_extents = half_extents}, .pose = pose};
}

ColliderDesc HullAt(const Pose& pose, std::span<const Vec3> points) {
  return ColliderDesc{.type = ShapeType::kHull, .hull = points, .pose = pose};
}

std::vector<Vec3> BoxCorners(const Vec3& half) {
  std::vector<Vec3> corners;
  for (const float x : {-half.x, half.x}) {
    for (const float y : {-half.y, half.y}) {
      for (const float z : {-half.z, half.z}) corners.push_back({x, y, z});
    }
  }
  return corners;
}

namespace {

// The hull of the last description that was asked about.
const Hull& HullOf(const ColliderDesc& desc) {
  static std::vector<Vec3> points;
  static HullPointer hull;
  const auto is_same = [](const Vec3& a, const Vec3& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
  };
  if (hull == nullptr || !std::ranges::equal(points, desc.hull.points, is_same)) {
    points.assign(desc.hull.points.begin(), desc.hull.points.end());
    Hull* made = nullptr;
    REQUIRE(MakeHull(DefaultAllocator(), points, &made).ok());
    hull.reset(made);
  }
  return *hull;
}

}  // namespace

double DistanceFrom(const ColliderDesc& desc, const Eigen::Vector3d& point) {
  const Eigen::Vector3d p =
      RotationOf(desc.pose.rotation).transpose() * (point - ToEigen(desc.pose.position));
  if (desc.type == ShapeType::kHull) {
    const Hull& hull = HullOf(desc);
    return DistanceFrom(hull, p - Eigen::Vector3d(hull.centre[0], hull.centre[1], hull.centre[2]));
  }
  Eigen::Vector3d half = Eigen::Vector3d::Zero();
  double radius = 0.0;
  if (desc.type == ShapeType::kBox) half = ToEigen(desc.box.half_extents);
  if (desc.type == ShapeType::kSphere) radius = desc.sphere.radius;
  if (desc.type == ShapeType::kCapsule) {
    half.y() = desc.capsule.half_height;
    radius = desc.capsule.radius;
  }
  const Eigen::Vector3d nearest = p.cwiseMax(-half).cwiseMin(half);
  const double outside = (p - nearest).norm();
  return (outside > 0.0 ? outside : -(half - p.cwiseAbs()).minCoeff()) - radius;
}

namespace {

ShapeAsset CubeOf(bool has_surface) {
  const tools::TetMesh mesh = TetBox(2, 2, 2, 0.1);
  const tools::Material material = {2.0e5, 0.4, 1000.0, 0.05};
  if (!has_surface) return ShapeAsset(mesh, material);
  return ShapeAsset(SurfaceBytes(mesh, {.parts = 3, .depth = 0.0, .num_shells = 0}));
}

}  // namespace

SolidScene::SolidScene(bool has_surface, const BodyDesc& desc, const WorldDesc& world_desc)
    : shape(CubeOf(has_surface)), world(world_desc) {
  BodyDesc own = desc;
  if (own.material.young < 0.0f) own.material = {2.0e5f, 0.4f, 1000.0f, 0.05f};
  body = AddBody(&world, shape.asset(), own);
}

void SolidScene::Step(int steps) {
  for (int step = 0; step < steps; ++step) flags |= StepWorld(&world, kDt);
}

bool SolidScene::TouchesIn(int steps) {
  bool touches = false;
  for (int step = 0; step < steps; ++step) {
    Step(1);
    touches = touches || world.stats().contacts > 0;
  }
  return touches;
}

std::vector<Eigen::Vector3d> SolidScene::Points() const {
  const std::vector<Vec3> nodes = PositionsOf(world, body, shape.num_nodes());
  const CollisionView& surface = shape.asset().collision();
  std::vector<Eigen::Vector3d> points;
  for (uint32_t t = 0; t < surface.tets.size(); ++t) {
    uint32_t first = 0;
    for (const Vec4& w : VerticesOf(surface, t, &first)) {
      const uint32_t* n = surface.tets[t].nodes;
      points.emplace_back(ToEigen(nodes[n[0]]) * w.x + ToEigen(nodes[n[1]]) * w.y +
                          ToEigen(nodes[n[2]]) * w.z + ToEigen(nodes[n[3]]) * w.w);
    }
  }
  if (surface.tets.empty()) {
    for (const Vec3& node : nodes) points.push_back(ToEigen(node));
  }
  return points;
}

double SolidScene::FarthestAlong(const Eigen::Vector3d& direction) const {
  double farthest = -1e30;
  for (const Eigen::Vector3d& point : Points()) farthest = std::max(farthest, direction.dot(point));
  return farthest;
}

double SolidScene::DepthIn(ColliderId id) const {
  const ColliderDesc desc = DescOf(world, id);
  double deepest = -1e30;
  for (const Eigen::Vector3d& point : Points()) {
    deepest = std::max(deepest, -DistanceFrom(desc, point));
  }
  return deepest;
}

double SolidScene::DepthOfTrianglesIn(ColliderId id) const {
  return DepthOfTrianglesIn(DescOf(world, id));
}

double SolidScene::DepthOfTrianglesIn(const ColliderDesc& desc) const {
  constexpr int kGrid = 8, kRounds = 8;
  const std::vector<Eigen::Vector3d> points = Points();
  const CollisionView& surface = shape.asset().collision();
  double deepest = -1e30;
  WithTriangles(surface, [&](const auto& triangles) {
    for (const auto& triangle : triangles) {
      const Eigen::Vector3d a = points[VertexOf(triangle, 0)], b = points[VertexOf(triangle, 1)],
                            c = points[VertexOf(triangle, 2)];
      // The distance is convex: each round looks more closely about the best point so far.
      double u = 1.0 / 3, v = 1.0 / 3, reach = 1.0, best = -1e30;
      for (int round = 0; round < kRounds; ++round, reach *= 0.4) {
        const double u0 = u, v0 = v;
        for (int i = -kGrid; i <= kGrid; ++i) {
          for (int j = -kGrid; j <= kGrid; ++j) {
            const double at_u = u0 + reach * i / kGrid, at_v = v0 + reach * j / kGrid;
            if (at_u < 0.0 || at_v < 0.0 || at_u + at_v > 1.0) continue;
            const double depth = -DistanceFrom(desc, a + (b - a) * at_u + (c - a) * at_v);
            if (depth > best) best = depth, u = at_u, v = at_v;
          }
        }
        if (best < -0.01) break;
      }
      deepest = std::max(deepest, best);
    }
  });
  return deepest;
}

void SolidScene::KickAway(ColliderId foot, float speed, double most_depth) {
  Pose pose = DescOf(world, foot).pose;
  const int steps = static_cast<int>(1.2f / (speed * kDt));
  for (int step = 0; step < steps; ++step) {
    pose.position.x += speed * kDt;
    REQUIRE(world.MoveCollider(foot, pose).ok());
    Step(1);
    CHECK(DepthIn(foot) < most_depth);
  }
  CHECK((flags & kStepBodyFrozen) == 0);
  CHECK(Centre().x() > double(pose.position.x));
}

double SolidScene::Speed() const {
  double speed = 0.0;
  for (const Vec3& v : VelocitiesOf(world, body, shape.num_nodes())) {
    speed = std::max(speed, ToEigen(v).norm());
  }
  return speed;
}

MotionDifference StepBoth(SolidScene* a, SolidScene* b, int steps, const Eigen::Vector3d& up) {
  const auto speed_of = [&](const SolidScene& scene) {
    const BodyMoments m = MomentsOf(scene.world, scene.body);
    return up.dot(Eigen::Vector3d(m.linear_momentum)) / m.mass;
  };
  MotionDifference most;
  for (int step = 0; step < steps; ++step) {
    a->Step(1);
    b->Step(1);
    most.farthest = std::max(most.farthest, (a->Centre() - b->Centre()).norm());
    most.fastest = std::max(most.fastest, std::fabs(speed_of(*a) - speed_of(*b)));
  }
  return most;
}

double ThrowSpeed(Random* random) {
  return double(SolidScene::kSize / SolidScene::kDt) *
         std::exp(random->Uniform(std::log(0.1), std::log(10.0)));
}

Flight ThrowAt(const ColliderDesc& collider, bool has_surface, const Eigen::Matrix3d& turn,
               double speed) {
  BodyDesc start = BodyAt({-0.5f, 0.0f, 0.0f}, {static_cast<float>(speed), 0.0f, 0.0f});
  start.pose.rotation = ToQuat(turn);
  SolidScene scene(has_surface, start, {.gravity = {}});
  const ColliderId id = AddCollider(&scene.world, collider);
  const bool touches = scene.TouchesIn(100);
  CHECK((scene.flags & kStepBodyFrozen) == 0);
  CHECK(scene.DepthIn(id) < 0.01 * double(scene.kSize));
  const Eigen::Vector3d axis = RotationOf(collider.pose.rotation).col(0);
  return {touches, scene.FarthestAlong(axis) - axis.dot(ToEigen(collider.pose.position))};
}

WorldSums SumsOf(const World& world, std::span<const BodyId> ids) {
  WorldSums sums;
  for (const BodyId id : ids) {
    const BodyMoments of = MomentsOf(world, id);
    const Eigen::Vector3d momentum(of.linear_momentum), centre(of.centre);
    sums.momentum += momentum;
    sums.turn += Eigen::Vector3d(of.angular_momentum) + centre.cross(momentum);
  }
  const WorldMeasures measures = MeasuresOf(world);
  sums.energy = measures.kinetic_j + measures.elastic_j;
  return sums;
}

}  // namespace plush::test
