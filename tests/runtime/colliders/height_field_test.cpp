// SPDX-License-Identifier: MIT
// Bodies on height fields: flat, sloping, in valleys, on ridges, below, fast, moving.
#include "colliders/collider_mesh.h"
#include "runtime/colliders/solid_scene.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace height_field_test {

constexpr double kPi = std::numbers::pi;
constexpr float kSize = SolidScene::kSize;

// Ground about the origin of its pose, and its heights.
struct Ground {
  std::vector<float> heights;
  ColliderDesc desc;

  // `height` at the points' x and z.
  template <class Height>
  Ground(uint32_t columns, uint32_t rows, float spacing, Height height) {
    const Vec3 first = {-0.5f * spacing * static_cast<float>(columns - 1), 0.0f,
                        -0.5f * spacing * static_cast<float>(rows - 1)};
    for (uint32_t row = 0; row < rows; ++row) {
      for (uint32_t column = 0; column < columns; ++column) {
        heights.push_back(
            static_cast<float>(height(double(first.x + spacing * static_cast<float>(column)),
                                      double(first.z + spacing * static_cast<float>(row)))));
      }
    }
    desc.type = ShapeType::kHeightField;
    desc.height_field = {heights, columns, rows, spacing};
    desc.pose.position = first;
  }
  Ground(const Ground&) = delete;
  Ground& operator=(const Ground&) = delete;

  // Signed distance of a point in the world from the ground's surface, measured along y.
  double HeightOver(const Eigen::Vector3d& point, const Pose& pose) const {
    const Eigen::Vector3d p =
        RotationOf(pose.rotation).transpose() * (point - ToEigen(pose.position));
    const HeightFieldShape& field = desc.height_field;
    const double spacing = double(field.spacing), x = p.x() / spacing, z = p.z() / spacing;
    const auto cell = [](double at, uint32_t count) {
      return static_cast<uint32_t>(std::clamp(std::floor(at), 0.0, double(count - 2)));
    };
    const uint32_t column = cell(x, field.columns), row = cell(z, field.rows);
    const double u = x - column, v = z - row;
    if (u < 0.0 || u > 1.0 || v < 0.0 || v > 1.0) return 1e30;
    const auto h = [&](uint32_t right, uint32_t down) {
      return double(heights[size_t{row + down} * field.columns + column + right]);
    };
    const double at = u > v ? h(0, 0) * (1.0 - u) + h(1, 0) * (u - v) + h(1, 1) * v
                            : h(0, 0) * (1.0 - v) + h(0, 1) * (v - u) + h(1, 1) * u;
    return p.y() - at;
  }

  double DepthOf(const SolidScene& scene, const Pose& pose) const {
    double deepest = -1e30;
    for (const Eigen::Vector3d& point : scene.Points()) {
      deepest = std::max(deepest, -HeightOver(point, pose));
    }
    return deepest;
  }
  double DepthOf(const SolidScene& scene) const { return DepthOf(scene, desc.pose); }
};

// Hills of 0.1 m in any direction.
double Hills(double x, double z) { return 0.1 * std::sin(2.0 * x + 0.3) * std::cos(1.7 * z); }

TEST_CASE("On a flat height field a body slides and stops as on a plane") {
  const bool has_surface = GENERATE(false, true);
  const float spacing = GENERATE(0.07f, 1.3f);
  CAPTURE(has_surface, spacing);
  const BodyDesc start = BodyAt({0.0f, 0.0f, 0.0f}, {2.0f, 0.0f, 0.5f});
  SolidScene on_plane(has_surface, start), on_field(has_surface, start);
  const Ground flat(static_cast<uint32_t>(6.0f / spacing), static_cast<uint32_t>(6.0f / spacing),
                    spacing, [](double, double) { return 0.0; });
  AddCollider(&on_plane.world);
  AddCollider(&on_field.world, flat.desc);
  const MotionDifference difference = StepBoth(&on_plane, &on_field, 120);
  CHECK(on_field.world.stats().contacts > 0);
  CHECK((on_plane.Centre() - Eigen::Vector3d(0.1, 0.1, 0.1)).norm() > 0.3);
  CHECK(on_field.Speed() < 1e-2);
  CHECK(difference.farthest < 1e-4 * double(kSize));
  CHECK(difference.fastest < 1e-3 * 2.0);
}

TEST_CASE("A body rests on hills, in a valley and on a ridge, and stays out of the ground") {
  const bool has_surface = GENERATE(false, true);
  const auto [name, slope, height] =
      GENERATE(std::make_tuple("hills", 0.3, 0.1), std::make_tuple("valley", 0.5, 0.0),
               std::make_tuple("steep valley", 2.0, 0.0), std::make_tuple("ridge", -0.4, 0.0));
  CAPTURE(name, has_surface);
  const Ground ground(41, 41, 0.1f, [&, s = slope, h = height](double x, double z) {
    return h > 0.0 ? Hills(x, z) : s * std::fabs(x);
  });
  SolidScene scene(has_surface, BodyAt({-0.1f, 0.35f, -0.13f}));
  ColliderDesc rough = ground.desc;
  rough.friction = 1.0f;
  AddCollider(&scene.world, rough);
  double deepest = -1.0;
  for (int step = 0; step < 300; ++step) {
    scene.Step(1);
    deepest = std::max(deepest, ground.DepthOf(scene));
  }
  CHECK(scene.flags == kStepOk);
  CHECK(scene.world.stats().contacts > 0);
  CHECK(scene.Speed() < 1e-3 * double(kSize));
  CHECK(deepest < 5e-3 * double(kSize));
  CHECK(std::fabs(ground.DepthOf(scene)) < 1e-4 * double(kSize));
  CHECK(std::fabs(double(MeasuresOf(scene.world).max_penetration)) < 1e-4 * double(kSize));
}

