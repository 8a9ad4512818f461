// SPDX-License-Identifier: MIT
// The standard motions do what they say.
#include "tune/standard_motion.h"

#include "shapes/shape_asset.h"
#include "shapes/tet_shapes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

using namespace plush;
using namespace plush::tools;

namespace standard_motion_test {

// A bar of 0.6 m along one axis, 0.2 m along the others, whose nodes are moved to its middle.
struct Bar {
  explicit Bar(int along, double young = 1.0e5)
      : file(test::AssetBytesOf(
            test::TetBox(along == 0 ? 6 : 2, along == 1 ? 6 : 2, along == 2 ? 6 : 2, 0.1),
            {young, 0.4, 1000.0})) {
    REQUIRE(asset.Open(file.bytes()).ok());
  }

  std::span<const Vec3> After(const MotionRecord& record, size_t frame) const {
    const size_t count = asset.cage().nodes.size();
    return std::span(record.positions).subspan(frame * count, count);
  }

  test::ExactBuffer file;
  Asset asset;
};

constexpr int kFrames = 60;

MotionRecord Run(const Bar& bar, StandardMotion motion, double damping = 0.05) {
  const auto record =
      RunMotion(bar.asset, motion, {ImplicitSolver(), damping, 1.0 / 60.0, 2, kFrames});
  REQUIRE(record.ok());
  CHECK(record.value().frame_us > 0.0);
  REQUIRE(record.value().positions.size() == kFrames * bar.asset.cage().nodes.size());
  return record.value();
}

float Coordinate(const Vec3& p, int axis) { return axis == 0 ? p.x : axis == 1 ? p.y : p.z; }

float LowestOf(std::span<const Vec3> nodes) {
  return std::ranges::min_element(nodes, {}, &Vec3::y)->y;
}

TEST_CASE("The dropped body falls from 0.3 of its height onto the plane") {
  const Bar bar(1);
  const MotionRecord record = Run(bar, StandardMotion::kDrop);
  const float first = LowestOf(bar.After(record, 0));
  CHECK(first < 0.18f);
  CHECK(first > 0.17f);  // 0.3 of 0.6 m, less g t^2 / 2
  float lowest = first;
  for (size_t k = 0; k < kFrames; ++k) lowest = std::min(lowest, LowestOf(bar.After(record, k)));
  CHECK(std::fabs(lowest) < 0.005f);
}

TEST_CASE("The swinging body starts level, whichever side is the longest") {
  const int along = GENERATE(0, 1, 2);
  const Bar bar(along, 1.0e6);
  const MotionRecord record = Run(bar, StandardMotion::kSwing, 0.0);
  const auto start = bar.After(record, 0), later = bar.After(record, 25);
  const auto [low, high] = std::ranges::minmax_element(start, {}, &Vec3::x);
  CHECK(high->x - low->x == Approx(0.6).epsilon(0.01));
  const auto height_of = [](std::span<const Vec3> nodes) {
    return std::ranges::max_element(nodes, {}, &Vec3::y)->y - LowestOf(nodes);
  };
  CHECK(height_of(start) == Approx(0.2).epsilon(0.05));
  CHECK(height_of(later) > height_of(start) + 0.002f);  // the free end sags
}

TEST_CASE("The twisted body's end turns by a right angle, and the squeezed one's comes nearer") {
  const int along = GENERATE(0, 1, 2);
  const Bar bar(along);
  const int j = (along + 1) % 3, k = (along + 2) % 3;
  const MotionRecord twisted = Run(bar, StandardMotion::kTwist),
                     squeezed = Run(bar, StandardMotion::kSqueeze);
  const std::span<const Vec3> rest = bar.asset.cage().nodes;
  size_t held = 0, moved = 0;
  for (size_t i = 0; i < rest.size(); ++i) {
    const Vec3 turned = bar.After(twisted, kFrames - 1)[i];
    const Vec3 pressed = bar.After(squeezed, kFrames - 1)[i];
    const Vec3 half = bar.After(squeezed, kFrames / 4 - 1)[i];
    if (Coordinate(rest[i], along) < 0.05f) {
      ++held;
      for (int axis = 0; axis < 3; ++axis) {
        CHECK(Coordinate(turned, axis) == Coordinate(rest[i], axis));
      }
    }
    if (Coordinate(rest[i], along) < 0.55f) continue;
    ++moved;
    CHECK(Coordinate(turned, j) - 0.1f == Approx(0.1f - Coordinate(rest[i], k)).margin(1e-5));
    CHECK(Coordinate(turned, k) - 0.1f == Approx(Coordinate(rest[i], j) - 0.1f).margin(1e-5));
    CHECK(Coordinate(pressed, along) == Approx(0.45f).margin(1e-5));
    CHECK(Coordinate(half, along) == Approx(0.525f).margin(1e-5));
  }
  CHECK(held == 9);
  CHECK(moved == 9);
}

TEST_CASE("A body that goes to infinity has no record, and a refused one says why") {
  const Bar bar(0);
  MotionSettings settings = {ImplicitSolver(), 0.0, 1.0 / 60.0, 1, 3};
  settings.solver.implicit.newton_iterations = 65;
  const auto refused = RunMotion(bar.asset, StandardMotion::kDrop, settings);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("implicit.newton_iterations") != std::string::npos);
}

}  // namespace standard_motion_test
