// SPDX-License-Identifier: MIT
// Regions of a surface that are inside another body [Civ 5.5.3].
//
// Deviation: inside means that the other surface's winding number is at least 1. It follows from
// the signs with which edges pierce the other surface, and not from distances.
// A triangle that is cut counts as one piece, though its inside may fall apart; but a curve that
// lies wholly in a triangle whose corners are outside bounds a region of its own. If the other
// surface overlaps itself, the area of a cut triangle counts as often as the surface winds about
// it, up to the whole triangle.
// Arcs, which end at open borders, bound nothing. A flood passes them inside a patch; it does not
// go on into whole patches that they cross.
#pragma once

#include "base/array.h"
#include "intersection/curves.h"
#include "intersection/placed_surface.h"

#include <cstdint>
#include <span>

namespace plush {

/// A triangle that closed curves cross.
struct CutTriangle {
  uint32_t triangle = 0;
  uint32_t patch = 0;
  uint32_t first = 0;  ///< its pairs in FloodScratch::by_triangle
  uint32_t count = 0;
  int winding[3] = {};   ///< of the other surface about its corners
  int change[3] = {};    ///< along the edge from each corner to the next
  bool pierces[3] = {};  ///< whether that edge pierces the other surface
  bool known = false;    ///< whether `winding` is relative to the group's
  uint32_t region = kNoPair;
};

/// A triangle in a region.
struct RegionItem {
  uint32_t triangle = 0;
  uint32_t cut = kNoPair;  ///< its CutTriangle, or none
  float area = 0.0f;       ///< inside [m^2]
  Vec3 centroid;           ///< of that part [m]
  uint8_t border = 0;      ///< bit k: across the edge from corner k, the inside is another patch's
};

/// A part of a patch inside the other body.
struct Region {
  uint32_t patch = 0;
  uint32_t first_item = 0;
  uint32_t num_items = 0;         ///< 0: the whole patch
  uint32_t curve = kNoPair;       ///< one that bounds it, or none
  uint32_t only_curve = kNoPair;  ///< the one that is its whole border, in one triangle; or none
  float area = 0.0f;              ///< [m^2]
  Vec3 centroid;                  ///< in the common coordinates [m]
  Vec3 vector_area;               ///< [m^2]
};

/// What a flood knows of a triangle.
struct TriangleNote {
  uint32_t mark = 0;    ///< 4 run, and whether it is cut or has an item in this run
  uint32_t cut = 0;     ///< its CutTriangle, if it is cut
  uint32_t region = 0;  ///< its item's, if it has one
};

struct FloodScratch {
  Array<uint32_t> by_triangle;  ///< pairs, by triangle, then curve
  Array<CutTriangle> cuts;      ///< in the order of their first pairs
  Array<uint32_t> queue;
  Array<TriangleNote> notes;
  Array<RegionItem> items;
  Array<Region> regions;
  Array<uint32_t> cut_patches;   ///< patches that curves cross
  Array<uint32_t> cut_patch_of;  ///< patch to cut_patches, valid if that names the patch
  Array<uint32_t> whole_of;      ///< patch to its region, valid if that is the whole patch
  Array<uint32_t> cut_pieces;    ///< pieces of these
  Array<uint32_t> cut_piece_of;  ///< piece to cut_pieces, likewise
  uint32_t num_cuts = 0, num_items = 0, num_regions = 0, num_cut_patches = 0;
  uint32_t run = 0;       ///< number of floods
  bool open = false;      ///< a region reaches an open border
  bool complete = false;  ///< false: some memory was too small

  bool Reserve(const Allocator& allocator, size_t pairs, size_t regions, size_t triangles,
               size_t patches);
};

/// Joins two nodes of the graph of curves and regions; if both are one, it is a new region.
using JoinCallback = void (*)(void* user, uint32_t a, uint32_t b);

/// Finds the regions of `surface` inside `other`. `pairs` are those of the two, `curve_of` their
/// curves, `curves` the curves. Calls back with nodes that belong to one contact volume: a curve by
/// its number, a region by `first_region` plus its number. Does not allocate.
void Flood(const PlacedSurface& surface, const PlacedSurface& other,
           std::span<const TrianglePair> pairs, std::span<const uint32_t> curve_of,
           std::span<const Curve> curves, uint32_t first_region, FloodScratch* scratch, void* user,
           JoinCallback join);

}  // namespace plush
