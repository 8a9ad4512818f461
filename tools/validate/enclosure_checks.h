// SPDX-License-Identifier: MIT
// Whether a bounding cage encloses the surface that it carries.
#pragma once

#include "plush/asset.h"

#include "base/finding.h"

#include <cstddef>

namespace plush::tools {

/// Whether the settings say that the cage is a bounding lattice cage. Tets of other meshers end at
/// the surface.
bool HasLatticeCage(const Asset& asset);

/// Proves from the file alone, exactly, that every render triangle with an area lies strictly
/// inside the cage, in the tets that carry its corners and those across the faces that it crosses
/// (FindEscapes), and that the cage's boundary is a manifold apart from branches. Adds
/// FILE_NOT_ENCLOSED with the triangles (or with the tets that are flat or inside out, for then
/// nothing can be proved) and CAGE_PINCHED with the nodes. Tets or vertices with wrong indices are
/// findings of the structure: then nothing is proved. Returns the number of triangles proved to be
/// inside.
size_t CheckEnclosure(const Asset& asset, FindingList* findings);

}  // namespace plush::tools
