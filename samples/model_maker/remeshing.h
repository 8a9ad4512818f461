// SPDX-License-Identifier: MIT
// Even triangles for the sample models.
#pragma once

#include "marching_tets.h"
#include "solid.h"
#include "surface_editor.h"

#include <vector>

namespace plush::samples {

/// The nearest point of the surface along the gradient, from a point close to it; `p` itself where
/// the gradient vanishes. Never goes farther than `reach` metres.
Vec3d ProjectToSurface(const Solid& solid, const Vec3d& p, double reach);

/// Edge length wanted at each vertex: WantedEdge of `solid`, and at most that of `details` (a solid
/// that only says where finer triangles are wanted).
std::vector<double> WantedEdges(const SurfaceEditor& mesh, const Solid& solid, const Solid& details,
                                double base);

/// Brings the edges to the lengths of WantedEdges by splits, collapses and flips, and evens the
/// triangles out by moving vertices along the surface.
void Remesh(const Solid& solid, const Solid& details, double base_edge, SurfaceEditor* mesh);

/// One round of moving vertices along the surface to the middle of their neighbours; those with
/// `locked` (num_vertices x 1) set stay. `reach` metres at most.
void SmoothAlongSurface(const Solid& solid, const std::vector<bool>& locked, double reach,
                        SurfaceEditor* mesh);

}  // namespace plush::samples
