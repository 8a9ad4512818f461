// SPDX-License-Identifier: MIT
// Repairs of a pinched boundary: fills gaps with empty tets, or joins copies of a lattice tet.
#pragma once

#include "lattice/lattice.h"
#include "lattice/split_cage.h"

#include <cstdint>

namespace plush::tools {

/// Adds empty tets around pinched edges and nodes (FindBoundaryDefects). A gap is a run of lattice
/// tets around the edge or node that the cage does not have there.
/// - Around an edge it fills all gaps but the largest, around a node the smallest.
/// - It repeats this until nothing is pinched, no gap is left to fill, or 20 rounds are over.
/// Counts the added tets in num_filled. Returns the number of edges and nodes still pinched.
uint32_t FillGaps(const Lattice& lattice, SplitCage* cage);

/// Finds a pinched edge or node (FindBoundaryDefects) at which two copies of one lattice tet meet,
/// and joins the copies: merges their nodes corner by corner, then merges all tets that have the
/// same four nodes. This repairs places that FillGaps cannot, because all lattice tets around them
/// are present. Returns whether it found such a place; num_shared counts the merged tets.
bool JoinCopiesAtPinch(SplitCage* cage);

}  // namespace plush::tools
