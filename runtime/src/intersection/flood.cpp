// SPDX-License-Identifier: MIT
#include "intersection/flood.h"

#include "base/vector_math.h"
#include "collision/deformed_patch.h"
#include "intersection/cut_triangles.h"
#include "intersection/flat_sums.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

class Flooding : private CutTriangles {
 public:
  Flooding(const PlacedSurface& surface, const PlacedSurface& other,
           std::span<const TrianglePair> pairs, std::span<const uint32_t> curve_of,
           std::span<const Curve> curves, uint32_t first_region, FloodScratch* scratch, void* user,
           JoinCallback join)
      : CutTriangles(surface, other, pairs, curve_of, curves, scratch),
        first_region_(first_region),
        user_(user),
        join_(join) {}

  void Run() {
    s_.num_cuts = s_.num_items = s_.num_regions = s_.num_cut_patches = 0;
    s_.open = false;
    s_.complete = s_.by_triangle.size() >= pairs_.size() &&
                  s_.notes.size() >= surface_.body.surface.num_triangles() &&
                  s_.whole_of.size() >= surface_.body.surface.patches.size();
    if (!s_.complete) return;
    Begin();
    List();
    Number();
    for (uint32_t i = 0; i < s_.num_cuts; ++i) {
      AddLoneCurves(i);
      if (s_.cuts[i].region == kNoPair && HasInside(s_.cuts[i])) FloodPatch(i);
    }
    FloodWholePatches();
    JoinRegions();
  }

 private:
  uint32_t WholeRegion(uint32_t patch) const {
    const uint32_t i = s_.whole_of[patch];
    const bool valid =
        i < s_.num_regions && s_.regions[i].patch == patch && s_.regions[i].num_items == 0;
    return valid ? i : kNoPair;
  }

  static bool HasInsideCorner(const CutTriangle& cut) {
    return cut.winding[0] > 0 || cut.winding[1] > 0 || cut.winding[2] > 0;
  }
  static bool HasInside(const CutTriangle& cut) {
    return HasInsideCorner(cut) || cut.pierces[0] || cut.pierces[1] || cut.pierces[2];
  }
  static bool EdgeInside(const CutTriangle& cut, int k) {
    return cut.winding[k] > 0 || cut.winding[(k + 1) % 3] > 0 || cut.pierces[k];
  }

  Vec3 MeanOfPairs(uint32_t first, uint32_t count) const {
    Vec3 sum;
    for (uint32_t i = first; i < first + count; ++i) {
      const TrianglePair& pair = pairs_[s_.by_triangle[i]];
      sum += 0.5f * (pair.from + pair.to);
    }
    return sum * (1.0f / static_cast<float>(count));
  }

  // Adds a cut triangle, or the part of it that pairs from `first` on bound, to the region that is
  // being built.
  bool AddItem(uint32_t index, uint32_t first) {
    if (s_.num_items == s_.items.size()) return s_.complete = false;
    const uint32_t triangle = s_.cuts[index].triangle;
    s_.items[s_.num_items++] = {triangle, index, 0.0f, {}, 0};
    Mark(triangle, kHasItem);
    s_.notes[triangle].region = s_.num_regions;
    Region& region = s_.regions[s_.num_regions];
    if (region.curve == kNoPair) region.curve = curve_of_[s_.by_triangle[first]];
    return true;
  }
  void AddCut(uint32_t index) {
    CutTriangle& cut = s_.cuts[index];
    if (cut.region != kNoPair) return;
    cut.region = s_.num_regions;
    AddItem(index, cut.first);
  }

  // Adds a triangle that is not cut, unless it has been. Without branches, as in NamesBack.
  void AddWhole(uint32_t triangle) {
    if (s_.num_items == s_.items.size()) {
      s_.complete = false;
      return;
    }
    const uint32_t mark = s_.run << 2 | kHasItem;
    TriangleNote& note = s_.notes[triangle];
    const bool is_new = note.mark != mark;
    s_.items[s_.num_items] = {triangle, kNoPair, 0.0f, {}, 0};
    s_.num_items += is_new ? 1 : 0;
    note.mark = mark;
    note.region = is_new ? s_.num_regions : note.region;
  }

  // Measures an item, which some pairs bound if it is cut, and adds it to its region.
  void Measure(const PatchCorners& of_patch, uint32_t first, uint32_t count, RegionItem* item) {
    const Corners corners = of_patch.At(item->triangle);
    if (item->cut == kNoPair) {
      item->centroid = (corners[0] + corners[1] + corners[2]) * (1.0f / 3.0f);
      const DoubleVector n =
          Cross(Difference(corners[1], corners[0]), Difference(corners[2], corners[0])) * 0.5;
      AddArea(n, std::sqrt(Dot(n, n)), item);
      return;
    }
    const FlatSums sums = Clip(s_.cuts[item->cut], corners, first, count);
    const double area = std::min(sums.area, sums.whole);
    if (!(area > 1.0e-9 * sums.whole)) {
      item->centroid = MeanOfPairs(first, count);
      return;
    }
    item->centroid = sums.origin + sums.FromOrigin();
    AddArea(sums.unit * area, area, item);
  }

