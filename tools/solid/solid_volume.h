// SPDX-License-Identifier: MIT
// Volume of what a surface encloses.
//
// Evenly spread points of a tet.
#pragma once

#include "base/finding.h"
#include "mesh/tet_mesh.h"
#include "solid/inside.h"
#include "solid/solid_surface.h"

#include <array>
#include <cstdint>

namespace plush::tools {

/// Weights of a tet's corners for the `index`-th point of a fixed sequence that fills every tet
/// evenly: the unit cube's, folded into the tet (Claudio Rocchini, Paolo Cignoni. Generating Random
/// Points in a Tetrahedron. 2000).
std::array<double, 4> SampleWeights(uint64_t index);

/// Below this share of the cage's volume a solid counts as a shell.
inline constexpr double kShellShare = 0.01;

/// What a surface encloses.
struct SolidMeasure {
  double volume = 0.0;   ///< of the solid [m^3]
  double overlap = 0.0;  ///< of where parts overlap, about [m^3]
};

/// Volume of the solid. Of a closed surface: its signed volume less what overlaps, which rays tell;
/// exact where nothing does. Of an open one: the share of fixed points of the cage's tets that lie
/// inside, times their volume; no two tets may overlap. Deterministic for any thread count.
SolidMeasure MeasureSolid(const SolidSurface& surface, const InsideTest& inside,
                          const TetMesh& cage);

/// Adds CAGE_SHELL where the solid has less than kShellShare of the cage's volume [m^3]; otherwise
/// CAGE_HOLE_CLOSED where the surface is open and CAGE_OVERLAP where parts overlap.
void ReportSolid(const SolidSurface& surface, const SolidMeasure& solid, double cage_volume,
                 FindingList* findings);

/// Both; the volume [m^3].
double SolidVolume(const SolidSurface& surface, const InsideTest& inside, const TetMesh& cage,
                   FindingList* findings);

/// Integral of the winding number over space [m^3]: exact up to rounding where the surface is
/// closed. The surface has a triangle.
double SignedVolume(const SolidSurface& surface);

/// Sum of the tets' volumes [m^3].
double CageVolume(const TetMesh& cage);

}  // namespace plush::tools
