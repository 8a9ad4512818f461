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

/// Checks that tets can fill the surface without repair: every edge is passed as often forwards as
/// backwards, and triangles meet only in shared corners and edges (decided exactly). Errors:
/// - kInvalidInput, MESH_EMPTY: there is no triangle.
/// - kInvalidInput, CAGE_TETGEN_REFUSED. Adds that finding, with places: once if edges are wrong,
///   once if pairs of triangles meet.
Result<Done> CheckFillable(const SolidSurface& surface, FindingList* findings);

/// Removes the tets in cavities (winding number 0) from `mesh`, then checks that the others fill
/// `surface`: every point of the surface is a node, and the volumes agree. Preconditions: `surface`
/// passes CheckFillable; the tets of `mesh` are positively oriented and cover at least the solid.
/// Errors: kHelperDied with CAGE_TETGEN_FAILED.
Result<Done> KeepSolid(const SolidSurface& surface, const InsideTest& inside, TetMesh* mesh);

/// Fills `surface` with tets by the program `tetgen`.
/// - Checks the surface before (CheckFillable) and the tets afterwards (KeepSolid).
/// - Every point of the surface is a node. Nodes are representable in single precision, and each is
///   used by a tet. Every tet is positively oriented.
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
