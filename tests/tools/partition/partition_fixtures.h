// SPDX-License-Identifier: MIT
// A surface, its cage and its collision surface, and the checks that hold between them.
#pragma once

#include "cage/lattice_cage.h"
#include "mesh/surface_mesh.h"
#include "partition/cut_surface.h"
#include "partition/partition.h"
#include "solid/solid_surface.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace plush::tests {

using tools::SurfaceMesh;
using tools::Vec3d;

/// A solid, the cage that a bake would make for it, and its collision surface.
struct Partitioned {
  tools::SolidSurface solid;
  tools::LatticeCage cage;
  tools::Partition partition;
  tools::FindingList findings;
};

/// Builds all three; the test fails if there is no cage.
Partitioned PartitionOf(const SurfaceMesh& mesh, const tools::CageSettings& settings = {});

/// The bytes of a bake of `mesh` in a lattice cage of about `target_tets` tets. The test fails if
/// the bake fails or the surface is torn.
std::vector<std::byte> BakedInCage(const SurfaceMesh& mesh, uint32_t target_tets);

/// Area, vector area, Euler characteristic and number of open edges.
struct SurfaceTotals {
  double area = 0.0;
  Vec3d vector_area;
  int euler = 0;
  size_t open_edges = 0;
};
SurfaceTotals TotalsOf(const tools::SolidSurface& surface);
SurfaceTotals TotalsOf(const tools::CollisionData& data, const tools::TetMesh& cage);

/// The Euler characteristic of a whole surface.
int EulerOf(const tools::CutSurface& surface);

/// Faults of a collision surface of `out.solid` in `out.cage`, found by the tests' own code: wrong
/// totals, and triangles outside their tets. Empty if there is none.
std::string FaultsOf(const Partitioned& out);

}  // namespace plush::tests
