// SPDX-License-Identifier: MIT
// Puts a partitioned surface into the order and the records of the file.
#pragma once

#include "mesh/tet_mesh.h"
#include "partition/collision_data.h"
#include "partition/cut_surface.h"
#include "partition/patches.h"

#include <cstdint>
#include <span>

namespace plush::tools {

/// Which record a triangle gets.
enum class TriangleRecord : uint8_t {
  kSmallest,  ///< packed up to kMaxPackedFeatures vertices and triangles, else wide
  kWide,      ///< wide
};

/// Lays out `surface`, cut by the tets of `mesh` (nodes numbered as in the file) and parted into
/// `patches`: the tree over the tets and their order, trees and order of triangles in each patch,
/// vertices of each patch in the order of first use, links, and rest-shape sums in double
/// precision of the places that the float weights give. `triangle_of_source` translates
/// CutSurface::sources for the map to the source; empty: no map. O(n log^2 n), deterministic for
/// any thread count.
CollisionData LayOutCollision(const CutSurface& surface, const SurfacePatches& patches,
                              const TetMesh& mesh, std::span<const uint32_t> triangle_of_source,
                              TriangleRecord record = TriangleRecord::kSmallest);

}  // namespace plush::tools
