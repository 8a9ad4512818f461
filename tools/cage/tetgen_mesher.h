// SPDX-License-Identifier: MIT
// A conforming tet mesh: its boundary is the surface itself.
#pragma once

#include "base/finding.h"
#include "base/result.h"
#include "cage/inside.h"
#include "cage/solid_surface.h"
#include "cage/tetgen_process.h"
#include "mesh/tet_mesh.h"

namespace plush::tools {

/// Fills `surface` with tets by the program `tetgen`. Points of the surface are nodes; nodes are
/// representable in single precision, each used, and every tet is positively oriented. Before, the
/// surface is checked: what is not closed or meets itself is refused with places. Afterwards, the
/// tets are: they fill the surface's volume, cavities left out. Preconditions: the points are
/// representable in single precision, `inside` belongs to `surface`.
///
/// Errors, each with its finding, which is added: kInvalidInput (CAGE_TETGEN_REFUSED, MESH_EMPTY),
/// kHelperDied (CAGE_TETGEN_MISSING, CAGE_TETGEN_FAILED), kLimit (CAGE_TETGEN_LIMIT); kIo without
/// one.
Result<TetMesh> MeshWithTetGen(const SolidSurface& surface, const InsideTest& inside,
                               const TetGenSettings& settings, FindingList* findings);

}  // namespace plush::tools
