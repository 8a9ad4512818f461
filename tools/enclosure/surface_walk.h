// SPDX-License-Identifier: MIT
// Follows the triangles of a surface through the tets of a cage, and finds the one tet that holds
// each point, even if the point lies on a face.
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

/// The part of a triangle in one tet.
struct TrianglePiece {
  uint32_t tet = 0;
  TriangleCut cut;
};

/// A triangle that does not lie in a single tet; its pieces in the order of the walk.
struct SplitTriangle {
  uint32_t triangle = 0;
  std::vector<TrianglePiece> pieces;
};

/// A surface followed through the tets that hold it.
struct SurfaceWalk {
  std::vector<uint32_t> tets;        ///< tet that holds each point, or kNotHeld (num_points x 1)
  std::vector<SplitTriangle> split;  ///< ascending by triangle
  std::vector<uint32_t> outside;     ///< triangles that the tets do not hold entirely, ascending
  std::vector<uint32_t> torn;        ///< triangles at which strands that overlap in space meet
                                     ///< without a common face, ascending
};

/// Follows every triangle from the tets of its corners (`tet_of_point`) across the faces that it
/// crosses. Tets that overlap in space do no harm, as only faces lead from tet to tet. If a face
/// leads to several strands, the triangle enters
/// - the strand of one of its corners,
/// - else the strand that a neighbouring triangle enters there,
/// - else the first strand that holds it.
///
/// A triangle that is not outside is held once: its pieces cover it without overlap, also if it is
/// torn.
///
/// `opposite` holds the surface's half-edges (PairHalfEdges). All decisions are exact, for a
/// surface moved by an infinitely small vector (triangle_cut.h). O(n), deterministic for any thread
/// count.
SurfaceWalk WalkSurface(const TetMesh& mesh, const CageFaces& faces, std::span<const Vec3d> points,
                        std::span<const std::array<uint32_t, 3>> triangles,
                        std::span<const uint32_t> opposite, std::span<const uint32_t> tet_of_point);

}  // namespace plush::tools
