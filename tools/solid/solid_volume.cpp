// SPDX-License-Identifier: MIT
// Volume of a solid: signed volume minus overlaps if it is closed, samples in the cage if open.
// Source: [Rocchini 2000] for points in a tet (title in solid_volume.h).
#include "solid/solid_volume.h"

#include "base/text.h"
#include "mesh/tet_mesh.h"
#include "solid/surface_columns.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace plush::tools {
namespace {

// Steps of the sequence u_i = frac(i * step): powers of 1/g, where g is the generalised golden
// ratio, g^4 = g + 1. The sequence fills the cube evenly. Samples on a grid would form layers that
// line up with the flat faces of axis-aligned models.
constexpr std::array<double, 3> kSteps = {0.8191725133961645, 0.6710436067037893,
                                          0.5497004779019703};

double Fraction(double value) { return value - std::floor(value); }

// Samples per open surface, spread evenly over the tets of its cage; each tet has at least one.
constexpr size_t kSamples = 20'000;
constexpr size_t kMaxSamplesPerTet = 100;

// Rays that measure the overlaps of a closed surface, counted along the longer of the bounding
// box's y and z sides. Each ray passes its grid cell at an irregular place (a share of the cell in
// y and z), so that it misses the vertices of models with round coordinates.
constexpr double kRays = 120.0;
constexpr double kPlaceY = 0.5437;
constexpr double kPlaceZ = 0.4719;

// What the fixed points of tet `t` tell of the solid in it.
SolidMeasure MeasureTet(const TetMesh& mesh, size_t t, size_t num_samples,
                        const InsideTest& inside) {
  const auto [a, b, c, d] = CornersOf(mesh, t);
  const double volume = TetVolume({a, b, c, d}) / static_cast<double>(num_samples);
  SolidMeasure solid;
  for (size_t i = 0; i < num_samples; ++i) {
    const std::array<double, 4> weights = SampleWeights(t * num_samples + i);
    const Vec3d point = a * weights[0] + b * weights[1] + c * weights[2] + d * weights[3];
    if (!inside.IsInside(point)) continue;
    solid.volume += volume;
    solid.moment += point * volume;
  }
  return solid;
}

SolidMeasure MeasureOpen(const InsideTest& inside, const TetMesh& cage) {
  const size_t num_samples = std::clamp<size_t>(kSamples / cage.tets.size(), 1, kMaxSamplesPerTet);
  std::vector<SolidMeasure> parts(cage.tets.size());
  tbb::parallel_for(size_t{0}, parts.size(),
                    [&](size_t t) { parts[t] = MeasureTet(cage, t, num_samples, inside); });
  SolidMeasure solid;
  for (const SolidMeasure& part : parts) {
    solid.volume += part.volume;
    solid.moment += part.moment;
  }
  return solid;
}

// Integral of the winding number times the place [m^4].
Vec3d SignedMoment(const SolidSurface& surface) {
  const Vec3d origin = surface.points[surface.triangles[0][0]];
  Vec3d moment;  // times 24, about the origin
  for (size_t t = 0; t < surface.triangles.size(); ++t) {
    const auto [a, b, c] = surface.CornersOf(t);
    moment += (a + b + c - origin * 3.0) * SixVolume(origin, a, b, c);
  }
  return moment / 24.0 + origin * SignedVolume(surface);
}

// The signed volume is the integral of the winding number w. Rays measure the excess over the
// volume of the solid.
SolidMeasure MeasureClosed(const SolidSurface& surface) {
  const Box3 box = BoxOf(surface);
  const Vec3d size = box.Extent();
  const double spacing = std::max(size.y, size.z) / kRays;
  const ColumnGrid grid = {box.low.y + kPlaceY * spacing, box.low.z + kPlaceZ * spacing, spacing,
                           static_cast<int>(size.y / spacing) + 1,
                           static_cast<int>(size.z / spacing) + 1};
  const SurfaceColumns columns(surface, grid);
  double overlap = 0.0;  // length with |w| > 1
  double excess = 0.0;   // integral of w - [w != 0] along the rays
  Vec3d excess_moment;
  for (size_t ray = 0; ray < columns.size(); ++ray) {
    const std::span<const ColumnCrossing> column = columns[ray].crossings;
    int winding = 0;
    for (size_t i = 0; i + 1 < column.size(); ++i) {
      winding += column[i].sign;
      const double length = column[i + 1].x - column[i].x;
      if (std::abs(winding) > 1) overlap += length;
      const double more = (winding - (winding != 0 ? 1 : 0)) * length;
      excess += more;
      excess_moment +=
          Vec3d{0.5 * (column[i].x + column[i + 1].x), grid.first_y + columns[ray].y * spacing,
                grid.first_z + columns[ray].z * spacing} *
          more;
    }
  }
  const double area = spacing * spacing;
  const Vec3d moment = SignedMoment(surface) - excess_moment * area;
  return {std::max(0.0, SignedVolume(surface) - excess * area), overlap * area, moment};
}

bool IsShell(const SolidSurface& surface, double volume, double cage_volume) {
  if (!surface.closed) return volume < kShellShare * cage_volume;
  // The mean thickness is twice the volume divided by the area, which counts both sides.
  return 2.0 * volume <= kShellThickness * Length(BoxOf(surface).Extent()) * SurfaceArea(surface);
}

std::string Percent(double share) { return RoundedText(100.0 * share) + "%"; }

}  // namespace

