// SPDX-License-Identifier: MIT
// Compares rest data and factor with the cage and its materials.
#pragma once

#include "plush/asset.h"
#include "plush/format/tet_block.h"

#include "base/finding.h"
#include "base/vec3.h"

#include <optional>

namespace plush::tools {

/// Whether the tet's nodes are distinct existing nodes with finite positions.
bool IsSoundTet(const SimulationView& simulation, const Tet& tet);

/// Recomputes volumes, Dm^-1, masses, median edge, components, pieces of clusters, used nodes and
/// the order of the regions' nodes in double precision and compares. Skips unsound tets: the
/// structure's checks report them. Adds FILE_REST_DATA and FILE_UNREFERENCED_NODE.
void CheckRestData(const Asset& asset, FindingList* findings);

/// Compares the stiffness of every tet with what its volume and material give. Adds
/// FILE_REST_DATA.
void CheckMaterials(const Asset& asset, FindingList* findings);

/// Checks the factor's values in two ways:
/// - they equal what the runtime's factorisation makes of the rest data, to a few roundings;
/// - the factor solves A x = b for the matrix A = M + (dt^2 + damping dt) sum 2 mu V G G^T [Kug,
///   Alg. 1], assembled here from the tets. This finds errors of the factorisation itself.
///
/// The residual may be as large as the rounding of an exact factor to float makes it. To first
/// order, with u = 2^-24, that is u (2 |L| |D| + |L| |D| |D^-1| |D|) |L^T| |x| by rows: an entry of
/// L or D^-1 moves by at most u times itself, and a change E of D^-1 changes D by D E D.
///
/// Adds FILE_FACTOR with the nodes beyond that. Needs an asset whose rest data and factor structure
/// have passed Asset::Open's checks. O(flops of factoring).
void CheckFactorAccuracy(const SimulationView& simulation, const FactorView& factor,
                         FindingList* findings);

}  // namespace plush::tools
