// SPDX-License-Identifier: MIT
// A conforming tet mesh by TetGen: its boundary is the surface itself. Checks the surface before
// and the tets afterwards.
#pragma once

#include "base/finding.h"
#include "base/result.h"
#include "mesh/tet_mesh.h"
#include "solid/inside.h"
#include "solid/solid_surface.h"
#include "tetgen/tetgen_process.h"

namespace plush::tools {

/// Fills `surface` with tets by the program `tetgen`.
/// - First checks that the surface is closed and that its triangles meet only in shared corners and
///   edges (decided exactly).
/// - Removes the tets of cavities, then checks that the others have the volume of the solid.
/// - Every point of the surface is a node. Nodes are representable in single precision, and each
///   belongs to a tet. Every tet is positively oriented.
/// Preconditions: the points of the surface are representable in single precision; `inside` belongs
/// to `surface`.
///
/// Errors; all but kIo also add their finding:
/// - kInvalidInput: CAGE_TETGEN_REFUSED, MESH_EMPTY;
/// - kHelperDied: CAGE_TETGEN_MISSING, CAGE_TETGEN_FAILED;
/// - kLimit: CAGE_TETGEN_LIMIT;
/// - kIo.
Result<TetMesh> MeshWithTetGen(const SolidSurface& surface, const InsideTest& inside,
                               const TetGenSettings& settings, FindingList* findings);

}  // namespace plush::tools
