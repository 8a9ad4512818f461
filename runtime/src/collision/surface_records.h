// SPDX-License-Identifier: MIT
// Ranges of the collision surface's records.
#pragma once

#include "plush/asset.h"
#include "plush/format/cdg_records.h"

#include <cstdint>
#include <span>

namespace plush {

/// Calls visit(records) with the packed or the wide triangles, whichever the surface has.
template <class Visit>
inline decltype(auto) WithTriangles(const CollisionView& surface, Visit visit) {
  return surface.triangles.empty() ? visit(surface.wide_triangles) : visit(surface.triangles);
}

/// Index after the last patch of a CdgTet.
inline uint32_t PatchesEnd(const CollisionView& surface, uint32_t tet) {
  return tet + 1 < surface.tets.size() ? surface.tets[tet + 1].first_patch
                                       : static_cast<uint32_t>(surface.patches.size());
}

/// Index after the last triangle of a patch.
inline uint32_t TrianglesEnd(const CollisionView& surface, uint32_t patch) {
  return patch + 1 < surface.patches.size() ? surface.patches[patch + 1].first_triangle
                                            : surface.num_triangles();
}

/// Vertices of a CdgTet, from the surface's vertex `*first` on: those of its patches lie one after
/// the other.
inline std::span<const Vec4> VerticesOf(const CollisionView& surface, uint32_t tet,
                                        uint32_t* first) {
  *first = surface.patches[surface.tets[tet].first_patch].first_vertex;
  const uint32_t last_patch = PatchesEnd(surface, tet);
  const size_t end = last_patch < surface.patches.size() ? surface.patches[last_patch].first_vertex
                                                         : surface.vertices.size();
  return surface.vertices.subspan(*first, end - *first);
}

/// Calls visit(patch, triangle) for every triangle in a CdgTet.
template <class Visit>
inline void ForTrianglesOf(const CollisionView& surface, uint32_t tet, Visit visit) {
  for (uint32_t patch = surface.tets[tet].first_patch; patch < PatchesEnd(surface, tet); ++patch) {
    const uint32_t end = TrianglesEnd(surface, patch);
    for (uint32_t i = surface.patches[patch].first_triangle; i < end; ++i) visit(patch, i);
  }
}

/// Whether a triangle's record names `triangle` as a neighbour.
template <class Record>
inline bool NamesBack(const Record& record, uint32_t triangle) {
  // Without branches: which one it is cannot be guessed.
  const auto is = [&](int k) { return static_cast<int>(NeighbourOf(record, k) == triangle); };
  return (is(0) | is(1) | is(2)) != 0;
}

/// Whether a triangle in [begin, end) has an open border: no neighbour, or one that does not name
/// it back.
inline bool HasOpenBorder(const CollisionView& surface, uint32_t begin, uint32_t end) {
  return WithTriangles(surface, [&](const auto& triangles) {
    for (uint32_t i = begin; i < end; ++i) {
      for (int k = 0; k < 3; ++k) {
        const uint32_t neighbour = NeighbourOf(triangles[i], k);
        if (neighbour == kNoTriangle || !NamesBack(triangles[neighbour], i)) return true;
      }
    }
    return false;
  });
}

}  // namespace plush
