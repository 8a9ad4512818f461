// SPDX-License-Identifier: MIT
#include "cage/piece_weights.h"

#include "solid/solid_volume.h"
#include "tools/cage/cage_fixtures.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <map>

using namespace plush::tools;
using namespace plush::tests;

TEST_CASE("A tet without copies weighs its volume") {
  const Solid solid(MakeSphere(1.0, 24, 36));
  const SplitCage cage = SplitOf(solid, LatticeAround(solid, LatticeKind::kBcc, 0.4), 1e-3);
  REQUIRE(cage.num_split_tets == 0);
  const std::vector<double> weights = WeighPieces(solid.surface, solid.inside, cage);
  double sum = 0.0;
  for (size_t t = 0; t < weights.size(); ++t) {
    const auto [a, b, c, d] = CornersOf(cage.mesh, t);
    CHECK(weights[t] == SixVolume(a, b, c, d) / 6.0);
    sum += weights[t];
  }
  CHECK(sum == Approx(CageVolume(cage.mesh)).epsilon(1e-12));
}

TEST_CASE("Copies share the volume of their tet by the solid in them, each at least a twentieth") {
  // A thick finger, and one a quarter as wide.
  const double cell = 1.5;
  const SurfaceMesh thick = MakeBox({0, 0, 0}, {0.4, 6, 0.4});
  const SurfaceMesh thin = MakeBox({0.5, 0, 0}, {0.6, 6, 0.4});
  const Solid solid(Joined(thick, thin));
  const SplitCage cage = SplitOf(solid, LatticeAround(solid, LatticeKind::kBcc, cell), 1e-3);
  REQUIRE(cage.num_split_tets > 5);
  const std::vector<double> weights = WeighPieces(solid.surface, solid.inside, cage);
  std::map<uint32_t, double> sums;
  std::map<uint32_t, double> volumes;
  double of_thick = 0.0, of_thin = 0.0;
  std::map<uint32_t, int> copies;
  for (const uint32_t tet : cage.lattice_tet) ++copies[tet];
  for (uint32_t t = 0; t < weights.size(); ++t) {
    const auto [a, b, c, d] = CornersOf(cage.mesh, t);
    const double volume = SixVolume(a, b, c, d) / 6.0;
    CHECK(weights[t] >= 0.05 * volume);
    CHECK(weights[t] <= volume * 1.0000001);
    sums[cage.lattice_tet[t]] += weights[t];
    volumes[cage.lattice_tet[t]] = volume;
    if (copies[cage.lattice_tet[t]] < 2 || cage.triangles[t].empty()) continue;
    const uint32_t point = solid.surface.triangles[cage.triangles[t][0]][0];
    (solid.surface.points[point].x < 0.45 ? of_thick : of_thin) += weights[t];
  }
  for (const auto& [tet, sum] : sums) {
    CHECK(sum > 0.999 * volumes[tet]);
    CHECK(sum < 1.06 * volumes[tet]);
  }
  CHECK(of_thick > 1.5 * of_thin);
}
