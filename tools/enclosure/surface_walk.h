// SPDX-License-Identifier: MIT
// Which tets of a cage the triangles of a surface pass.
//
// The one tet that holds a point of the surface, also where it lies on a face.
#pragma once

#include "base/vec3.h"
#include "lattice/cage_boundary.h"
#include "mesh/tet_mesh.h"
#include "mesh/triangle_cut.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// No tet holds the point.
inline constexpr uint32_t kNotHeld = UINT32_MAX;

/// The tet that holds `p`, moved by an infinitely small vector (perturbed_signs.h): `start` or,
/// where the point lies on its boundary (or outside), the one reached across the faces that it is
/// beyond. kNotHeld where such a face has no neighbour.
uint32_t FindHoldingTet(const TetMesh& mesh, const CageFaces& faces, uint32_t start,
                        const Vec3d& p);

/// What a triangle leaves in one tet.
struct TrianglePiece {
  uint32_t tet = 0;
  TriangleCut cut;
};

/// A triangle that is not whole in one tet, and its pieces in the order in which they were reached.
struct SplitTriangle {
  uint32_t triangle = 0;
  std::vector<TrianglePiece> pieces;
};

/// A surface followed through the tets that hold it.
struct SurfaceWalk {
  std::vector<uint32_t> tets;        ///< that hold each point; kNotHeld: none (num_points x 1)
  std::vector<SplitTriangle> split;  ///< ascending by triangle
  std::vector<uint32_t> outside;     ///< triangles that the tets do not hold, ascending
  std::vector<uint32_t> torn;  ///< triangles at which strands that overlap in space meet without
                               ///< a face in common, ascending
};

/// Follows every triangle from the tets of its corners (`tet_of_point`) across the faces that it
/// crosses. Tets that overlap in space do not confuse this. Where a face leads to several strands,
/// the triangle goes where its corners lie, or where the triangle beside it goes. `opposite` are
/// the surface's half-edges (PairHalfEdges). All decisions are exact, for a surface moved by an
/// infinitely small vector (perturbed_signs.h). O(n), deterministic for any thread count.
SurfaceWalk WalkSurface(const TetMesh& mesh, const CageFaces& faces, std::span<const Vec3d> points,
                        std::span<const std::array<uint32_t, 3>> triangles,
                        std::span<const uint32_t> opposite, std::span<const uint32_t> tet_of_point);

}  // namespace plush::tools
