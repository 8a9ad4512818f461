// SPDX-License-Identifier: MIT
// Winding number of a surface about a vertex of another, by the exact signs of triangle_pairs.h.
#pragma once

#include "intersection/placed_surface.h"

namespace plush {

/// How often the closed `surface` winds about `vertex`, a point of the other surface in the common
/// coordinates [m]: 0 outside, 1 inside, more if the surface overlaps itself. It is the sum of the
/// crossings of an edge to a point outside. Touching vertices get the sides that the pairs gave
/// them. Does not allocate.
int WindingAbout(const PlacedSurface& surface, const Vec3& vertex);

/// A box around a surface in the common coordinates, with a margin: about a vertex outside, its
/// winding number is 0.
struct SurfaceBox {
  float low[3], high[3];

  /// Everything, if the surface has no bounds.
  explicit SurfaceBox(const PlacedSurface& surface);
  bool Holds(const Vec3& p) const {
    return p.x >= low[0] && p.x <= high[0] && p.y >= low[1] && p.y <= high[1] && p.z >= low[2] &&
           p.z <= high[2];
  }
  bool Holds(const LaneBox& box) const {
    return Holds(Vec3{box.low[0], box.low[1], box.low[2]}) &&
           Holds(Vec3{box.high[0], box.high[1], box.high[2]});
  }
};

}  // namespace plush
