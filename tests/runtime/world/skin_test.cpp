// SPDX-License-Identifier: MIT
#include "plush/format/tet_block.h"

#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

using namespace plush;
using namespace plush::test;

namespace skin_test {

TEST_CASE("Skinned positions are barycentric sums of nodes") {
  const uint32_t seed = GENERATE(1u, 2u);
  CAPTURE(seed);
  Random random(seed);
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1, 0.09, seed));
  World world;
  const BodyId id = AddBody(&world, shape.asset());
  const std::vector<Vec3> nodes =
      ToVec3s(ToEigen(shape.rest()) + random.Vectors(shape.num_nodes(), 0.03));
  REQUIRE(world.SetNodePositions(id, nodes).ok());
  const Skinned skin = SkinOf(world, id, shape);
  const VisualView& visual = shape.asset().visual();
  for (size_t v = 0; v < skin.positions.size(); ++v) {
    const Tet& tet = shape.simulation().tets[visual.tet_ids[v]];
    const Vec4& w = visual.weights[v];
    const Eigen::Vector3d expected =
        double(w.x) * ToEigen(nodes[tet.a]) + double(w.y) * ToEigen(nodes[tet.b]) +
        double(w.z) * ToEigen(nodes[tet.c]) + double(w.w) * ToEigen(nodes[tet.d]);
    REQUIRE((ToEigen(skin.positions[v]) - expected).norm() < 1e-7);
    // The normal must be that of the deformed triangle: each face has its own three vertices here.
    const size_t first = v / 3 * 3;
    const Eigen::Vector3d a = ToEigen(skin.positions[first]);
    const Eigen::Vector3d across =
        (ToEigen(skin.positions[first + 1]) - a).cross(ToEigen(skin.positions[first + 2]) - a);
    REQUIRE((ToEigen(skin.normals[v]) - across.normalized()).norm() < 1e-4);
  }
}

TEST_CASE("A rigid pose turns normals and positions, and is found again") {
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u);
  CAPTURE(seed);
  Random random(seed);
  const ShapeAsset shape(TetBox(2, 1, 2, 0.1, 0.09, seed));
  const VisualView& visual = shape.asset().visual();
  const Eigen::Matrix3d R = random.Rotation();
  const Eigen::Vector3d t = random.Vector(seed > 2 ? 50.0 : 1.0);
  World world;
  const BodyId placed = AddBody(&world, shape.asset(), {.pose = {ToVec3(t), ToQuat(R)}});
  const BodyId set = AddBody(&world, shape.asset());
  const Points x = (R * ToEigen(shape.rest())).colwise() + t;
  REQUIRE(world.SetNodePositions(set, ToVec3s(x)).ok());
  const double rounding = 1e-6 + 1e-7 * t.norm();
  for (const BodyId id : {placed, set}) {
    const Skinned skin = SkinOf(world, id, shape);
    for (size_t v = 0; v < skin.normals.size(); ++v) {
      REQUIRE((ToEigen(skin.positions[v]) - R * ToEigen(visual.positions[v]) - t).norm() <
              rounding);
      const double tolerance = id.value == placed.value ? 2e-6 : 1e-5 + 20.0 * rounding;
      REQUIRE((ToEigen(skin.normals[v]) - R * ToEigen(visual.normals[v])).norm() < tolerance);
    }
    Pose pose;
    REQUIRE(world.BestFitPose(id, &pose).ok());
    CHECK(AngleBetween(RotationOf(pose.rotation), R) < 20.0 * rounding);
    CHECK((ToEigen(pose.position) - t).norm() < 20.0 * rounding);
  }
}

TEST_CASE("The best fit is found half a turn away too, and under deformation") {
  const ShapeAsset shape(TetBox(3, 2, 1, 0.1, 0.05, 5));
  World world;
  const BodyId id = AddBody(&world, shape.asset());
  for (int axis = 0; axis < 3; ++axis) {
    Eigen::Matrix3d half = -Eigen::Matrix3d::Identity();
    half(axis, axis) = 1.0;
    REQUIRE(world.SetNodePositions(id, ToVec3s(half * ToEigen(shape.rest()))).ok());
    Pose pose;
    REQUIRE(world.BestFitPose(id, &pose).ok());
    CHECK(AngleBetween(RotationOf(pose.rotation), half) < 1e-5);
    // No nearby pose is better: mass-weighted least squares.
    Random random(6);
    const Points x = half * ToEigen(shape.rest()) + random.Vectors(shape.num_nodes(), 0.02);
    REQUIRE(world.SetNodePositions(id, ToVec3s(x)).ok());
    REQUIRE(world.BestFitPose(id, &pose).ok());
    const auto misfit = [&](const Eigen::Matrix3d& R, const Eigen::Vector3d& t) {
      double sum = 0.0;
      for (Eigen::Index i = 0; i < x.cols(); ++i) {
        const size_t node = static_cast<size_t>(i);
        const Eigen::Vector3d X = ToEigen(shape.simulation().nodes[node]);
        sum += double(shape.simulation().masses[node]) * (x.col(i) - R * X - t).squaredNorm();
      }
      return sum;
    };
    const Eigen::Matrix3d R = RotationOf(pose.rotation);
    const Eigen::Vector3d t = ToEigen(pose.position);
    const double best = misfit(R, t);
    for (int i = 0; i < 100; ++i) {
      CHECK(misfit(random.Rotation(0.02) * R, t + random.Vector(0.002)) > best * (1.0 - 1e-9));
    }
  }
}

TEST_CASE("The best fit is found from any rotation at once") {
  const ShapeAsset shape(TetBox(4, 1, 1, 0.1, 0.05, 7));
  World world;
  const BodyId id = AddBody(&world, shape.asset());
  Random random(7);
  for (int i = 0; i < 200; ++i) {
    CAPTURE(i);
    const Eigen::Matrix3d R = random.Rotation();
    REQUIRE(world.SetNodePositions(id, ToVec3s(R * ToEigen(shape.rest()))).ok());
    Pose pose;
    REQUIRE(world.BestFitPose(id, &pose).ok());
    REQUIRE(AngleBetween(RotationOf(pose.rotation), R) < 1e-4);
  }
}

TEST_CASE("Flattened tets still give unit normals") {
  const ShapeAsset shape(TetBox(1, 1, 1, 0.1));
  World world;
  const BodyId id = AddBody(&world, shape.asset());
  for (const double thickness : {0.0, 1e-12, -0.5}) {
    Points x = ToEigen(shape.rest());
    x.row(1) *= thickness;
    if (thickness == 0.0) x.row(0).setZero();  // a line, so that every cofactor is zero
    REQUIRE(world.SetNodePositions(id, ToVec3s(x)).ok());
    for (const Vec3& normal : SkinOf(world, id, shape).normals) {
      REQUIRE(ToEigen(normal).norm() == Approx(1.0).margin(1e-5));
    }
  }
}

}  // namespace skin_test
