// SPDX-License-Identifier: MIT
#include "marching_tets.h"

#include "model_maker/surface_properties.h"
#include "parts.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <numbers>

using namespace plush::samples;
using namespace plush::tests;

TEST_CASE("A marched ball is a closed manifold around the ball's volume, outward") {
  const TriangleMesh mesh = MarchTets(BallSolid(), {0.003, 0.001, -0.002}, 0.01);
  REQUIRE(mesh.triangles.size() > 1000);
  CHECK(IsClosedOrientedManifold(mesh));
  CHECK(EulerCharacteristic(mesh) == 2);
  const double volume = 4.0 / 3.0 * std::numbers::pi * 1.0e-3;
  CHECK(EnclosedVolume(mesh) == Approx(volume).epsilon(0.02));
  CHECK(WorstTriangle(mesh) > 0.05);
}

TEST_CASE("A marched ring keeps its hole") {
  const TriangleMesh mesh = MarchTets(RingSolid(), {0.1, 0.0, 0.0}, 0.008);
  CHECK(IsClosedOrientedManifold(mesh));
  CHECK(EulerCharacteristic(mesh) == 0);
  const double volume = 2.0 * std::numbers::pi * std::numbers::pi * 0.1 * 0.03 * 0.03;
  CHECK(EnclosedVolume(mesh) == Approx(volume).epsilon(0.03));
}

TEST_CASE("Marching vertices lie within a part of a step from the surface") {
  const Solid ball = BallSolid();
  const double step = 0.01;
  for (const Vec3d& p : MarchTets(ball, {}, step).positions) {
    REQUIRE(std::fabs(plush::samples::Distance(ball, p)) < 0.12 * std::sqrt(3.0) * step + 1.0e-5);
  }
}

TEST_CASE("Only the piece above the starting point is marched") {
  Solid two = BallSolid();
  two.blobs.push_back(Ball({0.5, 0.0, 0.0}, 0.1, 0.0));
  for (const Vec3d& p : MarchTets(two, {}, 0.01).positions) REQUIRE(p.x < 0.25);
}

TEST_CASE("Starting outside gives nothing") {
  CHECK(MarchTets(BallSolid(), {0.0, 0.2, 0.0}, 0.01).triangles.empty());
}