  void AddArea(const DoubleVector& vector_area, double area, RegionItem* item) {
    item->area = ToFloat(area);
    Region& region = s_.regions[s_.num_regions];
    region.vector_area += {ToFloat(vector_area.x), ToFloat(vector_area.y), ToFloat(vector_area.z)};
    region.area += item->area;
  }

  bool BeginRegion(uint32_t patch) {
    if (s_.num_regions == s_.regions.size()) return s_.complete = false;
    s_.regions[s_.num_regions] = {};
    s_.regions[s_.num_regions].patch = patch;
    s_.regions[s_.num_regions].first_item = s_.num_items;
    Join(s_.num_regions, s_.num_regions);
    return true;
  }

  void EndRegion() {
    Region& region = s_.regions[s_.num_regions++];
    region.num_items = s_.num_items - region.first_item;
    // About the first centroid, for accuracy.
    const Vec3 origin = s_.items[region.first_item].centroid;
    Vec3 moment;
    for (uint32_t i = region.first_item; i < s_.num_items; ++i)
      moment += s_.items[i].area * (s_.items[i].centroid - origin);
    region.centroid = origin;
    if (region.area > 0.0f) region.centroid += moment * (1.0f / region.area);
  }

  // Curves inside a triangle whose border is outside: each bounds a region, unless it is a hole.
  void AddLoneCurves(uint32_t index) {
    CutTriangle& cut = s_.cuts[index];
    if (HasInside(cut)) return;
    TriangleNote& note = s_.notes[cut.triangle];
    for (uint32_t i = cut.first, end = i + cut.count; i < end;) {
      const uint32_t curve = curve_of_[s_.by_triangle[i]];
      uint32_t next = i;
      while (next < end && curve_of_[s_.by_triangle[next]] == curve) ++next;
      if (BeginRegion(cut.patch)) {
        const TriangleNote before = note;
        if (!AddItem(index, i)) return;
        Measure(PatchCorners(surface_, cut.patch), i, next - i, &s_.items[s_.num_items - 1]);
        s_.regions[s_.num_regions].only_curve = curve;
        EndRegion();
        if (s_.regions[s_.num_regions - 1].area <= 0.0f) {
          s_.num_items = s_.regions[--s_.num_regions].first_item;
          note = before;
        } else {
          join_(user_, curve, first_region_ + s_.num_regions - 1);
        }
      }
      i = next;
    }
  }

  // The region of a patch that holds the cut.
  void FloodPatch(uint32_t seed) {
    const uint32_t patch = s_.cuts[seed].patch;
    const uint32_t begin = surface_.body.surface.patches[patch].first_triangle;
    const uint32_t end = TrianglesEnd(surface_.body.surface, patch);
    if (!BeginRegion(patch)) return;
    const uint32_t first = s_.num_items;
    uint32_t joined = kNoPair;  // the last curve
    AddCut(seed);
    for (uint32_t i = first; i < s_.num_items; ++i) {
      const uint32_t index = s_.items[i].cut;
      const CutTriangle* const cut = index == kNoPair ? nullptr : &s_.cuts[index];
      uint8_t border = 0;
      ForInsideNeighbours(s_.items[i].triangle, cut, [&](int corner, uint32_t neighbour) {
        if (neighbour < begin || neighbour >= end) {
          border |= static_cast<uint8_t>(1 << corner);
        } else if (CutOf(neighbour) != nullptr) {
          AddCut(s_.notes[neighbour].cut);
        } else {
          AddWhole(neighbour);
        }
      });
      s_.items[i].border = border;
      for (uint32_t j = 0; cut != nullptr && HasInsideCorner(*cut) && j < cut->count; ++j) {
        const uint32_t curve = curve_of_[s_.by_triangle[cut->first + j]];
        if (curve == joined) continue;
        joined = curve;
        join_(user_, curve, first_region_ + s_.num_regions);
      }
    }
    if (s_.num_items == first) return;
    const PatchCorners corners(surface_, patch);
    for (uint32_t i = first; i < s_.num_items; ++i) {
      RegionItem& item = s_.items[i];
      const bool is_cut = item.cut != kNoPair;
      Measure(corners, is_cut ? s_.cuts[item.cut].first : 0, is_cut ? s_.cuts[item.cut].count : 0,
              &item);
    }
    const uint32_t curve = s_.regions[s_.num_regions].curve;
    if (curve != kNoPair) join_(user_, curve, first_region_ + s_.num_regions);
    EndRegion();
  }

