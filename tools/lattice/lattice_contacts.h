// SPDX-License-Identifier: MIT
// Which triangles of a surface come near which tets of a lattice.
#pragma once

#include "lattice/lattice.h"
#include "solid/solid_surface.h"

#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// Touched tets and the triangles at each.
struct LatticeContacts {
  std::vector<uint32_t> tets;       ///< lattice tets, ascending (num_touched x 1)
  std::vector<uint32_t> starts;     ///< into triangles (num_touched + 1 x 1)
  std::vector<uint32_t> triangles;  ///< of the surface, ascending within a tet

  /// Triangles at the `i`-th touched tet.
  std::span<const uint32_t> TrianglesOf(size_t i) const {
    return {triangles.data() + starts[i], starts[i + 1] - starts[i]};
  }
};

/// Finds all pairs that come within `clearance` [m] of each other, and at most some that stay a
/// little farther away (TriangleMayTouchTet). The lattice encloses the surface. Time and memory are
/// linear in the number of pairs and of lattice tets.
LatticeContacts FindContacts(const Lattice& lattice, const SolidSurface& surface, double clearance);

}  // namespace plush::tools
