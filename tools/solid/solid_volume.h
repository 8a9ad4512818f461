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

/// Weights of a tet's corners for the `index`-th point of a fixed sequence that fills the tet
/// evenly. The sequence fills the unit cube and is folded into the tet (Claudio Rocchini, Paolo
/// Cignoni. Generating Random Points in a Tetrahedron. 2000).
std::array<double, 4> SampleWeights(uint64_t index);

/// An open surface that encloses less than this share of the cage's volume is a shell.
inline constexpr double kShellShare = 0.01;
/// A closed surface is a shell if its mean thickness is at most this share of the diagonal of its
/// bounding box: it is a sheet whose two sides coincide up to rounding.
inline constexpr double kShellThickness = 1e-6;

/// What a surface encloses.
struct SolidMeasure {
  double volume = 0.0;   ///< of the solid; overlaps count once [m^3]
  double overlap = 0.0;  ///< volume inside several parts, approximate [m^3]
  Vec3d moment;          ///< integral of the place over the volume [m^4]
};

/// Measures the solid. Deterministic for any thread count.
/// - Closed surface: signed volume and moment minus the overlaps, which rays measure. Exact up to
///   rounding if nothing overlaps. The cage is not used.
/// - Open surface: the sum, over the cage's tets, of a tet's volume times the share of its fixed
///   points that lie inside the surface. The tets must not overlap. `overlap` stays 0.
SolidMeasure MeasureSolid(const SolidSurface& surface, const InsideTest& inside,
                          const TetMesh& cage);

/// Whether the surface is a shell (kShellShare, kShellThickness); the mass of a shell is that of
/// its cage. `cage_volume` [m^3]. Adds findings:
/// - CAGE_SHELL for a shell;
/// - otherwise CAGE_HOLE_CLOSED if the surface is open, and CAGE_OVERLAP if parts overlap.
bool ReportSolid(const SolidSurface& surface, const SolidMeasure& solid, double cage_volume,
                 FindingList* findings);

/// MeasureSolid, then ReportSolid; returns the volume [m^3].
double SolidVolume(const SolidSurface& surface, const InsideTest& inside, const TetMesh& cage,
                   FindingList* findings);

/// Integral of the winding number over space [m^3]; exact up to rounding if the surface is closed.
/// The surface must have at least one triangle.
double SignedVolume(const SolidSurface& surface);

/// Sum of the triangles' areas [m^2].
double SurfaceArea(const SolidSurface& surface);

/// Area of a shell [m^2]: of a closed one, whose two sides coincide, that of one side.
double SheetArea(const SolidSurface& surface);

/// Sum of the tets' volumes [m^3].
double CageVolume(const TetMesh& cage);

}  // namespace plush::tools
