// SPDX-License-Identifier: MIT
// The solid that a triangle soup describes: welded, consistently oriented, facing outwards.
#pragma once

#include "base/finding.h"
#include "base/vec3.h"
#include "mesh/box3.h"
#include "mesh/surface_mesh.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace plush::tools {

/// Finds the pieces of a surface: triangles connected across edges that exactly two triangles
/// share. Turns triangles until both at such an edge pass it in opposite directions.
/// - Of the two orientations of a piece, the one that turns fewer triangles wins; at a tie, the one
///   that keeps the piece's first triangle.
/// - A one-sided piece (a Moebius band) keeps some edges that disagree.
///
/// Returns the triangles of each piece, ascending, with pieces in order of their first triangles.
/// Corners are below `num_points` and differ within a triangle. O(t log t), deterministic.
std::vector<std::vector<uint32_t>> OrientPieces(uint32_t num_points,
                                                std::vector<std::array<uint32_t, 3>>* triangles);

/// Whether the triangles pass every edge as often forwards as backwards.
bool IsClosed(uint32_t num_points, const std::vector<std::array<uint32_t, 3>>& triangles);

/// The solid that a surface describes: welded points and oriented triangles, none of them
/// degenerate or coincident. A component that faces inwards is a cavity of another one.
struct SolidSurface {
  std::vector<Vec3d> points;                       ///< [m]
  std::vector<std::array<uint32_t, 3>> triangles;  ///< into points
  std::vector<uint32_t> source_triangle;           ///< in the SurfaceMesh (num_triangles x 1)
  std::vector<uint32_t> point_of_vertex;           ///< per SurfaceMesh vertex (num_vertices x 1)
  bool closed = false;  ///< IsClosed: winding numbers are integers off the surface

  /// Corners of triangle `t` [m].
  std::array<Vec3d, 3> CornersOf(size_t t) const {
    const auto& [a, b, c] = triangles[t];
    return {points[a], points[b], points[c]};
  }
};

/// Makes the solid of `mesh`:
/// - welds equal positions;
/// - drops triangles without area, and all but the first of coincident triangles, whatever their
///   orientation;
/// - makes neighbouring triangles agree (OrientPieces);
/// - turns pieces that face inwards (negative volume), except those inside other pieces: they are
///   cavities.
/// Adds CAGE_COMPONENT_FLIPPED and CAGE_CAVITY. The result is empty if no triangle has positive
/// area. O(n log n), deterministic.
SolidSurface MakeSolidSurface(const SurfaceMesh& mesh, FindingList* findings);

/// Bounding box of the points that triangles use; empty for an empty surface.
Box3 BoxOf(const SolidSurface& surface);

}  // namespace plush::tools
