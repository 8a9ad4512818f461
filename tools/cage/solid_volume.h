// SPDX-License-Identifier: MIT
// Volume of what a surface encloses.
#pragma once

#include "base/finding.h"
#include "cage/inside.h"
#include "cage/solid_surface.h"
#include "mesh/tet_mesh.h"

namespace plush::tools {

/// Below this share of the cage's volume a solid counts as a shell.
inline constexpr double kShellShare = 0.01;

/// Volume of the solid [m^3]: exact (signed volume of the surface) where the surface is closed and
/// no parts overlap, otherwise the share of fixed points of the cage's tets that lie inside, times
/// their volume. Adds CAGE_SHELL below kShellShare of the cage's volume; otherwise CAGE_HOLE_CLOSED
/// where the surface is open and CAGE_OVERLAP where points lie inside twice. Deterministic for any
/// thread count.
double SolidVolume(const SolidSurface& surface, const InsideTest& inside, const TetMesh& cage,
                   FindingList* findings);

/// Integral of the winding number over space [m^3]: exact up to rounding where the surface is
/// closed. The surface has a triangle.
double SignedVolume(const SolidSurface& surface);

/// Sum of the tets' volumes [m^3].
double CageVolume(const TetMesh& cage);

}  // namespace plush::tools
