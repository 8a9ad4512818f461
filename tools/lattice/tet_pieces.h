// SPDX-License-Identifier: MIT
// The separate pieces of a solid inside one tet of a lattice.
#pragma once

#include "lattice/lattice_contacts.h"
#include "mesh/topology.h"
#include "solid/inside.h"
#include "solid/solid_surface.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// Edges and connected parts of a surface, for the search for pieces.
struct SurfaceLinks {
  std::vector<std::array<uint32_t, 3>> edges;  ///< per triangle; edge i starts at corner i
  std::vector<uint32_t> part_of_triangle;      ///< components, connected across shared points
  uint32_t num_edges = 0;
  uint32_t num_parts = 0;
};

/// O(n log n).
SurfaceLinks MakeSurfaceLinks(const SolidSurface& surface);

/// A corner that lies outside the solid.
inline constexpr uint8_t kNoPiece = UINT8_MAX;

/// Pieces of the solid in one tet. Every triangle near the tet belongs to a piece, even if it does
/// not touch the tet.
struct TetPieces {
  std::vector<uint8_t> of_triangle;       ///< parallel to the tet's triangles
  std::array<uint8_t, 4> of_corner = {};  ///< kNoPiece for a corner outside the solid
  uint8_t count = 0;
};

/// Finds the pieces in one tet after the other, by the connectivity of the solid.
///
/// Triangles that share an edge or a point inside the tet form a patch. Patches belong to one piece
/// if they bound the same material:
/// - patches that cut each other;
/// - patches at both ends of a stretch of material along an edge of the tet;
/// - patches that face each other through material. Probes from many points of each patch find
///   them, inwards and then along the tet's faces and edges (MaterialWalk). The same rules hold if
///   the surface is not a closed manifold. Parts that touch are never separated.
class PieceFinder {
 public:
  /// Keeps references. `clearance` [m]. `join_parts`: also joins different parts of the surface
  /// within a tet.
  PieceFinder(const SolidSurface& surface, const SurfaceLinks& links, const InsideTest& inside,
              double clearance, bool join_parts);

  /// Pieces in the tet with these corners. `triangles` are those near it; `corner_inside` says
  /// which corners lie in the solid. More than 250 pieces are joined into one.
  TetPieces Find(const std::array<Vec3d, 4>& tet, std::span<const uint32_t> triangles,
                 const std::array<bool, 4>& corner_inside);

 private:
  const SolidSurface& surface_;
  const SurfaceLinks& links_;
  const InsideTest& inside_;
  const double clearance_;
  const bool join_parts_;
  // The last tet in which an edge or point was seen, and the last triangle there that uses it.
  struct Seen {
    uint32_t tet = UINT32_MAX;
    uint32_t triangle = 0;
  };
  std::vector<Seen> edge_seen_;   // per edge
  std::vector<Seen> point_seen_;  // per point
  uint32_t tet_number_ = 0;
};

}  // namespace plush::tools