  // Calls visit(corner, neighbour) across the edges of a triangle with a part inside.
  template <class Visit>
  void ForInsideNeighbours(uint32_t triangle, const CutTriangle* cut, Visit visit) {
    const bool may_end = surface_.body.state.is_open;
    WithTriangles(surface_.body.surface, [&](const auto& triangles) {
      for (int k = 0; k < 3; ++k) {
        if (cut != nullptr && !EdgeInside(*cut, k)) continue;
        const uint32_t neighbour = NeighbourOf(triangles[triangle], k);
        if (may_end && (neighbour == kNoTriangle || !NamesBack(triangles[neighbour], triangle))) {
          s_.open = true;
          continue;
        }
        visit(k, neighbour);
      }
    });
  }

  // Calls visit(neighbour) across the edges at which a region's item ends at another patch.
  template <class Visit>
  void ForBorderNeighbours(const RegionItem& item, Visit visit) const {
    for (int k = 0; item.border >> k != 0; ++k)
      if ((item.border >> k & 1) != 0) visit(surface_.Neighbour(item.triangle, k));
  }

  void AddWholePatch(uint32_t patch) {
    if (HoldsCuts(patch) || WholeRegion(patch) != kNoPair || !BeginRegion(patch)) return;
    const CollisionBody& body = surface_.body;
    const CdgPatch& record = body.surface.patches[patch];
    const CdgTet& tet = body.surface.tets[record.tet];
    const std::array<Vec3, 4> rest = {body.rest[tet.nodes[0]], body.rest[tet.nodes[1]],
                                      body.rest[tet.nodes[2]], body.rest[tet.nodes[3]]};
    const DeformedPatch sums = DeformPatch(record, rest, surface_.NodesOfTet(record.tet));
    Region& region = s_.regions[s_.num_regions];
    region.area = sums.area;
    region.centroid = sums.centroid;
    region.vector_area = sums.vector_area;
    s_.whole_of[patch] = s_.num_regions++;
    s_.open = s_.open || (body.state.is_open && HasOpenBorder(body.surface, record.first_triangle,
                                                              TrianglesEnd(body.surface, patch)));
  }

  void FloodWholePatches() {
    for (uint32_t i = 0; i < s_.num_items; ++i)
      ForBorderNeighbours(s_.items[i], [&](uint32_t neighbour) {
        if (!HasItem(neighbour)) AddWholePatch(surface_.PatchOf(neighbour));
      });
    for (uint32_t i = 0; i < s_.num_regions; ++i)
      if (s_.regions[i].num_items == 0)
        ForLinks(s_.regions[i].patch, [&](uint32_t next) { AddWholePatch(next); });
  }

  template <class Visit>
  void ForLinks(uint32_t patch, Visit visit) const {
    const CollisionView& view = surface_.body.surface;
    const size_t end =
        patch + 1 < view.patches.size() ? view.patches[patch + 1].first_link : view.links.size();
    for (size_t i = view.patches[patch].first_link; i < end; ++i) visit(view.links[i] & ~kSeamLink);
  }

  void JoinRegions() {
    for (uint32_t i = 0; i < s_.num_items; ++i)
      ForBorderNeighbours(s_.items[i], [&](uint32_t neighbour) {
        const uint32_t next = HasItem(neighbour) ? s_.notes[neighbour].region
                                                 : WholeRegion(surface_.PatchOf(neighbour));
        if (next != kNoPair) Join(s_.notes[s_.items[i].triangle].region, next);
      });
    for (uint32_t i = 0; i < s_.num_regions; ++i)
      if (s_.regions[i].num_items == 0)
        ForLinks(s_.regions[i].patch, [&](uint32_t patch) {
          const uint32_t next = WholeRegion(patch);
          if (next != kNoPair) Join(i, next);
        });
  }

  void Join(uint32_t a, uint32_t b) { join_(user_, first_region_ + a, first_region_ + b); }

  uint32_t first_region_;
  void* user_;
  JoinCallback join_;
};

}  // namespace

bool FloodScratch::Reserve(const Allocator& allocator, size_t pairs, size_t num_regions_most,
                           size_t triangles, size_t patches) {
  run = 0;
  return by_triangle.Allocate(allocator, pairs) && cuts.Allocate(allocator, pairs) &&
         queue.Allocate(allocator, pairs) && notes.Allocate(allocator, triangles) &&
         items.Allocate(allocator, triangles + pairs) &&
         regions.Allocate(allocator, num_regions_most) &&
         cut_patches.Allocate(allocator, patches) && cut_patch_of.Allocate(allocator, patches) &&
         whole_of.Allocate(allocator, patches) && cut_pieces.Allocate(allocator, patches) &&
         cut_piece_of.Allocate(allocator, patches);
}

void Flood(const PlacedSurface& surface, const PlacedSurface& other,
           std::span<const TrianglePair> pairs, std::span<const uint32_t> curve_of,
           std::span<const Curve> curves, uint32_t first_region, FloodScratch* scratch, void* user,
           JoinCallback join) {
  Flooding(surface, other, pairs, curve_of, curves, first_region, scratch, user, join).Run();
}

}  // namespace plush