std::array<double, 4> SampleWeights(uint64_t index) {
  double s = Fraction(0.5 + static_cast<double>(index) * kSteps[0]);
  double t = Fraction(0.5 + static_cast<double>(index) * kSteps[1]);
  double u = Fraction(0.5 + static_cast<double>(index) * kSteps[2]);
  if (s + t > 1.0) {
    s = 1.0 - s;
    t = 1.0 - t;
  }
  if (t + u > 1.0) {
    const double old_u = u;
    u = 1.0 - s - t;
    t = 1.0 - old_u;
  } else if (s + t + u > 1.0) {
    const double old_u = u;
    u = s + t + u - 1.0;
    s = 1.0 - t - old_u;
  }
  return {1.0 - s - t - u, s, t, u};
}

double SignedVolume(const SolidSurface& surface) {
  const Vec3d origin = surface.points[surface.triangles[0][0]];
  double six_volumes = 0.0;
  for (size_t t = 0; t < surface.triangles.size(); ++t) {
    const auto [a, b, c] = surface.CornersOf(t);
    six_volumes += SixVolume(origin, a, b, c);
  }
  return six_volumes / 6.0;
}

double SurfaceArea(const SolidSurface& surface) {
  double area = 0.0;
  for (size_t t = 0; t < surface.triangles.size(); ++t) {
    const auto [a, b, c] = surface.CornersOf(t);
    area += 0.5 * Length(Cross(b - a, c - a));
  }
  return area;
}

double SheetArea(const SolidSurface& surface) {
  return (surface.closed ? 0.5 : 1.0) * SurfaceArea(surface);
}

double CageVolume(const TetMesh& cage) {
  double volume = 0.0;
  for (size_t t = 0; t < cage.tets.size(); ++t) volume += TetVolume(CornersOf(cage, t));
  return volume;
}

SolidMeasure MeasureSolid(const SolidSurface& surface, const InsideTest& inside,
                          const TetMesh& cage) {
  return surface.closed ? MeasureClosed(surface) : MeasureOpen(inside, cage);
}

bool ReportSolid(const SolidSurface& surface, const SolidMeasure& solid, double cage_volume,
                 FindingList* findings) {
  if (IsShell(surface, solid.volume, cage_volume)) {
    findings->Add("CAGE_SHELL", 1,
                  "the surface encloses " + Percent(solid.volume / cage_volume) +
                      " of the cage's volume of " + RoundedText(cage_volume) +
                      " m^3: the cage is a shell around it, and weighs what that volume does");
    return true;
  }
  if (!surface.closed) {
    findings->Add("CAGE_HOLE_CLOSED", 1,
                  "the surface is not closed; its inside was taken from winding numbers");
  }
  if (solid.overlap > 0.0) {
    findings->Add("CAGE_OVERLAP", 1,
                  "about " + Percent(solid.overlap / cage_volume) +
                      " of the cage lies inside overlapping parts, which count once");
  }
  return false;
}

double SolidVolume(const SolidSurface& surface, const InsideTest& inside, const TetMesh& cage,
                   FindingList* findings) {
  const SolidMeasure solid = MeasureSolid(surface, inside, cage);
  ReportSolid(surface, solid, CageVolume(cage), findings);
  return solid.volume;
}

}  // namespace plush::tools
