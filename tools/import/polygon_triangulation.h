// SPDX-License-Identifier: MIT
// Cuts polygons into triangles, also those that are not convex.
#pragma once

#include "plush/types.h"

#include "base/vec3.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// Cuts polygons. One object serves many polygons, so that it need not allocate for each.
class PolygonCutter {
 public:
  /// Cuts the polygon of `corners` into n - 2 triangles, whose corners are numbers of its corners
  /// in its order of turning; none for n < 3. The result is valid until the next call.
  /// - The triangles of a simple polygon lie inside it and do not overlap, seen along the largest
  ///   component of its area vector. Signs are exact.
  /// - A triangle has no area only if nothing else is left to cut, as at a spike.
  /// - Polygons that cross themselves, and corners that are not finite, give some triangles.
  ///
  /// O(n (1 + r)) as a rule, where r corners are not convex.
  std::span<const std::array<uint32_t, 3>> Cut(std::span<const Vec3> corners);

 private:
  // Which corners may be cut off: those of free ears, those of ears, flat ones too, any.
  enum class Choice { kFree, kEar, kFlat, kAny };

  int Turn(uint32_t a, uint32_t b, uint32_t c) const;
  void ChooseAxis();
  bool FitsFan(uint32_t first) const;
  void Fan(uint32_t first);
  bool IsFree(uint32_t ear) const;
  bool May(uint32_t corner, Choice choice) const;
  void ClipEars();

  std::vector<std::array<uint32_t, 3>> triangles_;
  std::vector<Vec3d> points_;
  std::vector<uint32_t> previous_, next_;  // of the corners that are left; itself if it is not
  std::vector<uint32_t> not_convex_;       // of all corners
  int axis_ = 0;                           // along which the polygon is seen
  int turn_ = 1;                           // sign of its area, seen so
};

}  // namespace plush::tools
