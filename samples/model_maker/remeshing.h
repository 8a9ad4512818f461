// SPDX-License-Identifier: MIT
// Even triangles for the sample models.
#pragma once

#include "marching_tets.h"
#include "solid.h"
#include "surface_editor.h"

#include <vector>

namespace plush::samples {

/// The nearest point of the surface along the gradient, from a point `p` close to it, at most
/// `reach` metres away. Returns `p` if the gradient vanishes.
Vec3d ProjectToSurface(const Solid& solid, const Vec3d& p, double reach);

/// Edge length wanted at each vertex: WantedEdge of `solid`, and at most that of `details` (a solid
/// that only asks for finer triangles).
std::vector<double> WantedEdges(const SurfaceEditor& mesh, const Solid& solid, const Solid& details,
                                double base);

/// Brings the edges to the lengths of WantedEdges by splits, collapses and flips, and evens out the
/// triangles by moving vertices along the surface.
void Remesh(const Solid& solid, const Solid& details, double base_edge, SurfaceEditor* mesh);

/// One round of moving vertices along the surface to the middle of their neighbours, by at most
/// `reach` metres. Vertices with `locked` (num_vertices x 1) set do not move.
void SmoothAlongSurface(const Solid& solid, const std::vector<bool>& locked, double reach,
                        SurfaceEditor* mesh);

}  // namespace plush::samples
