// SPDX-License-Identifier: MIT
#include "base/float_rounding.h"

#include <catch2/catch.hpp>

#include <random>
#include <vector>

using plush::tools::RoundToFloat;
using plush::tools::Vec3d;

TEST_CASE("Every coordinate is rounded to single precision") {
  // gcc 12 left x and y of a plain conversion unrounded.
  std::mt19937 random(81);
  std::uniform_real_distribution<double> uniform(-10.0, 10.0);
  std::vector<Vec3d> points(1000);
  for (Vec3d& point : points) {
    point.x = uniform(random);
    point.y = uniform(random);
    point.z = uniform(random);
  }
  std::vector<Vec3d> rounded = points;
  for (Vec3d& point : rounded) point = RoundToFloat(point);
  for (size_t i = 0; i < points.size(); ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      volatile float expected = static_cast<float>(points[i][axis]);
      CHECK(rounded[i][axis] == static_cast<double>(expected));
      CHECK(RoundToFloat(points[i][axis]) == static_cast<double>(expected));
    }
  }
}
