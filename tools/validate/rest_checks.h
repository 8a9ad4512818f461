// SPDX-License-Identifier: MIT
// Whether rest data and factor are those of the cage.
#pragma once

#include "plush/asset.h"

#include "base/finding.h"
#include "base/vec3.h"

#include <optional>

namespace plush::tools {

/// Whether the tet's nodes are distinct existing nodes with finite positions.
bool IsSoundTet(const SimulationView& simulation, const Tet& tet);

/// Whether the tet's slot is one of the places in blocks.
bool HasPlace(const SimulationView& simulation, size_t tet);

/// Middle of a sound tet [m].
Vec3d TetCentre(const SimulationView& simulation, const Tet& tet);

/// Compares volumes, Dm^-1, masses, median edge, number of components, node use and the place of
/// the regions' nodes with the cage's nodes and the tets' materials, in double precision; unsound
/// tets are left out, they are findings of the structure. Adds FILE_REST_DATA and
/// FILE_UNREFERENCED_NODE.
void CheckRestData(const Asset& asset, FindingList* findings);

/// Compares the stiffness of every tet with its volume, and Young's modulus and Poisson's ratio of
/// its material. Adds FILE_REST_DATA.
void CheckMaterials(const Asset& asset, FindingList* findings);

/// Looks at the factor's values in two ways. They must be those that the runtime's factorisation
/// makes of the rest data, to a few roundings of float. And because that could be wrong itself: of
/// solutions x of A x = b with the factor, for a matrix A = M + (dt^2 + damping dt) sum 2 mu V G
/// G^T [Kug, Alg. 1] that is assembled here from the tets, the residual must be within what
/// rounding an exact factor to float changes. With u = 2^-24, to first order that is u (2 |L| |D| +
/// |L| |D| |D^-1| |D|) |L^T| |x| by rows: an entry of L or of D^-1 moves by at most u times itself,
/// and D by D E D where D^-1 moves by E. Adds FILE_FACTOR with the nodes beyond it. Needs an asset
/// whose rest data and factor structure have passed Asset::Open's checks. O(flops of factoring).
void CheckFactorAccuracy(const SimulationView& simulation, const FactorView& factor,
                         FindingList* findings);

}  // namespace plush::tools
