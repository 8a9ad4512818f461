// SPDX-License-Identifier: MIT
// A triangle surface whose edges are collapsed, one by one, without a change of its topology.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// Triangles by number and the triangles around each point. Collapsed triangles keep their number.
class CollapsingSurface {
 public:
  /// Corners of a triangle differ. O(n log n).
  CollapsingSurface(uint32_t num_points, std::span<const std::array<uint32_t, 3>> triangles);

  const std::array<uint32_t, 3>& corners(uint32_t t) const { return triangles_[t]; }
  bool is_left(uint32_t t) const { return is_left_[t] != 0; }
  /// Number of triangles that are left.
  uint32_t num_left() const { return num_left_; }
  /// Triangles at a point.
  const std::vector<uint32_t>& Around(uint32_t point) const { return around_[point]; }

  /// A point that is joined to another one by an edge, and the number of triangles at the edge.
  struct Neighbour {
    uint32_t point = 0;
    uint32_t num_triangles = 0;
  };
  /// The neighbours of a point, ascending.
  std::vector<Neighbour> NeighboursOf(uint32_t point) const;

  /// Whether the triangles at `point` form one fan and none of them has an edge of more than two
  /// triangles, or of two that run along it in one direction. Only such points may go. They are
  /// known from the start: no collapse makes or mends such an edge.
  bool MayGo(uint32_t point) const { return may_go_[point] != 0; }

  /// Whether moving point `from` to its neighbour `to` keeps the surface's topology [Dey, link
  /// condition]: no piece, hole or handle appears or vanishes, no triangle is laid on another, and
  /// borders move along themselves only.
  bool CanCollapse(uint32_t from, uint32_t to) const;

  /// Moves point `from` to its neighbour `to`. The triangles of their edge vanish.
  void Collapse(uint32_t from, uint32_t to);

 private:
  std::vector<std::array<uint32_t, 3>> triangles_;
  std::vector<uint8_t> is_left_;
  std::vector<std::vector<uint32_t>> around_;
  std::vector<uint8_t> may_go_;
  uint32_t num_left_ = 0;
};

}  // namespace plush::tools
