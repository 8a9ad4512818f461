// SPDX-License-Identifier: MIT
// Walks through the material inside one tet.
#pragma once

#include "base/vec3.h"
#include "solid/inside.h"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace plush::tools {

/// Where a walk ended.
struct WalkEnd {
  enum class Kind { kLost, kTriangle, kCorner };
  Kind kind = Kind::kLost;
  uint32_t index = 0;  ///< of the triangle in the list, or of the tet's corner
};

/// One tet and the triangles near it.
class MaterialWalk {
 public:
  /// Keeps references to both.
  MaterialWalk(const std::array<Vec3d, 4>& tet, const std::vector<std::array<Vec3d, 3>>& triangles,
               const InsideTest& inside)
      : tet_(tet), triangles_(triangles), inside_(inside) {}

  /// From a point of triangle `start` inside the tet straight into the material behind it (`side`
  /// -1) or before it (1: a surface inside another), to the
  /// first other triangle; where the walk leaves the tet first, on along the face, then along the
  /// edge, to a corner. kLost where the triangle does not enter the tet or has no material behind
  /// it, or where `matters` says that the end is of no interest (asked before the material is,
  /// which is dear). O(number of triangles).
  WalkEnd From(uint32_t start, double side,
               const std::function<bool(const WalkEnd&)>& matters) const;

  /// Where a segment passes a triangle, as a share of its length.
  struct Crossing {
    double at = 0.0;
    uint32_t triangle = 0;
  };
  /// All crossings of the open segment, ascending.
  std::vector<Crossing> CrossingsOf(const Vec3d& from, const Vec3d& to) const;
  /// The first crossing with another triangle than `without`.
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
  bool AreInMaterial(std::span<const Leg> legs) const;

  const std::array<Vec3d, 4>& tet_;
  const std::vector<std::array<Vec3d, 3>>& triangles_;
  const InsideTest& inside_;
};

}  // namespace plush::tools
