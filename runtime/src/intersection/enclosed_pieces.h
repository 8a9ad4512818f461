// SPDX-License-Identifier: MIT
// Connected pieces of a surface that lie wholly inside another body.
#pragma once

#include "intersection/flood.h"
#include "intersection/placed_surface.h"

namespace plush {

/// Whether the connected piece of `surface`, which takes part in no pair, is inside `other`.
/// `triangle` is its first one.
bool IsInside(const PlacedSurface& surface, const PlacedSurface& other, uint32_t piece,
              uint32_t* triangle);

/// Whether a piece of one of two surfaces that do not meet is inside the other.
bool HasEnclosedPiece(const PlacedBody& moved, const PlacedBody& fixed);

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
    uint32_t triangle = 0;
    if (IsInside(surface, other, piece, &triangle)) visit(triangle, state.pieces[piece].area);
  }
}

}  // namespace plush
