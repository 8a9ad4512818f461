// SPDX-License-Identifier: MIT
#include "intersection/enclosed_pieces.h"

#include "intersection/winding.h"

namespace plush {

// No edge of the piece crosses the other surface. So if one vertex is inside, all are. An open
// surface has no inside: one that bulges would draw in what is behind it.
bool IsInside(const PlacedSurface& surface, const PlacedSurface& other, uint32_t piece,
              uint32_t* triangle) {
  if (other.body.state.is_open) return false;
  const uint32_t patch = surface.body.state.pieces[piece].first_patch;
  *triangle = surface.body.surface.patches[patch].first_triangle;
  return WindingAbout(other, surface.CornersAt(*triangle)[0]) > 0;
}

bool HasEnclosedPiece(const PlacedBody& moved, const PlacedBody& fixed) {
  const PlacedSurface sides[2] = {{moved.body, {}, Surface::kMoved},
                                  {fixed.body, OffsetTo(moved, fixed), Surface::kFixed}};
  for (int k = 0; k < 2; ++k) {
    uint32_t triangle = 0;
    for (uint32_t piece = 0; piece < sides[k].body.state.pieces.size(); ++piece) {
      if (IsInside(sides[k], sides[1 - k], piece, &triangle)) return true;
    }
  }
  return false;
}

}  // namespace plush
