// SPDX-License-Identifier: MIT
#include "cage/piece_weights.h"

#include "lattice/material_walk.h"
#include "mesh/tet_mesh.h"
#include "solid/solid_volume.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>

namespace plush::tools {
namespace {

constexpr uint64_t kSamples = 48;

// Least share of a copy: a copy without mass would have loose nodes.
constexpr double kLeastShare = 0.05;

// Each copy's share of the solid in one lattice tet. A sample inside belongs to the piece whose
// surface it meets first on straight lines to the tet's corners.
std::vector<double> SharesOf(const SolidSurface& surface, const InsideTest& inside,
                             const SplitCage& cage, const std::vector<uint32_t>& copies) {
  const std::array<Vec3d, 4> tet = cage.LatticeCorners(copies[0]);
  std::vector<std::array<Vec3d, 3>> triangles;
  std::vector<size_t> copy_of_triangle;
  for (size_t i = 0; i < copies.size(); ++i) {
    for (const uint32_t t : cage.triangles[copies[i]]) {
      triangles.push_back(surface.CornersOf(t));
      copy_of_triangle.push_back(i);
    }
  }
  const MaterialWalk walk(tet, triangles, inside);
  std::vector<double> shares(copies.size(), 0.0);
  double sum = 0.0;
  for (uint64_t s = 0; s < kSamples; ++s) {
    const auto weights = SampleWeights(s);
    const Vec3d point =
        tet[0] * weights[0] + tet[1] * weights[1] + tet[2] * weights[2] + tet[3] * weights[3];
    if (!inside.IsInside(point)) continue;
    // Lines to the corners stay in the tet.
    MaterialWalk::Crossing first{2.0, 0};
    for (const Vec3d& corner : tet) {
      const auto crossing = walk.FirstCrossing(point, corner);
      if (crossing && crossing->at < first.at) first = *crossing;
    }
    if (first.at > 1.0) continue;
    shares[copy_of_triangle[first.triangle]] += 1.0;
    sum += 1.0;
  }
  for (double& share : shares) share = std::max(sum > 0.0 ? share / sum : 0.0, kLeastShare);
  return shares;
}

}  // namespace

std::vector<double> WeighPieces(const SolidSurface& surface, const InsideTest& inside,
                                const SplitCage& cage) {
  std::vector<double> weights(cage.mesh.tets.size());
  for (uint32_t t = 0; t < weights.size(); ++t) weights[t] = TetVolume(CornersOf(cage.mesh, t));
  std::vector<std::vector<uint32_t>> groups;  // of at least two copies
  for (const auto& [lattice_tet, copies] : cage.CopiesByLatticeTet()) {
    if (copies.size() > 1) groups.push_back(copies);
  }
  tbb::parallel_for(size_t{0}, groups.size(), [&](size_t g) {
    const auto shares = SharesOf(surface, inside, cage, groups[g]);
    for (size_t i = 0; i < groups[g].size(); ++i) weights[groups[g][i]] *= shares[i];
  });
  return weights;
}

}  // namespace plush::tools
