// SPDX-License-Identifier: MIT
#include "solid/inside.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>

using namespace plush::tools;

TEST_CASE("The portable arc tangent agrees with the library's") {
  CHECK(PortableAtan2(0.0, 0.0) == 0.0);
  for (int i = 0; i < 20000; ++i) {
    const double angle = (i - 10000) * 3.14159265 / 10000;
    for (const double radius : {1e-30, 1.0, 1e30}) {
      const double y = radius * std::sin(angle), x = radius * std::cos(angle);
      CHECK(std::abs(PortableAtan2(y, x) - std::atan2(y, x)) < 1e-9);
    }
  }
}

TEST_CASE("The faces of a tet sum to one inside and to nothing outside") {
  const Vec3d corners[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const auto winding = [&](const Vec3d& p) {
    return WindingOfTriangle(p, corners[1], corners[2], corners[3]) +
           WindingOfTriangle(p, corners[0], corners[3], corners[2]) +
           WindingOfTriangle(p, corners[0], corners[1], corners[3]) +
           WindingOfTriangle(p, corners[0], corners[2], corners[1]);
  };
  std::mt19937 random(31);
  std::uniform_real_distribution<double> uniform(-0.5, 1.5);
  for (int i = 0; i < 1000; ++i) {
    const double x = uniform(random), y = uniform(random), z = uniform(random);
    const bool inside = x > 0 && y > 0 && z > 0 && x + y + z < 1;
    CHECK(winding({x, y, z}) == Approx(inside ? 1.0 : 0.0).margin(1e-8));
  }
}

TEST_CASE("A plane seen from close fills half of all directions") {
  const Vec3d a = {-1e6, -1e6, 0}, b = {2e6, -1e6, 0}, c = {-1e6, 2e6, 0};
  CHECK(WindingOfTriangle({0, 0, -1}, a, b, c) == Approx(0.5).margin(1e-5));
  CHECK(WindingOfTriangle({0, 0, 1}, a, b, c) == Approx(-0.5).margin(1e-5));
  CHECK(WindingOfTriangle(a, a, b, c) == 0.0);
}
