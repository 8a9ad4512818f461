// SPDX-License-Identifier: MIT
// Triangles of a surface that take part in pairs, and the other surface's winding numbers about
// their corners.
#pragma once

#include "intersection/flat_sums.h"
#include "intersection/flood.h"

#include <cstdint>
#include <span>

namespace plush {

class CutTriangles {
 protected:
  CutTriangles(const PlacedSurface& surface, const PlacedSurface& other,
               std::span<const TrianglePair> pairs, std::span<const uint32_t> curve_of,
               std::span<const Curve> curves, FloodScratch* scratch)
      : surface_(surface),
        other_(other),
        pairs_(pairs),
        curve_of_(curve_of),
        curves_(curves),
        s_(*scratch) {}

  /// Forgets the marks of the flood before.
  void Begin();
  /// Lists the triangles that closed curves cross, in the order of their first pairs.
  void List();
  /// Finds the winding numbers.
  void Number();

  bool moved() const { return surface_.role == Surface::kMoved; }
  uint32_t TriangleOf(const TrianglePair& pair) const { return moved() ? pair.moved : pair.fixed; }

  CutTriangle* CutOf(uint32_t triangle) {
    const TriangleNote& note = s_.notes[triangle];
    return note.mark >> 2 == s_.run && (note.mark & kIsCut) != 0 ? &s_.cuts[note.cut] : nullptr;
  }
  bool HasItem(uint32_t triangle) const {
    const uint32_t mark = s_.notes[triangle].mark;
    return mark >> 2 == s_.run && (mark & kHasItem) != 0;
  }
  void Mark(uint32_t triangle, uint32_t bit) {
    uint32_t& mark = s_.notes[triangle].mark;
    mark = (mark >> 2 == s_.run ? mark : s_.run << 2) | bit;
  }
  bool HoldsCuts(uint32_t patch) const {
    const uint32_t i = s_.cut_patch_of[patch];
    return i < s_.num_cut_patches && s_.cut_patches[i] == patch;
  }

  // Calls visit(corner, change of the winding number along the edge, point) for the places at which
  // the triangle's edges pierce the other surface.
  template <class Visit>
  void ForCrossings(uint32_t first, uint32_t count, Visit visit) const {
    const int change = moved() ? 1 : -1;
    for (uint32_t i = first; i < first + count; ++i) {
      const TrianglePair& pair = pairs_[s_.by_triangle[i]];
      // An edge of the moved surface that leads into the start goes to the front of the other's.
      if (pair.start.edge_of == surface_.role) visit(pair.start_corner, -change, pair.from);
      if (pair.end.edge_of == surface_.role) visit(pair.end_corner, change, pair.to);
    }
  }

  // Sums of the inside of a cut triangle, as far as its `count` pairs from `first` on bound it.
  // Parts that the other surface winds about n times count n times.
  FlatSums Clip(const CutTriangle& cut, const Corners& corners, uint32_t first,
                uint32_t count) const;

  // Arcs bound nothing.
  bool Bounds(uint32_t pair) const { return curves_[curve_of_[pair]].closed; }

  // Marks of a triangle.
  static constexpr uint32_t kIsCut = 1, kHasItem = 2;

  const PlacedSurface& surface_;
  const PlacedSurface& other_;
  std::span<const TrianglePair> pairs_;
  std::span<const uint32_t> curve_of_;
  std::span<const Curve> curves_;
  FloodScratch& s_;

 private:
  void AddCutPatch(uint32_t patch);
  int SharedCorner(uint32_t triangle, int corner, uint32_t neighbour) const;
  void NumberGroup(uint32_t seed);
  static void SetWinding(CutTriangle* cut, int corner, int winding);
  int LowestOn(const CutTriangle& cut) const;
  int GroupShift(uint32_t count) const;
};

}  // namespace plush
