// SPDX-License-Identifier: MIT
// The render surface of a deformed body.
#pragma once

#include "world/body.h"

#include <span>

namespace plush {

/// World position [m] of a point in the body's coordinates.
inline Vec3 WorldPosition(const Body& body, const Vec3& local) {
  return {static_cast<float>(body.origin[0] + double(local.x)),
          static_cast<float>(body.origin[1] + double(local.y)),
          static_cast<float>(body.origin[2] + double(local.z))};
}

/// World positions of the render vertices [m] (num_vertices x 1): barycentric combinations of
/// nodes.
void SkinPositions(const Body& body, std::span<Vec3> positions);

/// Unit normals (num_vertices x 1): rest normals through the cofactor of each tet's F.
void SkinNormals(const Body& body, std::span<Vec3> normals);

}  // namespace plush
