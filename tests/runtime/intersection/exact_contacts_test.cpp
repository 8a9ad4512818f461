// SPDX-License-Identifier: MIT
// Curves, volumes, areas of regions and normals are those of all pairs of triangles in double
// precision: of balls, of bumpy bodies, and of a horse and an armadillo.
#include "runtime/intersection/baked_solids.h"
#include "runtime/intersection/brute_force_contacts.h"
#include "runtime/intersection/found_contacts.h"
#include "runtime/intersection/read_model.h"
#include "skip.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

using namespace plush;
using namespace plush::test;

TEST_CASE("Balls of triangles have the curve, the areas and the normal of all their pairs",
          "[long]") {
  const uint32_t seed = 74;
  CAPTURE(seed);
  Random random(seed);
  constexpr uint32_t kCells = 6;
  const SurfaceShape shape = {.parts = 2, .depth = 0.0, .num_shells = 0};
  SurfaceBody a(TetBox(kCells, kCells, kCells, 2.0 / kCells), shape);
  SurfaceBody b(TetBox(kCells, kCells, kCells, 2.0 / kCells), shape);
  PairScratch scratch = ScratchFor(a, b);
  const auto round = [](SurfaceBody* body, const Eigen::Matrix3d& rotation) {
    std::vector<Vec3> x;
    for (const Vec3& p : body->shape().rest()) {
      const Eigen::Vector3d q = ToEigen(p) - Eigen::Vector3d::Ones();
      const double length = q.norm();
      x.push_back(ToVec3(length > 0.0 ? rotation * q * (q.lpNorm<Eigen::Infinity>() / length) : q));
    }
    body->Move(x);
  };
  for (int i = 0; i < 20; ++i) {
    CAPTURE(i);
    round(&a, random.Rotation());
    round(&b, random.Rotation());
    const double distance = random.Uniform(1.2, 1.8);
    const Eigen::Vector3d way = random.Direction();
    const Vec3 offset = ToVec3(-distance * way);
    const Found found = Find(a, b, offset, &scratch);
    REQUIRE(found.count.curves == 1);
    REQUIRE(found.count.volumes == 1);
    REQUIRE(found.contacts.size() >= 2);
    CHECK(RequireBruteForce(a, b, offset, found, scratch, 1e-5) == found.contacts.size());
    RequireSound(a, b, offset, found, 2.0f);
    // Near what round balls have.
    const double disc = std::acos(-1.0) * (1.0 - distance * distance / 4.0);
    CHECK(Eigen::Vector3d(scratch.curves[0].area).norm() == Approx(disc).epsilon(0.15));
    float deepest = 0.0f;
    for (const PairContact& contact : found.contacts) {
      CHECK((ToEigen(contact.normal) - way).norm() < 0.05);
      deepest = std::min(deepest, contact.gap);
    }
    CHECK(deepest == Approx(distance - 2.0).margin(0.15));
  }
}

TEST_CASE("Bumpy bodies have the volumes, areas and normals of all their pairs of triangles",
          "[long]") {
  const uint32_t seed = 174;
  CAPTURE(seed);
  Random random(seed);
  SurfaceBody a(TetBox(3, 2, 2, 0.1, 0.08, 2), {.parts = 5, .depth = 0.1, .num_shells = 0});
  SurfaceBody b(TetBox(2, 2, 3, 0.1, 0.08, 3), {.parts = 4, .depth = 0.1, .num_shells = 0});
  PairScratch scratch = ScratchFor(a, b);
  size_t compared = 0, volumes = 0, curves = 0;
  const int scenes = tests::FullTests() ? 400 : 60;
  for (int scene = 0; scene < scenes; ++scene) {
    CAPTURE(scene);
    const Vec3 offset = Scatter(&a, &b, &random, 0.15);
    const Found found = Find(a, b, offset, &scratch);
    if (found.count.curves == 0) continue;
    compared += RequireBruteForce(a, b, offset, found, scratch, 1e-5);
    volumes += found.count.volumes;
    curves += found.count.curves;
  }
  CAPTURE(compared, volumes, curves);
  CHECK(compared > 300);
  CHECK(volumes > 20);
  CHECK(curves > volumes);
}

TEST_CASE("A bent horse and armadillo have the volumes, areas and normals of all their pairs",
          "[long]") {
  const std::string paths[2] = {tests::TestModelOrSkip("armadillo_1k.obj"),
                                tests::TestModelOrSkip("horse_5k.obj")};
  if (paths[0].empty() || paths[1].empty()) return;
  const uint32_t seed = 175;
  CAPTURE(seed);
  Random random(seed);
  BakedSolid armadillo = BakeSolid(ReadModel(paths[0]), 500);
  BakedSolid horse = BakeSolid(StandUp(ReadModel(paths[1])), 500);
  SurfaceBody &a = armadillo.body, &b = horse.body;
  PairScratch scratch = ScratchFor(a, b);
  size_t compared = 0, volumes = 0;
  const int scenes = tests::FullTests() ? 20 : 2;
  for (int scene = 0; scene < scenes; ++scene) {
    CAPTURE(scene);
    a.Move(Bent(a.shape().rest(), 0.02, &random));
    b.Move(Bent(b.shape().rest(), 0.02, &random));
    const Vec3 offset = ToVec3(random.Vector(0.15));
    const Found found = Find(a, b, offset, &scratch);
    REQUIRE(found.count.curves > 0);
    compared += RequireBruteForce(a, b, offset, found, scratch, 1e-5);
    volumes += found.count.volumes;
  }
  CAPTURE(compared, volumes);
  CHECK(compared > 20);
  CHECK(volumes >= 2);
}
