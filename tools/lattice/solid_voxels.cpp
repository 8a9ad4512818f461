// SPDX-License-Identifier: MIT
// Turns a solid into voxels and counts the tets and pieces into which a lattice cuts them.
// Evenly spread samples mark the surface, rays along x mark the inside.
#include "lattice/solid_voxels.h"

#include "lattice/id_map.h"
#include "mesh/disjoint_sets.h"
#include "solid/solid_volume.h"
#include "solid/surface_columns.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace plush::tools {
namespace {

// Steps of a sequence that fills the unit square evenly: powers of 1/g, where g^3 = g + 1.
constexpr double kStepU = 0.7548776662466927;
constexpr double kStepV = 0.5698402909980532;

// Samples per area of a voxel's face.
constexpr double kSamples = 4.0;

// Voxels of FinestEdge.
constexpr double kMostVoxels = 1e6;

}  // namespace

SolidVoxels::SolidVoxels(const SolidSurface& surface, double edge)
    : box_(BoxOf(surface)), edge_(edge) {
  const Vec3d size = box_.Extent();
  for (int axis = 0; axis < 3; ++axis) {
    counts_[static_cast<size_t>(axis)] = static_cast<int>(size[axis] / edge) + 1;
  }
  const std::vector<uint64_t> on_surface = FindOnSurface(surface);
  ListVoxels(on_surface, FindInside(surface));
}

double SolidVoxels::FinestEdge(const SolidSurface& surface) {
  const double area = SurfaceArea(surface);
  const double volume = std::abs(SignedVolume(surface));
  // No cube root: those of different platforms differ.
  double edge = std::sqrt(area / kMostVoxels);
  while (area * edge + volume > kMostVoxels * edge * edge * edge) edge *= 1.1;
  return edge;
}

int SolidVoxels::Index(int axis, double coordinate) const {
  const auto index = static_cast<int>((coordinate - box_.low[axis]) / edge_);
  return std::clamp(index, 0, counts_[static_cast<size_t>(axis)] - 1);
}

// Ascending in z, then y, then x.
uint64_t SolidVoxels::KeyOf(int x, int y, int z) const {
  const auto count_x = static_cast<uint64_t>(counts_[0]);
  const auto count_y = static_cast<uint64_t>(counts_[1]);
  return (static_cast<uint64_t>(z) * count_y + static_cast<uint64_t>(y)) * count_x +
         static_cast<uint64_t>(x);
}

// The voxels that hold one of the samples, which are spread evenly over the triangles; ascending.
std::vector<uint64_t> SolidVoxels::FindOnSurface(const SolidSurface& surface) {
  const double per_sample = 2.0 * edge_ * edge_ / kSamples;
  double due = 0.5;
  double u = 0.5;
  double v = 0.5;
  std::vector<uint64_t> keys;
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
      keys.push_back(KeyOf(Index(0, p.x), Index(1, p.y), Index(2, p.z)));
      samples_.push_back(p);
    }
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

// The voxels with a centre inside, by rays through the centres; ascending.
std::vector<uint64_t> SolidVoxels::FindInside(const SolidSurface& surface) const {
  const Vec3d first = box_.low + Vec3d{0.5, 0.5, 0.5} * edge_;
  const SurfaceColumns columns(surface, {first.y, first.z, edge_, counts_[1], counts_[2]});
  std::vector<uint64_t> keys;
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto [y, z, column] = columns[i];
    int winding = 0;
    for (size_t k = 0; k + 1 < column.size(); ++k) {
      winding += column[k].sign;
      if (winding == 0) continue;
      const auto begin = static_cast<int>(std::ceil((column[k].x - first.x) / edge_));
      for (int x = std::max(0, begin); x < counts_[0]; ++x) {
        if (first.x + x * edge_ >= column[k + 1].x) break;
        keys.push_back(KeyOf(x, y, z));
      }
    }
  }
  return keys;
}

// Numbers all voxels in the order of their keys, and finds their neighbours.
void SolidVoxels::ListVoxels(const std::vector<uint64_t>& on_surface,
                             const std::vector<uint64_t>& inside) {
  std::vector<uint64_t> keys;
  std::set_union(on_surface.begin(), on_surface.end(), inside.begin(), inside.end(),
                 std::back_inserter(keys));
  const auto count_x = static_cast<uint64_t>(counts_[0]);
  const auto count_y = static_cast<uint64_t>(counts_[1]);
  next_.resize(keys.size(), {UINT32_MAX, UINT32_MAX, UINT32_MAX});
  // The neighbours along an axis have ascending keys too: one walk finds them all.
  const std::array<uint64_t, 3> steps = {1, count_x, count_x * count_y};
  std::array<size_t, 3> at = {};
  auto surface = on_surface.begin();
  for (size_t v = 0; v < keys.size(); ++v) {
    const uint64_t key = keys[v];
    const std::array<int, 3> voxel = {static_cast<int>(key % count_x),
                                      static_cast<int>(key / count_x % count_y),
                                      static_cast<int>(key / count_x / count_y)};
    for (size_t axis = 0; axis < 3; ++axis) {
      while (at[axis] < keys.size() && keys[at[axis]] < key + steps[axis]) ++at[axis];
      if (at[axis] == keys.size() || keys[at[axis]] != key + steps[axis]) continue;
      if (voxel[axis] + 1 < counts_[axis]) next_[v][axis] = static_cast<uint32_t>(at[axis]);
    }
    while (surface != on_surface.end() && *surface < key) ++surface;
    on_surface_.push_back(surface != on_surface.end() && *surface == key);
    voxels_.push_back(voxel);
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
  IdMap<bool> seen(false);
  for (const uint32_t tet : tets) seen.At(tet) = true;
  DisjointSets pieces(static_cast<uint32_t>(voxels_.size()));
  Cut cut;
  cut.tets = static_cast<uint32_t>(seen.size());
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
  IdMap<bool> seen(false);
  for (const Vec3d& sample : samples_) seen.At(lattice.TetAt(sample)) = true;
  const std::vector<uint32_t> tets = TetsOfVoxels(lattice);
  for (size_t v = 0; v < tets.size(); ++v) {
    if (!on_surface_[v]) seen.At(tets[v]) = true;
  }
  return static_cast<uint32_t>(seen.size());
}

}  // namespace plush::tools
