// SPDX-License-Identifier: MIT
#include "base/float_rounding.h"
#include "enclosure/cage_proof.h"
#include "lattice/cell_search.h"
#include "solid/solid_volume.h"
#include "sweep.h"
#include "tools/cage/cage_fixtures.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace plush::tools;
using namespace plush::tests;

TEST_CASE("A turned box is the same box with no edge along an axis") {
  const Solid solid(MakeBox({10, 20, 30}, {11, 22, 33}));
  const SolidSurface turned = TurnedSurface(solid.surface);
  CHECK(SignedVolume(turned) == Approx(6.0));
  CHECK(Length(BoxOf(turned).Centre() - BoxOf(solid.surface).Centre()) < 1e-12);
  for (const auto& triangle : turned.triangles) {
    const Vec3d side = turned.points[triangle[1]] - turned.points[triangle[0]];
    const double length = Length(side);
    for (int axis = 0; axis < 3; ++axis) CHECK(std::abs(side[axis]) > 0.02 * length);
  }
}

TEST_CASE("A cage around a turned surface is turned back around the surface") {
  const Solid solid(MakeBox({10, 20, 30}, {11, 22, 33}));
  const SolidSurface turned = TurnedSurface(solid.surface);
  SplitCage cage = {.mesh = {.nodes = turned.points}};
  TurnBack(solid.surface, &cage);
  for (size_t i = 0; i < turned.points.size(); ++i) {
    CHECK(Length(cage.mesh.nodes[i] - solid.surface.points[i]) < 1e-5);
  }
  CHECK(cage.rest_nodes == cage.mesh.nodes);
}

TEST_CASE("Far from the origin, a turned lattice encloses whatever its clearance", "[long]") {
  uint32_t turned = 0;
  for (uint32_t seed = 0; seed < SweepCount(300u); ++seed) {
    INFO("seed " << seed);
    RandomNumbers random(seed);
    const Vec3d low = random.Direction() * random.In(10'000.0, 30'000.0);
    SurfaceMesh box = MakeBox(low, low + random.Point({0.3, 0.3, 0.3}, {1, 1, 1}));
    for (Vec3d& p : box.positions) p = RoundToFloat(p);
    const Solid solid(box);
    CellSearch search(solid.surface, solid.inside, LatticeKind::kBcc, 1e-6, false);
    const auto attempt = search.Nearest(static_cast<uint32_t>(random.Whole(50, 150)));
    REQUIRE(attempt.ok());
    const SplitCage& cage = attempt.value().cage;
    CHECK(ProveCage(solid.surface, cage, attempt.value().cell_m).escapes.empty());
    // The first edge of each tet lies along an axis of the lattice.
    const auto& tet = cage.mesh.tets[0];
    const Vec3d edge = cage.mesh.nodes[tet[0]] - cage.mesh.nodes[tet[1]];
    turned += std::abs(edge.x) > 0.0 && std::abs(edge.y) > 0.0 && std::abs(edge.z) > 0.0 ? 1 : 0;
  }
  CHECK(turned > 0);
}
