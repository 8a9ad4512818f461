// SPDX-License-Identifier: MIT
// A surface that only changes by collapses that simplify.h allows: they keep its shape, its
// distance from the original, and its place in the cage.
#pragma once

#include "enclosure/enclosure.h"
#include "lattice/cage_boundary.h"
#include "mesh/surface_distance.h"
#include "simplify/collapsing_surface.h"
#include "simplify/moving_triangles.h"
#include "simplify/represented_triangles.h"
#include "simplify/simplify.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// Twice the area, along the normal.
inline Vec3d NormalOf(const Triangle3& t) { return Cross(t[1] - t[0], t[2] - t[0]); }

/// What became of a collapse: done, or why it was refused.
enum class Verdict { kDone, kMisshapen, kEscaping, kTooFar };

class TestedSurface {
 public:
  /// `limit`: largest distance from the original [m]. The arguments must outlive it.
  TestedSurface(const SolidSurface& surface, const TetMesh& mesh,
                std::span<const uint32_t> tet_of_point, double limit);

  /// The triangles that are left.
  const CollapsingSurface& left() const { return left_; }
  Triangle3 CornersOf(uint32_t t) const {
    const auto& [a, b, c] = left_.corners(t);
    return {surface_.points[a], surface_.points[b], surface_.points[c]};
  }

  /// Moves the triangles at `from` to `to`, if that passes all tests.
  Verdict TryCollapse(uint32_t from, uint32_t to);

  /// Numbers the points that are left, in their order. Measures the distance.
  void Compact(SimplifiedSurface* result) const;

 private:
  // The triangles that a collapse moves.
  struct Moved {
    uint32_t triangle = 0;
    std::array<uint32_t, 3> ids = {};
    Triangle3 corners;
  };

  std::vector<Moved> MovedBy(uint32_t from, uint32_t to) const;
  bool KeepsShape(uint32_t from, const std::vector<Moved>& moved) const;
  bool IsUnfolded(uint32_t from, const Moved& m, const std::vector<Moved>& moved) const;
  double DistanceByHeights(uint32_t from, const std::vector<Moved>& moved) const;
  bool IsNear(const Triangle3& corners) const;
  static Box3 BoxOfTriangle(const Triangle3& corners);
  bool PassesThrough(uint32_t from, const std::vector<Moved>& moved) const;
  void MoveBoxes(uint32_t from, const std::vector<Moved>& moved);
  bool IsEnclosed(const Moved& m) const;
  double MeasureDistance(const SolidSurface& copy) const;

  const SolidSurface& surface_;
  std::span<const uint32_t> tet_of_point_;
  const double limit_;
  const CageFaces faces_;
  const EnclosureTest enclosure_;
  const SurfaceDistance original_;
  RepresentedTriangles represented_;
  CollapsingSurface left_;
  MovingTriangles boxes_;          // of the triangles left
  std::vector<uint8_t> may_meet_;  // whether a triangle, or one that it replaces, met another one
  std::vector<double> distance_;   // of each triangle from the original, a bound [m]
  std::vector<uint8_t> is_held_;   // whether the point lies in its tet
};

}  // namespace plush::tools
