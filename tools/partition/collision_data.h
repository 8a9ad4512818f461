// SPDX-License-Identifier: MIT
// The collision surface (CDG) laid out as the file stores it [Civ 5.4.1].
#pragma once

#include "plush/format/cdg_records.h"

#include <cstdint>
#include <vector>

namespace plush::tools {

/// What schemas/plush.fbs calls Collision; all empty for a body without.
struct CollisionData {
  std::vector<CdgTet> tets;                     ///< in the order of the tree's leaves
  std::vector<uint32_t> tree;                   ///< (2 num_tets - 1 x 1)
  std::vector<CdgPatch> patches;                ///< in the order of their tets
  std::vector<uint32_t> links;                  ///< patches beside each patch; see kSeamLink
  std::vector<CdgTriangle> triangles;           ///< (num_triangles x 1), or empty: wide
  std::vector<CdgWideTriangle> wide_triangles;  ///< (num_triangles x 1), or empty: packed
  std::vector<Vec4> vertices;                   ///< weights (num_vertices x 1)
  std::vector<uint32_t> source_triangles;       ///< (num_triangles x 1, or empty)
};

/// Size of all its records [bytes], without the map to source triangles where `with_sources` is
/// false.
inline uint64_t CollisionBytes(const CollisionData& data, bool with_sources = true) {
  return data.tets.size() * sizeof(CdgTet) + data.tree.size() * 4 +
         data.patches.size() * sizeof(CdgPatch) + data.links.size() * 4 +
         data.triangles.size() * sizeof(CdgTriangle) +
         data.wide_triangles.size() * sizeof(CdgWideTriangle) +
         data.vertices.size() * sizeof(Vec4) +
         (with_sources ? data.source_triangles.size() * 4 : 0);
}

}  // namespace plush::tools
