// SPDX-License-Identifier: MIT
// What solid a triangle soup means.
//
// Neighbouring triangles made to agree on the outside.
#pragma once

#include "base/finding.h"
#include "base/vec3.h"
#include "mesh/box3.h"
#include "mesh/surface_mesh.h"

#include <array>
#include <cstdint>
#include <vector>

namespace plush::tools {

/// Pieces of a surface: triangles joined across edges of exactly two triangles.
struct OrientedPieces {
  std::vector<uint32_t> piece_of_triangle;  ///< numbered by first triangle (num_triangles x 1)
  uint32_t num_pieces = 0;
};

/// Turns triangles so that the two at every edge of exactly two agree, as far as the piece can be
/// oriented at all; of the two ways the one that turns fewer triangles (the first one's at a tie).
/// Corners lie below `num_points` and differ within a triangle. O(t log t), deterministic.
OrientedPieces OrientPieces(uint32_t num_points, std::vector<std::array<uint32_t, 3>>* triangles);

/// Whether every edge is passed as often forwards as backwards.
bool IsClosed(uint32_t num_points, const std::vector<std::array<uint32_t, 3>>& triangles);

/// The solid that a surface means: welded points and oriented triangles without degenerate or
/// coincident ones, each component turned outwards unless it lies inside another (a cavity).
struct SolidSurface {
  std::vector<Vec3d> points;                       ///< [m]
  std::vector<std::array<uint32_t, 3>> triangles;  ///< into points
  std::vector<uint32_t> source_triangle;           ///< of the SurfaceMesh, per triangle
  std::vector<uint32_t> point_of_vertex;           ///< of the SurfaceMesh (num_vertices x 1)
  bool closed = false;  ///< every edge is passed as often forwards as backwards: winding numbers
                        ///< are whole off the surface
};

/// Makes the solid of `mesh`:
/// - welds equal positions, drops faces without area, keeps one (the first) of coincident faces
///   whatever their orientation;
/// - makes neighbours agree across edges of exactly two triangles, as most of the piece did;
/// - turns a piece whose own winding is negative, unless it lies inside another: then it is a
///   cavity.
/// Adds CAGE_COMPONENT_FLIPPED and CAGE_CAVITY. An empty result means that no triangle has positive
/// area. O(n log n), deterministic.
SolidSurface MakeSolidSurface(const SurfaceMesh& mesh, FindingList* findings);

/// Box of the points that triangles use; empty for an empty surface.
Box3 BoxOf(const SolidSurface& surface);

}  // namespace plush::tools
