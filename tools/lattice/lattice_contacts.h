// SPDX-License-Identifier: MIT
// Which triangles of a surface come near which tets of a lattice.
#pragma once

#include "base/result.h"
#include "lattice/lattice.h"
#include "solid/solid_surface.h"

#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// The tets near a surface, and the triangles near each of them.
struct LatticeContacts {
  std::vector<uint32_t> tets;       ///< lattice tets, ascending (num_touched x 1)
  std::vector<uint32_t> starts;     ///< into triangles (num_touched + 1 x 1)
  std::vector<uint32_t> triangles;  ///< of the surface, ascending within a tet

  /// Triangles near tets[i].
  std::span<const uint32_t> TrianglesOf(size_t i) const {
    return {triangles.data() + starts[i], starts[i + 1] - starts[i]};
  }
};

/// Finds all pairs of a triangle and a tet that come within `clearance` [m] of each other; some of
/// the pairs found may be a little farther apart (TriangleMayTouchTet). The lattice must enclose
/// the surface. Time and memory are linear in the number of pairs, whatever the size of the
/// lattice. Errors: kLimit, CAGE_TOO_FINE (more than kMostCageTets).
Result<LatticeContacts> FindContacts(const Lattice& lattice, const SolidSurface& surface,
                                     double clearance);

}  // namespace plush::tools
