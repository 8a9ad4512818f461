// SPDX-License-Identifier: MIT
// Turns a solid into voxels and counts the tets and pieces into which a lattice cuts them.
// Evenly spread samples mark the surface, rays along x mark the inside.
#include "lattice/solid_voxels.h"

#include "mesh/disjoint_sets.h"
#include "solid/surface_columns.h"

#include <algorithm>
#include <cmath>

namespace plush::tools {
namespace {

// Steps of a sequence that fills the unit square evenly: powers of 1/g, where g^3 = g + 1.
constexpr double kStepU = 0.7548776662466927;
constexpr double kStepV = 0.5698402909980532;

// Samples per area of a voxel's face.
constexpr double kSamples = 4.0;

}  // namespace

SolidVoxels::SolidVoxels(const SolidSurface& surface, double edge)
    : box_(BoxOf(surface)), edge_(edge) {
  const Vec3d size = box_.Extent();
  for (int axis = 0; axis < 3; ++axis) {
    counts_[static_cast<size_t>(axis)] = static_cast<int>(size[axis] / edge) + 1;
  }
  std::vector<bool> marks(static_cast<size_t>(counts_[0]) * static_cast<size_t>(counts_[1]) *
                          static_cast<size_t>(counts_[2]));
  MarkSurface(surface, &marks);
  const std::vector<bool> on_surface = marks;
  MarkInside(surface, &marks);
  ListVoxels(marks, on_surface);
}

int SolidVoxels::Index(int axis, double coordinate) const {
  const auto index = static_cast<int>((coordinate - box_.low[axis]) / edge_);
  return std::clamp(index, 0, counts_[static_cast<size_t>(axis)] - 1);
}

size_t SolidVoxels::At(int x, int y, int z) const {
  return static_cast<size_t>((z * counts_[1] + y) * counts_[0] + x);
}

// Marks the voxels that hold one of the samples, which are spread evenly over the triangles.
void SolidVoxels::MarkSurface(const SolidSurface& surface, std::vector<bool>* marks) {
  const double per_sample = 2.0 * edge_ * edge_ / kSamples;
  double due = 0.5;
  double u = 0.5;
  double v = 0.5;
  for (const auto& [ia, ib, ic] : surface.triangles) {
    const Vec3d& a = surface.points[ia];
    const Vec3d ab = surface.points[ib] - a;
    const Vec3d ac = surface.points[ic] - a;
    due += Length(Cross(ab, ac)) / per_sample;
    for (; due >= 1.0; due -= 1.0) {
      u += kStepU;
      v += kStepV;
      u -= std::floor(u);
      v -= std::floor(v);
      const bool folded = u + v > 1.0;
      const Vec3d p = a + ab * (folded ? 1.0 - u : u) + ac * (folded ? 1.0 - v : v);
      (*marks)[At(Index(0, p.x), Index(1, p.y), Index(2, p.z))] = true;
      samples_.push_back(p);
    }
  }
}

// Marks the voxels with a centre inside, by rays through the centres.
void SolidVoxels::MarkInside(const SolidSurface& surface, std::vector<bool>* marks) const {
  const Vec3d first = box_.low + Vec3d{0.5, 0.5, 0.5} * edge_;
  const SurfaceColumns columns(surface, {first.y, first.z, edge_, counts_[1], counts_[2]});
  for (int z = 0; z < counts_[2]; ++z) {
    for (int y = 0; y < counts_[1]; ++y) {
      const auto& column = columns.At(y, z);
      int winding = 0;
      for (size_t k = 0; k + 1 < column.size(); ++k) {
        winding += column[k].sign;
        if (winding == 0) continue;
        const auto begin = static_cast<int>(std::ceil((column[k].x - first.x) / edge_));
        for (int x = std::max(0, begin); x < counts_[0]; ++x) {
          if (first.x + x * edge_ >= column[k + 1].x) break;
          (*marks)[At(x, y, z)] = true;
        }
      }
    }
  }
}

void SolidVoxels::ListVoxels(const std::vector<bool>& marks, const std::vector<bool>& on_surface) {
  std::vector<uint32_t> number(marks.size(), UINT32_MAX);
  for (int z = 0; z < counts_[2]; ++z) {
    for (int y = 0; y < counts_[1]; ++y) {
      for (int x = 0; x < counts_[0]; ++x) {
        if (!marks[At(x, y, z)]) continue;
        number[At(x, y, z)] = static_cast<uint32_t>(voxels_.size());
        voxels_.push_back({x, y, z});
        on_surface_.push_back(on_surface[At(x, y, z)]);
      }
    }
  }
  for (const auto& [x, y, z] : voxels_) {
    next_.push_back({x + 1 < counts_[0] ? number[At(x + 1, y, z)] : UINT32_MAX,
                     y + 1 < counts_[1] ? number[At(x, y + 1, z)] : UINT32_MAX,
                     z + 1 < counts_[2] ? number[At(x, y, z + 1)] : UINT32_MAX});
  }
}

// The tet that holds the centre of each voxel.
std::vector<uint32_t> SolidVoxels::TetsOfVoxels(const Lattice& lattice) const {
  std::array<std::vector<Lattice::PlaceOnAxis>, 3> places;
  for (size_t axis = 0; axis < 3; ++axis) {
    const auto a = static_cast<int>(axis);
    for (int i = 0; i < counts_[axis]; ++i) {
      places[axis].push_back(lattice.FindOnAxis(a, box_.low[a] + (i + 0.5) * edge_));
    }
  }
  std::vector<uint32_t> tets;
  tets.reserve(voxels_.size());
  for (const auto& [x, y, z] : voxels_) {
    tets.push_back(lattice.TetAt(places[0][static_cast<size_t>(x)],
                                 places[1][static_cast<size_t>(y)],
                                 places[2][static_cast<size_t>(z)]));
  }
  return tets;
}

SolidVoxels::Cut SolidVoxels::CutBy(const Lattice& lattice) const {
  const std::vector<uint32_t> tets = TetsOfVoxels(lattice);
  std::vector<uint8_t> seen(lattice.num_tets(), 0);
  for (const uint32_t tet : tets) seen[tet] = 1;
  DisjointSets pieces(static_cast<uint32_t>(voxels_.size()));
  Cut cut;
  cut.tets = static_cast<uint32_t>(std::count(seen.begin(), seen.end(), uint8_t{1}));
  cut.pieces = static_cast<uint32_t>(voxels_.size());
  for (uint32_t v = 0; v < voxels_.size(); ++v) {
    for (const uint32_t other : next_[v]) {
      if (other == UINT32_MAX || tets[other] != tets[v]) continue;
      cut.pieces -= pieces.Join(v, other) ? 1 : 0;
    }
  }
  return cut;
}

uint32_t SolidVoxels::CountTets(const Lattice& lattice) const {
  std::vector<uint8_t> seen(lattice.num_tets(), 0);
  for (const Vec3d& sample : samples_) seen[lattice.TetAt(sample)] = 1;
  const std::vector<uint32_t> tets = TetsOfVoxels(lattice);
  for (size_t v = 0; v < tets.size(); ++v) {
    if (!on_surface_[v]) seen[tets[v]] = 1;
  }
  return static_cast<uint32_t>(std::count(seen.begin(), seen.end(), uint8_t{1}));
}

}  // namespace plush::tools
