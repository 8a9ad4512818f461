// SPDX-License-Identifier: MIT
// Copies of a lattice tet made one again where a cage would be pinched.
//
// Empty tets where a cage would be pinched.
#pragma once

#include "lattice/lattice.h"
#include "lattice/split_cage.h"

#include <cstdint>

namespace plush::tools {

/// Adds tets without content around edges and nodes at which the boundary is pinched
/// (FindBoundaryDefects): all but the largest gap of an edge, the smallest gap of a node, until
/// none is left that lattice tets could fill. Counts them in num_filled; the number of pinched
/// edges and nodes that are left.
uint32_t FillGaps(const Lattice& lattice, SplitCage* cage);

/// Looks for an edge or node at which the boundary is pinched (FindBoundaryDefects) and where two
/// copies of one lattice tet meet, and makes the copies one: their nodes become the same, and all
/// tets that have the same four nodes then. Empty tets cannot fill such a place, as the lattice
/// tets around are all there. Whether it found one; num_shared counts tets that took in another.
bool JoinCopiesAtPinch(SplitCage* cage);

}  // namespace plush::tools