TEST_CASE("Bodies thrown at hills stay above, however fast") {
  int hits = 0;
  const int count = tests::SweepCount(100);
  for (uint32_t seed = 1; seed <= static_cast<uint32_t>(count); ++seed) {
    Random random(seed);
    const bool has_surface = random.Below(2) == 0;
    const double speed = ThrowSpeed(&random);
    const float spacing = static_cast<float>(random.Uniform(0.05, 0.6));
    const Ground hills(static_cast<uint32_t>(20.0f / spacing),
                       static_cast<uint32_t>(20.0f / spacing), spacing, Hills);
    CAPTURE(seed, has_surface, speed, spacing);
    BodyDesc start =
        BodyAt({0.0f, 0.5f, 0.0f}, ToVec3(speed * Eigen::Vector3d(random.Uniform(-0.3, 0.3), -1.0,
                                                                  random.Uniform(-0.3, 0.3))));
    start.pose.rotation = ToQuat(random.Rotation());
    SolidScene scene(has_surface, start);
    AddCollider(&scene.world, hills.desc);
    hits += scene.TouchesIn(100) ? 1 : 0;
    CHECK((scene.flags & kStepBodyFrozen) == 0);
    CHECK(hills.DepthOf(scene) < 0.01 * double(kSize));
  }
  CHECK(hits == count);
}

TEST_CASE("A body below a height field is pushed up") {
  const bool has_surface = GENERATE(false, true);
  const Ground hills(41, 41, 0.1f, Hills);
  SolidScene scene(has_surface, BodyAt({-0.1f, -0.5f, -0.1f}));
  AddCollider(&scene.world, hills.desc);
  scene.Step(300);
  CHECK((scene.flags & kStepBodyFrozen) == 0);
  CHECK(hills.DepthOf(scene) < 1e-3 * double(kSize));
  CHECK(scene.Speed() < 1e-2);
}

TEST_CASE("A turned height field that moves carries a body") {
  const bool has_surface = GENERATE(false, true);
  const Ground ground(21, 21, 0.1f, [](double x, double z) { return 0.1 * (x * x + z * z); });
  SolidScene scene(has_surface, BodyAt({-0.1f, 0.02f, -0.1f}));
  ColliderDesc rough = ground.desc;
  rough.friction = 1.0f;
  const ColliderId id = AddCollider(&scene.world, rough);
  const Eigen::Vector3d first = ToEigen(ground.desc.pose.position);
  for (int step = 1; step <= 200; ++step) {
    const double share = std::fmin(step / 150.0, 1.0);
    const double angle = 0.5 * kPi * share * share * (3.0 - 2.0 * share);
    Pose pose = {.rotation = TurnOf(angle, {0, 1, 0})};
    const Eigen::Vector3d place =
        RotationOf(pose.rotation) * first + Eigen::Vector3d(0.5 * angle, 0.1 * angle, 0.0);
    pose.position = ToVec3(place);
    REQUIRE(scene.world.MoveCollider(id, pose).ok());
    scene.Step(1);
    CHECK(ground.DepthOf(scene, DescOf(scene.world, id).pose) < 2e-3 * double(kSize));
  }
  CHECK(scene.world.stats().contacts > 0);
  CHECK(std::fabs(scene.Centre().x() - 0.25 * kPi) < 0.05);
  CHECK(scene.Speed() < 1e-2);
}

TEST_CASE("Height fields hold scaled bodies, also far from the origin") {
  const float scale = GENERATE(0.2f, 1.0f, 5.0f), far = GENERATE(0.0f, 3.0e4f);
  CAPTURE(scale, far);
  const Ground hills(41, 41, 0.1f * scale, [&](double x, double z) {
    return double(scale) * Hills(x / double(scale), z / double(scale));
  });
  const Vec3 middle = {far, -0.5f * far, 0.25f * far};
  BodyDesc desc = BodyAt(middle);
  desc.pose.position.y += 0.2f * scale;
  desc.scale = scale;
  desc.material = {.young = 2.0e5f * scale, .poisson = 0.4f, .density = 1000.0f, .damping = 0.05f};
  SolidScene scene(true, desc);
  ColliderDesc rough = hills.desc;
  rough.friction = 1.0f;
  rough.pose.position = {rough.pose.position.x + middle.x, rough.pose.position.y + middle.y,
                         rough.pose.position.z + middle.z};
  AddCollider(&scene.world, rough);
  scene.Step(300);
  CHECK(scene.flags == kStepOk);
  CHECK(scene.Speed() < 1e-3 * double(scale));
  CHECK(scene.world.stats().contacts > 0);
  const double grid = double(far) * 2.4e-7;  // of float positions there
  CHECK(std::fabs(hills.DepthOf(scene, rough.pose)) < 1e-4 * double(scale) + 2.0 * grid);
}

