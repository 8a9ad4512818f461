// SPDX-License-Identifier: MIT
// Which triangles of a simplified surface stand for each triangle of the original.
#pragma once

#include "base/vec3.h"
#include "mesh/box3.h"
#include "mesh/surface_distance.h"
#include "simplify/collapsing_surface.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// Keeps, for each triangle of the original, triangles of the simplified surface within a distance
/// of which all its points lie. Pieces of an original triangle may have different ones.
class RepresentedTriangles {
 public:
  /// Keeps the spans. At first every triangle represents itself. `limit` [m].
  RepresentedTriangles(std::span<const Vec3d> points,
                       std::span<const std::array<uint32_t, 3>> triangles, double limit);

  /// Whether all triangles for which those at `from` stand now find others, once `from` is moved to
  /// `to`: the moved triangles, or those around them. The answer is kept for Commit.
  bool CanCollapse(const CollapsingSurface& surface, uint32_t from, uint32_t to);

  /// Accepts the collapse that CanCollapse has last allowed. Call it before the surface collapses.
  void Commit(const CollapsingSurface& surface, uint32_t from);

 private:
  // A set of candidates, as bits.
  using Mask = uint64_t;
  static constexpr size_t kMaxCandidates = 64;

  void ListCandidates(const CollapsingSurface& surface, uint32_t from, uint32_t to);
  void ListOriginals(const CollapsingSurface& surface, uint32_t from);
  Mask MaskOf(const Vec3d& p) const;
  Mask MaskOfPoint(uint32_t point);
  bool Cover(const Triangle3& triangle, const std::array<Mask, 3>& masks, Mask* used) const;

  std::span<const Vec3d> points_;
  std::span<const std::array<uint32_t, 3>> triangles_;
  double limit_;
  std::vector<std::vector<uint32_t>> stands_for_;  // originals, by simplified triangle, ascending
  // Of the last CanCollapse:
  struct Candidate {
    uint32_t triangle = 0;
    Triangle3 corners;
    Box3 reach;  // box of the triangle, larger by the limit
  };
  std::vector<Candidate> candidates_;
  std::vector<uint32_t> originals_;
  std::vector<Mask> used_;  // parallel to originals_
  uint32_t round_ = 0;
  std::vector<uint32_t> round_of_point_;  // in which mask_of_point_ was set
  std::vector<Mask> mask_of_point_;
};

}  // namespace plush::tools
