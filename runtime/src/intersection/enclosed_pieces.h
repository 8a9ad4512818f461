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
  if (!flood->complete) return;
  const CollisionState& state = surface.body.state;
  uint32_t count = 0;
  const auto is_cut = [&](uint32_t piece) {
    const uint32_t i = flood->cut_piece_of[piece];
    return i < count && flood->cut_pieces[i] == piece;
  };
  for (uint32_t i = 0; i < flood->num_cut_patches; ++i) {
    const uint32_t piece = state.piece_of[flood->cut_patches[i]];
    if (is_cut(piece)) continue;
    flood->cut_piece_of[piece] = count;
    flood->cut_pieces[count++] = piece;
  }
  for (uint32_t piece = 0; piece < state.pieces.size(); ++piece) {
    if (is_cut(piece)) continue;
    const uint32_t patch = state.pieces[piece].first_patch;
    const uint32_t triangle = surface.body.surface.patches[patch].first_triangle;
    const Vec3 corner = PatchCorners(surface, patch).At(triangle)[0];
    if (WindingAbout(other, corner) > 0) visit(triangle, state.pieces[piece].area);
  }
}

}  // namespace plush
