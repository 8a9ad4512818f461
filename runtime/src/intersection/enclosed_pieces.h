// SPDX-License-Identifier: MIT
// Connected pieces of a surface that lie wholly inside another body.
#pragma once

#include "intersection/winding.h"

namespace plush {

/// Calls visit(a triangle, area [m^2]) for each connected piece of `surface` that takes part in no
/// pair and is inside `other`. `flood` is that of the surface. Does not allocate.
template <class Visit>
void ForEnclosedPieces(const PlacedSurface& surface, const PlacedSurface& other,
                       FloodScratch* flood, Visit visit) {
  const CollisionView& view = surface.body.surface;
  if (!flood->complete || view.patches.empty()) return;
  uint32_t count = 0;
  const auto reached = [&](uint32_t patch) {
    const uint32_t i = flood->reached_of[patch];
    return i < count && flood->reached[i] == patch;
  };
  const auto reach = [&](uint32_t patch) {
    if (reached(patch)) return;
    flood->reached_of[patch] = count;
    flood->reached[count++] = patch;
  };
  float area = 0.0f;
  uint32_t done = 0;
  const auto spread = [&] {
    for (; done < count; ++done) {
      const uint32_t patch = flood->reached[done];
      area += view.patches[patch].area;
      const size_t end =
          patch + 1 < view.patches.size() ? view.patches[patch + 1].first_link : view.links.size();
      for (size_t i = view.patches[patch].first_link; i < end; ++i)
        reach(view.links[i] & ~kSeamLink);
    }
  };
  for (uint32_t i = 0; i < flood->num_cut_patches; ++i) reach(flood->cut_patches[i]);
  spread();
  for (uint32_t patch = 0; patch < view.patches.size(); ++patch) {
    if (reached(patch)) continue;
    area = 0.0f;
    reach(patch);
    spread();
    const uint32_t triangle = view.patches[patch].first_triangle;
    if (WindingAbout(other, surface.CornersAt(triangle)[0]) > 0) visit(triangle, area);
  }
}

}  // namespace plush
