// SPDX-License-Identifier: MIT
// Solids, their cages before and after the fit, and properties that every cage must have.
#pragma once

#include "cage/lattice_cage.h"
#include "lattice/cage_boundary.h"
#include "lattice/lattice.h"
#include "lattice/lattice_contacts.h"
#include "lattice/split_cage.h"
#include "mesh/surface_mesh.h"
#include "mesh/tet_mesh.h"
#include "solid/inside.h"
#include "solid/solid_surface.h"

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace plush::tests {

using tools::SurfaceMesh;
using tools::Vec3d;

/// A surface and everything that the stages of a cage need to know about it.
struct Solid {
  explicit Solid(const SurfaceMesh& mesh);

  tools::FindingList findings;
  tools::SolidSurface surface;
  tools::InsideTest inside;
  tools::SurfaceLinks links;
  double diagonal = 0.0;  // of the bounding box [m]
};

/// The lattice around `solid` with cells of size `cell` [m].
tools::Lattice LatticeAround(const Solid& solid, tools::LatticeKind kind, double cell);

/// The cage before the fit; `clearance` [m].
tools::SplitCage SplitOf(const Solid& solid, const tools::Lattice& lattice, double clearance,
                         bool join_parts = false);

/// A cage made as `plush bake` does it; the test fails if there is none.
tools::LatticeCage CageOf(Solid* solid, const tools::CageSettings& settings);

/// Smallest of the tets' volumes, times six [m^3].
double LeastSixVolume(const tools::TetMesh& mesh);

/// Smallest dihedral angle of all tets [degrees].
double LeastDihedral(const tools::TetMesh& mesh);

/// The six dihedral angles of a tet, from normals and std::acos [degrees].
std::array<double, 6> AnglesOf(const std::array<Vec3d, 4>& tet);

/// Number of connected components of tets that share nodes.
uint32_t NumComponents(const tools::TetMesh& mesh);

/// Distance of two triangles [m]; 0 if they meet.
double TriangleDistance(const std::array<Vec3d, 3>& a, const std::array<Vec3d, 3>& b);

/// Whether positions, tets, owners and weights are equal bit for bit.
bool AreSame(const tools::LatticeCage& a, const tools::LatticeCage& b);

/// A palm [0, 1] x [0, 0.3] x [0, 0.4] with two fingers of length 1 on top, `gap` [m] apart, as one
/// closed surface. Each finger is `width` [m] wide and as deep as the palm.
SurfaceMesh MakeTwoFingers(double width, double gap);

/// Uniform numbers and points, equal with every standard library.
class RandomNumbers {
 public:
  explicit RandomNumbers(uint32_t seed) : random_(seed) {}
  /// In [low, high).
  double In(double low, double high) { return low + (high - low) * (random_() * 0x1p-32); }
  /// In [low, high].
  int Whole(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<uint32_t>(high - low + 1));
  }
  Vec3d Point(const Vec3d& low, const Vec3d& high) {
    const double x = In(low.x, high.x), y = In(low.y, high.y);
    return {x, y, In(low.z, high.z)};
  }
  /// A unit vector; not exactly uniform.
  Vec3d Direction();

 private:
  std::mt19937 random_;
};

}  // namespace plush::tests
