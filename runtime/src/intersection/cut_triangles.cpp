// SPDX-License-Identifier: MIT
// Source: cut_triangles.h.
#include "intersection/cut_triangles.h"

#include "intersection/surface_edges.h"
#include "intersection/winding.h"

#include <algorithm>

namespace plush {

void CutTriangles::Begin() {
  constexpr uint32_t kMostRuns = 1u << 30;
  if (++s_.run < kMostRuns) return;
  std::fill(s_.notes.begin(), s_.notes.end(), TriangleNote{});
  s_.run = 1;
}

// The corner of `neighbour` at which the common edge begins, or -1 at an open border.
int CutTriangles::SharedCorner(uint32_t triangle, int corner, uint32_t neighbour) const {
  int shared = 0, at = -1;
  for (int l = 0; l < 3; ++l)
    if (surface_.Neighbour(neighbour, l) == triangle) ++shared, at = l;
  if (shared < 2) return at;
  const uint32_t edge = EdgeOf(surface_.body.surface, triangle, corner);
  for (int l = 0; l < 3; ++l)
    if (EdgeOf(surface_.body.surface, neighbour, l) == edge) at = l;
  return at;
}

void CutTriangles::AddCutPatch(uint32_t patch) {
  if (HoldsCuts(patch)) return;
  s_.cut_patch_of[patch] = s_.num_cut_patches;
  s_.cut_patches[s_.num_cut_patches++] = patch;
}

void CutTriangles::List() {
  const CollisionView& view = surface_.body.surface;
  for (uint32_t i = 0; i < pairs_.size(); ++i) {
    if (!Bounds(i)) continue;
    const uint32_t triangle = TriangleOf(pairs_[i]);
    CutTriangle* cut = CutOf(triangle);
    if (cut == nullptr) {
      Mark(triangle, kIsCut);
      s_.notes[triangle].cut = s_.num_cuts;
      cut = &s_.cuts[s_.num_cuts++];
      *cut = {};
      cut->triangle = triangle;
    }
    ++cut->count;
  }
  uint32_t patch = 0, first = 0;
  for (uint32_t i = 0; i < s_.num_cuts; ++i) {
    CutTriangle& cut = s_.cuts[i];
    cut.first = first;
    first += cut.count;
    cut.count = 0;
    const bool is_next = cut.triangle >= view.patches[patch].first_triangle &&
                         cut.triangle < TrianglesEnd(view, patch);
    if (!is_next) patch = surface_.PatchOf(cut.triangle);
    cut.patch = patch;
    AddCutPatch(patch);
  }
  for (uint32_t i = 0; i < pairs_.size(); ++i) {
    if (!Bounds(i)) {
      AddCutPatch(surface_.PatchOf(TriangleOf(pairs_[i])));
      continue;
    }
    CutTriangle& cut = *CutOf(TriangleOf(pairs_[i]));
    uint32_t at = cut.first + cut.count++;
    for (; at > cut.first && curve_of_[s_.by_triangle[at - 1]] > curve_of_[i]; --at) {
      s_.by_triangle[at] = s_.by_triangle[at - 1];
    }
    s_.by_triangle[at] = i;
  }
  for (CutTriangle& cut : s_.cuts.span().first(s_.num_cuts)) {
    ForCrossings(cut.first, cut.count, [&](int corner, int change, const Vec3&) {
      cut.change[corner] += change;
      cut.pierces[corner] = true;
    });
  }
}

// Numbers the corners of all cuts that share edges with `seed`: first relative to its corner 0.
void CutTriangles::NumberGroup(uint32_t seed) {
  uint32_t done = 0, count = 0;
  s_.queue[count++] = seed;
  s_.cuts[seed].known = true;
  SetWinding(&s_.cuts[seed], 0, 0);
  while (done < count) {
    const CutTriangle& cut = s_.cuts[s_.queue[done++]];
    for (int k = 0; k < 3; ++k) {
      const uint32_t neighbour = surface_.Neighbour(cut.triangle, k);
      if (neighbour == kNoTriangle) continue;
      CutTriangle* const next = CutOf(neighbour);
      if (next == nullptr || next->known) continue;
      const int corner = SharedCorner(cut.triangle, k, neighbour);
      if (corner < 0) continue;
      next->known = true;
      SetWinding(next, (corner + 1) % 3, cut.winding[k]);
      s_.queue[count++] = s_.notes[neighbour].cut;
    }
  }
  const int shift = GroupShift(count);
  for (uint32_t i = 0; i < count; ++i)
    for (int& winding : s_.cuts[s_.queue[i]].winding) winding += shift;
}

void CutTriangles::SetWinding(CutTriangle* cut, int corner, int winding) {
  cut->winding[corner] = winding;
  const int second = (corner + 1) % 3, third = (corner + 2) % 3;
  cut->winding[second] = winding + cut->change[corner];
  cut->winding[third] = cut->winding[second] + cut->change[second];
}

FlatSums CutTriangles::Clip(const CutTriangle& cut, const Corners& corners, uint32_t first,
                            uint32_t count) const {
  FlatSums sums(corners);
  for (uint32_t i = first; i < first + count; ++i) {
    const TrianglePair& pair = pairs_[s_.by_triangle[i]];
    // Segments go counterclockwise about the inside on the moved surface.
    if (moved()) {
      sums.Add(pair.from, pair.to, 1);
    } else {
      sums.Add(pair.to, pair.from, 1);
    }
  }
  ForCrossings(first, count, [&](int corner, int change, const Vec3& at) {
    sums.Add(at, corners[static_cast<size_t>(corner + 1) % 3], change);
  });
  // What the other two edges add is zero: they start or end at the sums' origin.
  sums.Add(corners[1], corners[2], cut.winding[1]);
  return sums;
}

// The lowest number on a cut triangle: at a corner, or in a hole between them.
int CutTriangles::LowestOn(const CutTriangle& cut) const {
  const int lowest = std::min({cut.winding[0], cut.winding[1], cut.winding[2]});
  const Corners corners = PatchCorners(surface_, cut.patch).At(cut.triangle);
  const FlatSums sums = Clip(cut, corners, cut.first, cut.count);
  constexpr double kRounding = 1.0e-4;  // of a thin triangle's area, for its corners in float
  return sums.area < (lowest - kRounding) * sums.whole ? lowest - 1 : lowest;
}

// What the numbers of the group of the first `count` cuts in the queue lack. A line from a corner
// may leave an open surface through a hole: there, what is most in front of it is outside.
int CutTriangles::GroupShift(uint32_t count) const {
  if (other_.body.state.is_open) {
    int lowest = 0;
    for (uint32_t i = 0; i < count; ++i) lowest = std::min(lowest, LowestOn(s_.cuts[s_.queue[i]]));
    return -lowest;
  }
  const SurfaceBox box(other_);
  for (uint32_t i = 0; i < count; ++i) {
    const CutTriangle& cut = s_.cuts[s_.queue[i]];
    if (surface_.placed != nullptr && surface_.placed->HasPlaced(cut.patch) &&
        box.Holds(surface_.placed->BoundsOf(cut.patch))) {
      continue;
    }
    const Corners corners = PatchCorners(surface_, cut.patch).At(cut.triangle);
    for (size_t k = 0; k < 3; ++k)
      if (!box.Holds(corners[k])) return -cut.winding[k];
  }
  const CutTriangle& cut = s_.cuts[s_.queue[0]];
  return WindingAbout(other_, surface_.CornersAt(cut.triangle)[0]) - cut.winding[0];
}

void CutTriangles::Number() {
  for (uint32_t i = 0; i < s_.num_cuts; ++i)
    if (!s_.cuts[i].known) NumberGroup(i);
}

}  // namespace plush
