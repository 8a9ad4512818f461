// SPDX-License-Identifier: MIT
// The collision surface of a file, taken out of its records.
#pragma once

#include "plush/asset.h"
#include "plush/format/cdg_records.h"

#include "base/vec3.h"

#include <cstdint>
#include <vector>

namespace plush::tools {

/// Elements [begin, end).
struct Run {
  uint32_t begin = 0;
  uint32_t end = 0;
};

/// Triangles unpacked, runs of patches looked up. Needs a file whose collision sections have passed
/// Asset::Open's checks, which must outlive it.
struct UnpackedCollision {
  CollisionView view;
  std::vector<CdgTriangleFields> triangles;  ///< (num_triangles x 1)
  std::vector<uint32_t> patch_of_triangle;   ///< (num_triangles x 1)

  explicit UnpackedCollision(const CollisionView& collision);

  Run Patches(uint32_t tet) const;
  Run Triangles(uint32_t patch) const;
  Run Vertices(uint32_t patch) const;
  Run Links(uint32_t patch) const;
};

/// Place of a vertex of `patch` at rest, by its weights [m].
Vec3d RestPlace(const Asset& asset, const CdgPatch& patch, uint32_t vertex);

}  // namespace plush::tools
