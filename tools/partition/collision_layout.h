// SPDX-License-Identifier: MIT
// Turns a partitioned surface (CDG [Civ 5.4.1]) into the records of the file.
#pragma once

#include "plush/format/cdg_records.h"

#include "mesh/tet_mesh.h"
#include "partition/cut_surface.h"
#include "partition/patches.h"

#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// The Collision table of schemas/plush.fbs; all empty for a body without a collision surface.
struct CollisionData {
  std::vector<CdgTet> tets;                     ///< in the order of the tree's leaves
  std::vector<uint32_t> tree;                   ///< (2 num_tets - 1 x 1)
  std::vector<CdgPatch> patches;                ///< in the order of their tets
  std::vector<uint32_t> links;                  ///< patches beside each patch; see kSeamLink
  std::vector<CdgTriangle> triangles;           ///< (num_triangles x 1), or empty: wide
  std::vector<CdgWideTriangle> wide_triangles;  ///< (num_triangles x 1), or empty: packed
  std::vector<Vec4> vertices;                   ///< weights (num_vertices x 1)
  std::vector<uint32_t> source_triangles;       ///< (num_triangles x 1, or empty)
  float thickness = 0.0f;                       ///< of the body [m]; see CollisionView
};

/// Size of all records [bytes], with or without the map to source triangles.
inline uint64_t CollisionBytes(const CollisionData& data, bool with_sources = true) {
  return data.tets.size() * sizeof(CdgTet) + data.tree.size() * 4 +
         data.patches.size() * sizeof(CdgPatch) + data.links.size() * 4 +
         data.triangles.size() * sizeof(CdgTriangle) +
         data.wide_triangles.size() * sizeof(CdgWideTriangle) +
         data.vertices.size() * sizeof(Vec4) +
         (with_sources ? data.source_triangles.size() * 4 : 0);
}

enum class TriangleRecord : uint8_t {
  kSmallest,  ///< packed up to kMaxPackedFeatures vertices and triangles, else wide
  kWide,      ///< always wide
};

/// Lays out `surface`, cut by the tets of `mesh` (nodes numbered as in the file) and divided into
/// `patches`:
/// - tets are in the order of their tree, the triangles of a patch in that of the patch's tree;
/// - vertices of a patch are in the order of first use;
/// - areas and centroids are sums in double over the positions that the float weights give;
/// - thicknesses are those of MeasureThickness between these positions.
/// `triangle_of_source` translates CutSurface::sources for source_triangles; empty: none are
/// stored. O(n log^2 n), deterministic for any thread count.
CollisionData LayOutCollision(const CutSurface& surface, const SurfacePatches& patches,
                              const TetMesh& mesh, std::span<const uint32_t> triangle_of_source,
                              TriangleRecord record = TriangleRecord::kSmallest);

}  // namespace plush::tools