TEST_CASE("Height fields with wrong numbers are refused by name") {
  World world;
  Ground ground(3, 3, 1.0f, [](double, double) { return 0.0; });
  const auto section = [&] {
    ColliderId id;
    const Status status = world.AddCollider(ground.desc, &id);
    CHECK_FALSE(id.valid());
    CHECK(status.code == StatusCode::kInvalidArgument);
    return std::string(status.section);
  };
  HeightFieldShape& field = ground.desc.height_field;
  SECTION("counts") {
    field.columns = 1;
    CHECK(section() == "height_field.columns");
    field = {ground.heights, 0x80000000u, 0x80000000u, 1e-3f};
    CHECK(section() == "height_field.columns");
    field = {ground.heights, 3, 2, 1.0f};
    CHECK(section() == "height_field.heights");
  }
  SECTION("numbers") {
    field.spacing = GENERATE(0.0f, -1.0f, 1.0e6f, std::numeric_limits<float>::quiet_NaN());
    CHECK(section() == "height_field.spacing");
  }
  SECTION("heights") {
    ground.heights[5] = GENERATE(2.0e6f, -std::numeric_limits<float>::infinity(),
                                 std::numeric_limits<float>::quiet_NaN());
    CHECK(section() == "height_field.heights");
  }
}

TEST_CASE("A peak of a height field presses into the middle of a large triangle", "[long]") {
  const std::vector<float> heights = {0.0f, 0.0f, 0.0f, 0.0f, 0.06f, 0.0f, 0.0f, 0.0f, 0.0f};
  // Diagonals of cells make it a pyramid on a hexagon.
  const std::vector<Vec3> corners = {
      {0.04f, 0.06f, 0.04f}, {0.0f, 0.0f, 0.0f},   {0.04f, 0.0f, 0.0f}, {0.08f, 0.0f, 0.04f},
      {0.08f, 0.0f, 0.08f},  {0.04f, 0.0f, 0.08f}, {0.0f, 0.0f, 0.04f}};
  ColliderDesc field = {.type = ShapeType::kHeightField, .height_field = {heights, 3, 3, 0.04f}};
  // Upside down, its peak above the body's top.
  field.pose = {{0.03f, 0.265f, 0.15f},
                ToQuat(Eigen::AngleAxisd(kPi, Eigen::Vector3d::UnitX()).toRotationMatrix())};
  SolidScene scene(true, BodyAt({}));
  AddCollider(&scene.world);
  const ColliderId id = AddCollider(&scene.world, field);
  ColliderDesc solid = HullAt(field.pose, corners);
  double deepest = -1.0;
  for (int step = 0; step < 80; ++step) {
    if (step < 30) solid.pose.position.y -= 0.0015f;
    REQUIRE(scene.world.MoveCollider(id, solid.pose).ok());
    scene.Step(1);
    deepest = std::max(deepest, scene.DepthOfTrianglesIn(solid));
  }
  CHECK(scene.flags == kStepOk);
  CHECK(deepest > -1e-3 * double(kSize));
  CHECK(deepest < 2e-3 * double(kSize));
  CHECK(scene.DepthOfTrianglesIn(solid) < 1e-3 * double(kSize));
}

TEST_CASE("Triangles of a height field have those across their sides as neighbours") {
  const uint32_t columns = GENERATE(2u, 3u, 5u), rows = GENERATE(2u, 4u);
  CAPTURE(columns, rows);
  std::vector<float> heights;
  for (uint32_t i = 0; i < columns * rows; ++i) heights.push_back(static_cast<float>(i));
  const TriangleSource source{.field = {heights, columns, rows, 1.0f}};
  REQUIRE(source.num_triangles() == 2 * (columns - 1) * (rows - 1));
  // A side, by the heights of its ends: no two points have the same.
  using Side = std::pair<float, float>;
  const auto side_of = [&](uint32_t triangle, int k) {
    Vec3 corners[3];
    source.Corners(triangle, corners);
    return Side{corners[k].y, corners[(k + 1) % 3].y};
  };
  std::map<Side, uint32_t> triangles;
  for (uint32_t t = 0; t < source.num_triangles(); ++t) {
    for (int k = 0; k < 3; ++k) REQUIRE(triangles.emplace(side_of(t, k), t).second);
  }
  for (const auto& [side, t] : triangles) {
    for (int k = 0; k < 3; ++k) {
      if (side_of(t, k) != side) continue;
      const auto across = triangles.find({side.second, side.first});
      CAPTURE(t, k);
      CHECK(source.Neighbour(t, k) == (across == triangles.end() ? kNoTriangle : across->second));
    }
  }
}

}  // namespace height_field_test
