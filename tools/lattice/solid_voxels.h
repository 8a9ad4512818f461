// SPDX-License-Identifier: MIT
// A solid as voxels, to predict quickly what cage a lattice makes of it.
#pragma once

#include "base/vec3.h"
#include "lattice/lattice.h"
#include "mesh/box3.h"
#include "solid/solid_surface.h"

#include <array>
#include <cstdint>
#include <vector>

namespace plush::tools {

/// The voxels that the surface passes through, and those inside it.
class SolidVoxels {
 public:
  /// `edge` is that of a voxel [m], at least FinestEdge. Signed crossings of rays along x decide
  /// what is inside: a guess if the surface is open. O(n log n) for n triangles, samples and
  /// voxels, whatever the size of the bounding box.
  SolidVoxels(const SolidSurface& surface, double edge);

  /// The edge with which about a million voxels fill the solid and cover its surface [m].
  static double FinestEdge(const SolidSurface& surface);

  /// Numbers of tets and pieces into which a lattice cuts the voxels.
  struct Cut {
    uint32_t tets = 0;    ///< tets that hold the centre of a voxel
    uint32_t pieces = 0;  ///< groups of connected voxels, counted in each tet; at least `tets`
  };
  /// O(voxels).
  Cut CutBy(const Lattice& lattice) const;

  /// Number of tets that the surface passes through, or that hold the centre of a voxel wholly
  /// inside. Predicts a cage better than Cut::tets does, because voxels on the surface are thicker
  /// than the solid. O(samples + voxels).
  uint32_t CountTets(const Lattice& lattice) const;

  double edge() const { return edge_; }  ///< [m]
  size_t num_voxels() const { return voxels_.size(); }

 private:
  int Index(int axis, double coordinate) const;
  uint64_t KeyOf(int x, int y, int z) const;
  std::vector<uint32_t> TetsOfVoxels(const Lattice& lattice) const;
  std::vector<uint64_t> FindOnSurface(const SolidSurface& surface);
  std::vector<uint64_t> FindInside(const SolidSurface& surface) const;
  void ListVoxels(const std::vector<uint64_t>& on_surface, const std::vector<uint64_t>& inside);

  Box3 box_;
  double edge_;
  std::array<int, 3> counts_ = {};
  std::vector<std::array<int, 3>> voxels_;     // indices along the axes
  std::vector<bool> on_surface_;               // per voxel
  std::vector<Vec3d> samples_;                 // points of the surface [m]
  std::vector<std::array<uint32_t, 3>> next_;  // the neighbours towards +x, +y, +z, or UINT32_MAX
};

}  // namespace plush::tools
