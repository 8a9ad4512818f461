// SPDX-License-Identifier: MIT
#include "lattice/solid_voxels.h"

#include "solid/solid_volume.h"
#include "tools/cage/cage_fixtures.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <set>

using namespace plush::tools;
using namespace plush::tests;

TEST_CASE("Voxels cover the solid and little more") {
  const std::pair<SurfaceMesh, double> shapes[] = {{MakeSphere(1.0, 48, 72), 12.6},
                                                   {MakeBox({0, 0, 0}, {1, 2, 3}), 22.0},
                                                   {MakeTorus(1.0, 0.3, 48, 24), 11.9},
                                                   {MakeNestedShells(false, true), 15.8}};
  for (const auto& [mesh, area] : shapes) {
    const Solid solid(mesh);
    const double volume = SignedVolume(solid.surface);
    for (const double edge : {0.1, 0.05, 0.025}) {
      const SolidVoxels voxels(solid.surface, edge);
      const double covered = edge * edge * edge * static_cast<double>(voxels.num_voxels());
      INFO("edge " << edge << ", volume " << volume << ", covered " << covered);
      CHECK(covered > volume);
      CHECK(covered < volume + 1.5 * area * edge);
    }
  }
}

TEST_CASE("A lattice makes nearly the same of voxels as of their solid") {
  const std::pair<SurfaceMesh, double> shapes[] = {{MakeSphere(1.0, 48, 72), 0.4},
                                                   {MakeBox({0, 0, 0}, {1, 2, 3}), 0.5},
                                                   {MakeTorus(1.0, 0.3, 48, 24), 0.35},
                                                   {MakeTwoFingers(0.25, 0.15), 0.3}};
  for (const auto& [mesh, cell] : shapes) {
    for (const LatticeKind kind : {LatticeKind::kBcc, LatticeKind::kCube5}) {
      const Solid solid(mesh);
      const Lattice lattice = LatticeAround(solid, kind, cell);
      const SplitCage cage = SplitOf(solid, lattice, 1e-3 * solid.diagonal);
      const std::set<uint32_t> kept(cage.lattice_tet.begin(), cage.lattice_tet.end());
      const SolidVoxels voxels(solid.surface, cell / 10.0);
      // Samples of the surface miss some kept tets, but never find one that is not kept.
      CHECK(voxels.CountTets(lattice) <= kept.size());
      CHECK(voxels.CountTets(lattice) > 0.85 * static_cast<double>(kept.size()));
      const SolidVoxels::Cut cut = voxels.CutBy(lattice);
      CHECK(cut.pieces >= cut.tets);
      CHECK(cut.tets == Approx(static_cast<double>(kept.size())).epsilon(0.12));
      // Voxels are connected across faces only, so they form more pieces than the solid.
      CHECK(cut.pieces > 0.88 * static_cast<double>(cage.mesh.tets.size()));
      CHECK(cut.pieces < 1.6 * static_cast<double>(cage.mesh.tets.size()));
    }
  }
}

TEST_CASE("Strands in one tet are separate pieces, a solid is not cut") {
  const double cell = 2.0;
  const SurfaceMesh bar = MakeBox({0, 0, 0}, {0.2, 3, 0.2});
  const SurfaceMesh other = MakeBox({0.5, 0, 0}, {0.7, 3, 0.2});
  const Solid one(bar);
  const Solid two(Joined(bar, other));
  const Lattice lattice = LatticeAround(two, LatticeKind::kBcc, cell);
  const SolidVoxels::Cut single = SolidVoxels(one.surface, 0.05).CutBy(lattice);
  CHECK(single.pieces == single.tets);
  const SolidVoxels::Cut both = SolidVoxels(two.surface, 0.05).CutBy(lattice);
  CHECK(both.pieces > both.tets);
}
