// SPDX-License-Identifier: MIT
#include "solid.h"

#include "parts.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>

using namespace plush::samples;

namespace {

constexpr unsigned kSeed = 11;

Vec3d RandomPoint(std::mt19937* random, double range) {
  std::uniform_real_distribution<double> number(-range, range);
  const double x = number(*random), y = number(*random), z = number(*random);
  return {x, y, z};
}

}  // namespace

TEST_CASE("Turn is the rotation about the axis by twice the given tangent's angle") {
  std::mt19937 random(kSeed);
  for (int i = 0; i < 100; ++i) {
    const Vec3d axis = Unit(RandomPoint(&random, 1.0)), v = RandomPoint(&random, 1.0);
    const double angle = RandomPoint(&random, 3.0).x;
    const Vec3d turned = Turn(v, axis, std::tan(0.5 * angle));
    const Vec3d expected = std::cos(angle) * v + std::sin(angle) * Cross(axis, v) +
                           (1.0 - std::cos(angle)) * Dot(axis, v) * axis;  // Rodrigues
    REQUIRE(Length(turned - expected) < 1.0e-12);
  }
}

TEST_CASE("A ball's distance is exact and an ellipsoid's has the right zero set") {
  std::mt19937 random(kSeed);
  const Solid ball{{Ball({0.1, 0.2, 0.3}, 0.5, 0.0)}};
  const Frame frame = Turn(Frame{}, Unit({1.0, 2.0, 3.0}), 0.4);
  const Solid egg{{Egg({}, {0.3, 0.5, 0.7}, 0.0, frame)}};
  for (int i = 0; i < 100; ++i) {
    const Vec3d p = RandomPoint(&random, 1.0);
    REQUIRE(plush::samples::Distance(ball, p) ==
            Approx(Length(p - Vec3d{0.1, 0.2, 0.3}) - 0.5).margin(1.0e-12));
    const Vec3d u = Unit(p), on = 0.3 * u.x * frame.x + 0.5 * u.y * frame.y + 0.7 * u.z * frame.z;
    REQUIRE(plush::samples::Distance(egg, on) == Approx(0.0).margin(1.0e-12));
    REQUIRE(plush::samples::Distance(egg, 0.9 * on) < 0.0);
    REQUIRE(plush::samples::Distance(egg, 1.1 * on) > 0.0);
  }
}

TEST_CASE("A tube's distance is the nearest segment's, however its segments are grouped") {
  std::mt19937 random(kSeed);
  std::vector<TubePoint> points;
  for (int i = 0; i < 20; ++i) points.push_back({RandomPoint(&random, 1.0), 0.05});
  const Tube tube(points);
  for (int i = 0; i < 200; ++i) {
    const Vec3d p = RandomPoint(&random, 1.5);
    double nearest = 1.0e9;
    for (size_t k = 0; k + 1 < points.size(); ++k) {
      const Vec3d a = points[k].centre, ab = points[k + 1].centre - a;
      const double t = std::clamp(Dot(p - a, ab) / LengthSquared(ab), 0.0, 1.0);
      nearest = std::min(nearest, Length(p - a - t * ab) - 0.05);
    }
    REQUIRE(tube.Distance(p, 1.0e9, nullptr) == Approx(nearest).margin(1.0e-12));
    if (nearest < 0.2) {
      REQUIRE(tube.Distance(p, 0.2, nullptr) == Approx(nearest).margin(1.0e-12));
    } else {
      REQUIRE(tube.Distance(p, 0.2, nullptr) > 0.2 - 1.0e-12);
    }
  }
}

TEST_CASE("A smooth union contains the plain one and equals it away from the joint") {
  std::mt19937 random(kSeed);
  const Solid hard{{Ball({-0.2, 0, 0}, 0.3, 0.0), Ball({0.2, 0, 0}, 0.3, 0.0)}};
  const Solid smooth{{Ball({-0.2, 0, 0}, 0.3, 0.0), Ball({0.2, 0, 0}, 0.3, 0.1)}};
  for (int i = 0; i < 200; ++i) {
    const Vec3d p = RandomPoint(&random, 0.6);
    const double a = Length(p - Vec3d{-0.2, 0, 0}), b = Length(p - Vec3d{0.2, 0, 0});
    const double difference =
        plush::samples::Distance(hard, p) - plush::samples::Distance(smooth, p);
    REQUIRE(difference >= 0.0);
    REQUIRE(difference <= 0.025 + 1.0e-12);  // a quarter of the width
    if (std::fabs(a - b) >= 0.1) REQUIRE(difference == Approx(0.0).margin(1.0e-12));
  }
}

TEST_CASE("Carving takes a blob away") {
  const Solid solid{{Ball({}, 0.5, 0.0), Carved(Ball({0.5, 0, 0}, 0.2, 0.0))}};
  CHECK(plush::samples::Distance(solid, {0.4, 0.0, 0.0}) > 0.0);
  CHECK(plush::samples::Distance(solid, {-0.4, 0.0, 0.0}) == Approx(-0.1));
  CHECK(plush::samples::Distance(solid, {0.3, 0.0, 0.0}) == Approx(0.0).margin(1.0e-12));
}

TEST_CASE("Wanted edges are short on fine blobs and grow with the distance from them") {
  const Solid solid{{Ball({}, 0.5, 0.0), Finer(Ball({0.5, 0, 0}, 0.1, 0.0), 0.01)}};
  CHECK(WantedEdge(solid, 0.05, {0.6, 0.0, 0.0}) == Approx(0.01));
  CHECK(WantedEdge(solid, 0.05, {0.65, 0.0, 0.0}) == Approx(0.01 + kEdgeGrowth * 0.05));
  CHECK(WantedEdge(solid, 0.05, {-0.5, 0.0, 0.0}) == Approx(0.05));
}
