// SPDX-License-Identifier: MIT
#include "lattice/cell_search.h"

#include "sweep.h"
#include "tools/cage/cage_fixtures.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>
#include <utility>
#include <vector>

using namespace plush::tools;
using namespace plush::tests;

namespace cell_search_test {

void CheckMeets(const char* name, const SurfaceMesh& mesh, std::vector<uint32_t> targets) {
  const Solid solid(mesh);
  for (const uint32_t target : targets) {
    for (const LatticeKind kind : {LatticeKind::kBcc, LatticeKind::kCube5}) {
      if (kind == LatticeKind::kCube5 && target > 500) continue;
      CellSearch search(solid.surface, solid.inside, kind, 1e-3 * solid.diagonal, false);
      const auto found = search.Nearest(target);
      REQUIRE(found.ok());
      INFO(name << ", " << (kind == LatticeKind::kBcc ? "bcc" : "cube5") << ", " << target
                << " asked, " << found.value().num_tets() << " found");
      CHECK(found.value().num_tets() <= target);
      CHECK(found.value().num_tets() > 0.95 * target);
      CHECK(search.num_attempts() < 60);
    }
  }
}

TEST_CASE("The search meets the number of tets within 5% from below", "[long]") {
  CheckMeets("sphere", MakeSphere(1.0, 24, 36), {60, 120, 450, 1000, 3000});
  CheckMeets("torus", MakeTorus(1.0, 0.3, 48, 24), {60, 120, 450, 1000, 3000});
  CheckMeets("two fingers", MakeTwoFingers(0.25, 0.06), {60, 120, 450, 1000, 3000});
  CheckMeets("strip", MakeMoebiusStrip(1.0, 0.4, 48), {60, 450, 1000});
  CheckMeets("shells", MakeNestedShells(false, true), {120, 450, 1000});
  CheckMeets("soup", MakeTriangleSoup(50, 0.3, 9), {120, 450});
}

// An axis-aligned box gains or loses whole layers of tets at once, unless it is turned against the
// lattice.
TEST_CASE("The search also meets the number of tets for boxes", "[long]") {
  CheckMeets("box", MakeBox({0, 0, 0}, {1, 2, 3}), {60, 120, 450, 1000, 3000});
  CheckMeets("cube", MakeGridBox({0, 0, 0}, {1, 1, 1}, 8), {60, 120, 450, 1000, 3000});
}

// Turned about a random axis by up to a right angle.
SurfaceMesh Turned(SurfaceMesh mesh, std::mt19937* random) {
  std::normal_distribution<double> normal;
  Vec3d axis = {normal(*random), normal(*random), normal(*random)};
  axis = axis / Length(axis);
  const double angle = 1.57 * std::generate_canonical<double, 53>(*random);
  for (Vec3d& p : mesh.positions) {
    p = p * std::cos(angle) + Cross(axis, p) * std::sin(angle) +
        axis * (Dot(axis, p) * (1.0 - std::cos(angle)));
  }
  return mesh;
}

// Work is counted in attempts and in the tets of the largest lattice that they touch: neither may
// grow with the empty space in the box around a body.
TEST_CASE("Long, thin bodies take as little work as others, however they lie", "[long]") {
  const auto num_seeds = SweepCount<unsigned>(60);
  for (unsigned seed = 1; seed <= num_seeds; ++seed) {
    std::mt19937 random(seed);
    const double ratio = 100.0 * std::pow(10.0, std::generate_canonical<double, 53>(random));
    const double thickness = 10.0 / ratio;
    SurfaceMesh mesh = seed % 2 == 0 ? MakeBox({0, 0, 0}, {10, thickness, thickness})
                                     : MakeSphere(0.5 * thickness, 12, 12);
    if (seed % 2 != 0) {
      for (Vec3d& p : mesh.positions) p.x *= ratio;
    }
    if (seed % 3 != 0) mesh = Turned(std::move(mesh), &random);
    const Solid solid(mesh);
    CellSearch search(solid.surface, solid.inside, LatticeKind::kBcc, 1e-3 * solid.diagonal, false);
    const auto found = search.Nearest(450);
    INFO("seed " << seed << ", 1 : " << ratio);
    REQUIRE(found.ok());
    CHECK(found.value().num_tets() <= 450);
    CHECK(found.value().num_tets() > 0.9 * 450);
    CHECK(search.num_attempts() < 60);
    CHECK(search.most_touched() < 10 * 450);
  }
}

TEST_CASE("Far too few tets for the parts give the fewest possible") {
  SurfaceMesh mesh = MakeSphere(0.5, 12, 18);
  for (int i = 1; i < 4; ++i) mesh = Joined(mesh, MakeSphere(0.5, 12, 18, {3.0 * i, 0, 0}));
  const Solid solid(mesh);
  CellSearch search(solid.surface, solid.inside, LatticeKind::kBcc, 1e-3 * solid.diagonal, false);
  const auto found = search.Nearest(1);
  REQUIRE(found.ok());
  CHECK(found.value().num_tets() >= 4);
  CHECK(found.value().num_tets() < 40);
  CHECK(NumComponents(found.value().cage.mesh) == 4);
}

TEST_CASE("One tet can hold a whole model") {
  for (const SurfaceMesh& mesh : {MakeSphere(1.0, 24, 36), MakeBox({0, 0, 0}, {1, 1, 1})}) {
    const Solid solid(mesh);
    CellSearch search(solid.surface, solid.inside, LatticeKind::kBcc, 1e-3 * solid.diagonal, false);
    const auto found = search.Nearest(1);
    REQUIRE(found.ok());
    CHECK(found.value().num_tets() == 1);
  }
}

TEST_CASE("A cell size is taken as it is") {
  const Solid solid(MakeSphere(1.0, 24, 36));
  CellSearch search(solid.surface, solid.inside, LatticeKind::kBcc, 1e-3 * solid.diagonal, false);
  const auto found = search.Try(0.123);
  REQUIRE(found.ok());
  CHECK(found.value().cell_m == 0.123);
  CHECK(search.num_attempts() == 1);
  CHECK_FALSE(search.Try(1e-4).ok());
}

}  // namespace cell_search_test
