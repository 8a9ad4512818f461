// SPDX-License-Identifier: MIT
// Vertices and boxes of patches of a surface, placed once a search asks for them.
#pragma once

#include "base/array.h"
#include "collision/collision_state.h"
#include "collision/meeting_boxes.h"
#include "intersection/near_triangles.h"

#include <cstdint>
#include <span>

namespace plush {

/// Patches of one body in the coordinates of a search.
struct PlacedPatches {
  Array<float> vertices;         ///< x, y, z, 0 [m], by the surface's vertices (4 x most vertices)
  Array<float> low[3], high[3];  ///< of the triangles' boxes [m] (most triangles + kLanePadding)
  Array<float> chunk_low[3], chunk_high[3];  ///< of chunks of a patch's triangles, see ChunkOf
  Array<TriangleBlock> blocks;               ///< memory of Pick
  Array<uint32_t> picked, near;              ///< memory for lists of triangles (as `low`)
  Array<float> tet_low[3], tet_high[3];      ///< of boxes around tets' contents [m]
                                             ///< (most patches + kLanePadding)
  Array<float> tet_chunk_low[3], tet_chunk_high[3];
  Array<uint32_t> tets;       ///< memory for a list of them (likewise)
  Array<float> bounds;        ///< of the patches: LaneBox (8 x most patches)
  Array<uint32_t> placed_in;  ///< the search that placed a patch (most patches)
  uint32_t search = 0;
  uint32_t tets_in = 0;  ///< the search that placed the tets

  /// Makes room. Returns false if the allocator fails.
  bool Reserve(const Allocator& allocator, size_t num_vertices, size_t triangles, size_t patches);
  /// Whether there is room for a surface.
  bool Holds(const CollisionView& surface) const {
    return vertices.size() >= 4 * surface.vertices.size() &&
           placed_in.size() >= surface.patches.size() &&
           low[0].size() >= surface.num_triangles() + kLanePadding;
  }
  /// Whether a patch has been placed since Begin.
  bool HasPlaced(uint32_t patch) const {
    return patch < placed_in.size() && placed_in[patch] == search;
  }
  /// Of a placed patch.
  LaneBox BoundsOf(uint32_t patch) const {
    const float* const of_patch = &bounds[size_t{8} * patch];
    return {Load4(of_patch), Load4(of_patch + 4)};
  }
  /// Forgets what has been placed.
  void Begin();
  /// Places a patch of `body`, whose coordinates are `offset` [m] away, unless it is placed.
  /// Returns its bounds.
  LaneBox Place(const CollisionBody& body, const Vec3& offset, uint32_t tet, uint32_t patch);

  /// Boxes of tets' contents, and of chunks of them.
  struct Tets {
    BoxColumns boxes, chunks;
    uint32_t count;
  };
  /// Places boxes of all tets of the body, unless they are.
  Tets PlaceTets(const CollisionBody& body, const Vec3& offset);

  /// Most triangles of a patch that Pick takes.
  static constexpr uint32_t kMostPicked = 8192;
  /// Some of the placed triangles of `surface`, until the next call. `reach`: see MeasureTriangles.
  TriangleBlocks Pick(const CollisionView& surface, std::span<const uint32_t> which, float reach);
  /// Writes which triangles of a placed patch, those from `begin` to `end`, meet the box to `list`.
  /// Returns their number. If `around` is not null, sets it to their box.
  uint32_t Meeting(const LaneBox& box, uint32_t patch, uint32_t begin, uint32_t end, uint32_t* list,
                   LaneBox* around = nullptr) const;
  /// The same for a ray.
  uint32_t OnRay(const BoxRay& ray, uint32_t patch, uint32_t begin, uint32_t end,
                 uint32_t* list) const;
  /// Of the placed triangles.
  BoxColumns Boxes() const {
    return {{low[0].data(), low[1].data(), low[2].data()},
            {high[0].data(), high[1].data(), high[2].data()}};
  }

 private:
  template <class Record>
  LaneBox Bound(const CollisionView& surface, std::span<const Record> triangles, uint32_t patch);

  // The first chunk of a patch. Each patch leaves at most one unused.
  static uint32_t ChunkOf(uint32_t patch, uint32_t first_triangle) {
    return first_triangle / kBoxChunk + patch;
  }
};

}  // namespace plush
