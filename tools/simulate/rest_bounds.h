// SPDX-License-Identifier: MIT
// Sizes of baked bodies at rest: what scenes are laid out by.
#pragma once

#include "plush/asset.h"
#include "plush/types.h"

#include "base/vec3.h"

#include <span>

namespace plush::tools {

/// An axis-aligned box.
struct Bounds {
  Vec3d low;   ///< [m]
  Vec3d high;  ///< [m]
};

/// `point` turned by `rotation` (unit).
Vec3d Rotate(const Quat& rotation, const Vec3d& point);

/// Box of `points` after turning them by `rotation`; a box of zeros without points.
Bounds BoundsOf(std::span<const Vec3> points, const Quat& rotation = {});

/// Box of the render surface at rest, turned; of the cage where the file has no render vertices.
Bounds SurfaceBounds(const Asset& asset, const Quat& rotation = {});

/// Box of the cage's nodes at rest.
Bounds CageBounds(const Asset& asset);

inline Vec3d Extent(const Bounds& bounds) { return bounds.high - bounds.low; }

}  // namespace plush::tools
