// SPDX-License-Identifier: MIT
// Copies of a lattice tet made one again where a cage would be pinched.
#pragma once

#include "cage/split_cage.h"

namespace plush::tools {

/// Looks for an edge or node at which the boundary is pinched (FindBoundaryDefects) and where two
/// copies of one lattice tet meet, and makes the copies one: their nodes become the same, and all
/// tets that have the same four nodes then. Empty tets cannot fill such a place, as the lattice
/// tets around are all there. Whether it found one; num_shared counts tets that took in another.
bool JoinCopiesAtPinch(SplitCage* cage);

}  // namespace plush::tools
