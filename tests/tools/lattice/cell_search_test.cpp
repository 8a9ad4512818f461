// SPDX-License-Identifier: MIT
#include "lattice/cell_search.h"

#include "tools/cage/cage_fixtures.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

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
