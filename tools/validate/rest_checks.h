// SPDX-License-Identifier: MIT
// Whether the rest data are those of the cage.
#pragma once

#include "plush/asset.h"
#include "plush/format/tet_block.h"

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

}  // namespace plush::tools
