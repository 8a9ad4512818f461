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

/// Edges and connected parts of a surface, as the search for pieces uses them.
struct SurfaceLinks {
  std::vector<std::array<uint32_t, 3>> edges;  ///< numbers per triangle, from each corner on
  std::vector<uint32_t> part_of_triangle;      ///< connected components across shared points
  uint32_t num_edges = 0;
  uint32_t num_parts = 0;
};

/// O(n log n).
SurfaceLinks MakeSurfaceLinks(const SolidSurface& surface);

/// A corner that lies outside the solid.
inline constexpr uint8_t kNoPiece = UINT8_MAX;

/// Pieces of the solid in one tet. Every triangle belongs to one, also where it only comes near.
struct TetPieces {
  std::vector<uint8_t> of_triangle;       ///< parallel to the tet's triangles
  std::array<uint8_t, 4> of_corner = {};  ///< kNoPiece for a corner outside the solid
  uint8_t count = 0;
};

/// Tells pieces apart by the connectivity of the solid, one tet after the other.
///
/// Triangles joined by an edge or point inside the tet belong together, and so do the patches of
/// surface that bound one piece of material: patches that cut each other, patches on both ends of a
/// stretch of material along an edge of the tet, and patches that face each other through material
/// (probed from many points of each patch inwards, then along the tet's faces and edges). Where the
/// surface is no closed manifold the same rules join what they find; nothing is ever parted that
/// touches.
class PieceFinder {
 public:
  /// `join_parts`: also join different parts of the surface within a tet.
  PieceFinder(const SolidSurface& surface, const SurfaceLinks& links, const InsideTest& inside,
              double clearance, bool join_parts);

  /// Pieces in the tet with these corners, near these triangles. More than 250 pieces are joined
  /// into one.
  TetPieces Find(const std::array<Vec3d, 4>& tet, std::span<const uint32_t> triangles,
                 const std::array<bool, 4>& corner_inside);

 private:
  const SolidSurface& surface_;
  const SurfaceLinks& links_;
  const InsideTest& inside_;
  const double clearance_;
  const bool join_parts_;
  // Of an edge or point: the last tet that saw it and the last triangle with it there.
  struct Seen {
    uint32_t tet = UINT32_MAX;
    uint32_t triangle = 0;
  };
  std::vector<Seen> edge_seen_;   // per edge
  std::vector<Seen> point_seen_;  // per point
  uint32_t tet_number_ = 0;
};

}  // namespace plush::tools
