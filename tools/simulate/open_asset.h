// SPDX-License-Identifier: MIT
// Opens baked bodies and measures them at rest.
#pragma once

#include "plush/asset.h"
#include "plush/types.h"

#include "base/result.h"
#include "base/vec3.h"
#include "mesh/box3.h"

#include <span>
#include <string>

namespace plush::tools {

/// Opens a .plush file without trusting it. Errors name the file, the section and a remedy: kIo
/// (unreadable), kUnsupported (another version or layout), kLimit (out of memory), kInvalidInput
/// (anything else).
Result<Asset> OpenAsset(const std::string& path);

/// The same for a soft body. Error besides: kUnsupported (a static mesh).
Result<Asset> OpenBody(const std::string& path);

/// `point` turned by `rotation` (unit).
Vec3d Rotate(const Quat& rotation, const Vec3d& point);

/// Box of `points` turned by `rotation`; empty if there are none.
Box3 BoundsOf(std::span<const Vec3> points, const Quat& rotation = {});

/// Box of the render surface at rest, turned; of the cage if the file has no render vertices.
Box3 SurfaceBounds(const Asset& asset, const Quat& rotation = {});

/// Least dot(direction, x) of what a body with its cage's nodes at `nodes` [m] (num_nodes x 1)
/// touches with: the vertices of its collision surface, or the nodes of a cage without one.
double LowestAlong(const Vec3d& direction, const Asset& asset, std::span<const Vec3> nodes);

}  // namespace plush::tools
