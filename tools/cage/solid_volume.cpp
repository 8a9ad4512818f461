// SPDX-License-Identifier: MIT
#include "cage/solid_volume.h"

#include "cage/tet_samples.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace plush::tools {
namespace {

// Winding-number queries per surface, spread evenly over the tets (at least one in each). Open
// surfaces get their volume from them, closed ones only what overlaps.
constexpr size_t kSamplesOpen = 20'000;
constexpr size_t kSamplesClosed = 10'000;
constexpr size_t kMaxSamplesPerTet = 100;

double TetVolume(const TetMesh& mesh, size_t t) {
  const auto& [a, b, c, d] = mesh.tets[t];
  return SixVolume(mesh.nodes[a], mesh.nodes[b], mesh.nodes[c], mesh.nodes[d]) / 6.0;
}

// What the samples of one tet say.
struct TetSamples {
  double inside = 0.0;   // share with |w| > 1/2
  double overlap = 0.0;  // share with |w| > 3/2
  double winding = 0.0;  // mean of w rounded to whole numbers
};

TetSamples SampleTet(const TetMesh& mesh, size_t t, size_t num_samples, const InsideTest& inside) {
  const auto& [a, b, c, d] = mesh.tets[t];
  TetSamples out;
  for (size_t i = 0; i < num_samples; ++i) {
    const std::array<double, 4> weights = SampleWeights(t * num_samples + i);
    const Vec3d point = mesh.nodes[a] * weights[0] + mesh.nodes[b] * weights[1] +
                        mesh.nodes[c] * weights[2] + mesh.nodes[d] * weights[3];
    const double winding = inside.WindingNumber(point);
    out.inside += std::abs(winding) > 0.5 ? 1.0 : 0.0;
    out.overlap += std::abs(winding) > 1.5 ? 1.0 : 0.0;
    out.winding += std::floor(winding + 0.5);
  }
  const double scale = 1.0 / static_cast<double>(num_samples);
  return {out.inside * scale, out.overlap * scale, out.winding * scale};
}

std::string Percent(double share) { return std::to_string(100.0 * share) + "%"; }

}  // namespace

double SignedVolume(const SolidSurface& surface) {
  const Vec3d origin = surface.points[surface.triangles[0][0]];
  double six_volumes = 0.0;
  for (const auto& [a, b, c] : surface.triangles) {
    six_volumes += SixVolume(origin, surface.points[a], surface.points[b], surface.points[c]);
  }
  return six_volumes / 6.0;
}

double CageVolume(const TetMesh& cage) {
  double volume = 0.0;
  for (size_t t = 0; t < cage.tets.size(); ++t) volume += TetVolume(cage, t);
  return volume;
}

SolidMeasure MeasureSolid(const SolidSurface& surface, const InsideTest& inside,
                          const TetMesh& cage) {
  const size_t most = surface.closed ? kSamplesClosed : kSamplesOpen;
  const size_t num_samples = std::clamp<size_t>(most / cage.tets.size(), 1, kMaxSamplesPerTet);
  std::vector<TetSamples> of_tet(cage.tets.size());
  tbb::parallel_for(tbb::blocked_range<size_t>(0, cage.tets.size()), [&](const auto& range) {
    for (size_t t = range.begin(); t < range.end(); ++t) {
      of_tet[t] = SampleTet(cage, t, num_samples, inside);
    }
  });
  double sampled = 0.0;  // volume with |w| > 1/2
  double overlap = 0.0;  // volume with |w| > 3/2
  double excess = 0.0;   // integral of w - [|w| > 1/2]
  for (size_t t = 0; t < of_tet.size(); ++t) {
    const double volume = TetVolume(cage, t);
    sampled += of_tet[t].inside * volume;
    overlap += of_tet[t].overlap * volume;
    excess += (of_tet[t].winding - of_tet[t].inside) * volume;
  }
  // The signed volume of a closed surface is the integral of w: samples matter for the excess only.
  const double volume = surface.closed ? std::max(0.0, SignedVolume(surface) - excess) : sampled;
  return {volume, overlap};
}

void ReportSolid(const SolidSurface& surface, const SolidMeasure& solid, double cage_volume,
                 FindingList* findings) {
  if (solid.volume < kShellShare * cage_volume) {
    findings->Add("CAGE_SHELL", 1,
                  "the surface encloses " + Percent(solid.volume / cage_volume) +
                      " of the cage's volume of " + std::to_string(cage_volume) +
                      " m^3: the cage is a shell around it");
    return;
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
}

double SolidVolume(const SolidSurface& surface, const InsideTest& inside, const TetMesh& cage,
                   FindingList* findings) {
  const SolidMeasure solid = MeasureSolid(surface, inside, cage);
  ReportSolid(surface, solid, CageVolume(cage), findings);
  return solid.volume;
}

}  // namespace plush::tools
