// SPDX-License-Identifier: MIT
// Walks through the material inside one tet.
#pragma once

#include "base/vec3.h"
#include "solid/inside.h"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace plush::tools {

/// Where a walk ended.
struct WalkEnd {
  enum class Kind { kLost, kTriangle, kCorner };
  Kind kind = Kind::kLost;
  uint32_t index = 0;  ///< of the triangle in the list, or of the tet's corner
};

/// Walks in one tet, between the triangles near it.
class MaterialWalk {
 public:
  /// Keeps references to all three.
  MaterialWalk(const std::array<Vec3d, 4>& tet, const std::vector<std::array<Vec3d, 3>>& triangles,
               const InsideTest& inside)
      : tet_(tet), triangles_(triangles), inside_(inside) {}

  /// Walks from a point of triangle `start` that lies in the tet to the first other triangle.
  /// - The walk starts at a right angle to the triangle: behind it if `side` is -1, in front of it
  ///   if `side` is 1 (there is material in front of a surface that lies inside another one).
  /// - If it reaches a face of the tet first, it goes on within the face. If it then reaches an
  ///   edge, it goes on along the edge and ends at a corner if it meets no triangle.
  /// - The result is kLost if the triangle does not enter the tet, if `matters` returns false for
  ///   the end, or if a part of the walk runs outside the material. `matters` is called first,
  ///   because testing for material is expensive.
  /// O(number of triangles).
  WalkEnd From(uint32_t start, double side,
               const std::function<bool(const WalkEnd&)>& matters) const;

  /// A point where a segment crosses a triangle.
  struct Crossing {
    double at = 0.0;  ///< share of the segment's length
    uint32_t triangle = 0;
  };
  /// All crossings of the segment between its ends, ascending.
  std::vector<Crossing> CrossingsOf(const Vec3d& from, const Vec3d& to) const;
  /// The first crossing with any triangle but `without`.
  std::optional<Crossing> FirstCrossing(const Vec3d& from, const Vec3d& to,
                                        uint32_t without = UINT32_MAX) const;

 private:
  std::optional<double> CrossingWith(uint32_t triangle, const Vec3d& from, const Vec3d& to) const;
  static constexpr uint32_t kNothing = UINT32_MAX;
  // One straight leg of a walk.
  struct Leg {
    Vec3d begin;
    Vec3d end;
    uint32_t hit = kNothing;  // triangle, if it hit one
  };
  Leg WalkTo(const Vec3d& from, const Vec3d& to, uint32_t without) const;

  const std::array<Vec3d, 4>& tet_;
  const std::vector<std::array<Vec3d, 3>>& triangles_;
  const InsideTest& inside_;
};

}  // namespace plush::tools
