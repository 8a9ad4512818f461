// SPDX-License-Identifier: MIT
// The volume that a surface encloses, and evenly spread points of a tet.
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

/// An open surface that encloses less than this share of the cage's volume is a shell.
inline constexpr double kShellShare = 0.01;
/// A closed surface is a shell if its mean thickness is below this share of its box's diagonal: it
/// is a sheet whose two sides coincide up to rounding.
inline constexpr double kShellThickness = 1e-6;

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

/// Whether the surface is a shell (kShellShare, kShellThickness), whose mass comes from the cage
/// [m^3]. Adds CAGE_SHELL if it is; otherwise CAGE_HOLE_CLOSED if the surface is open and
/// CAGE_OVERLAP if parts overlap.
bool ReportSolid(const SolidSurface& surface, const SolidMeasure& solid, double cage_volume,
                 FindingList* findings);

/// Measures and reports; the volume [m^3].
double SolidVolume(const SolidSurface& surface, const InsideTest& inside, const TetMesh& cage,
                   FindingList* findings);

/// Integral of the winding number over space [m^3]: exact up to rounding where the surface is
/// closed. The surface has a triangle.
double SignedVolume(const SolidSurface& surface);

/// Sum of the tets' volumes [m^3].
double CageVolume(const TetMesh& cage);

}  // namespace plush::tools
