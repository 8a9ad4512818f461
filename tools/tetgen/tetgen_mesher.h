// SPDX-License-Identifier: MIT
// A conforming tet mesh: its boundary is the surface itself.
//
// What a conforming tet mesh asks of its surface, and what the surface may expect of it.
#pragma once

#include "base/finding.h"
#include "base/result.h"
#include "mesh/tet_mesh.h"
#include "solid/inside.h"
#include "solid/solid_surface.h"
#include "tetgen/tetgen_process.h"

namespace plush::tools {

/// Whether tets can fill the surface without repair: every edge is passed as often forwards as
/// backwards, and no two triangles meet but in shared corners and edges (exactly decided). Errors:
/// kInvalidInput with CAGE_TETGEN_REFUSED, after adding that finding once for the edges and once
/// for the pairs of triangles, each with places.
Result<Done> CheckFillable(const SolidSurface& surface, FindingList* findings);

/// Takes the tets that lie in cavities (winding number 0) out of `mesh`, whose tets are positively
/// oriented and in general cover more than the solid; then checks that the rest fills `surface`, a
/// fillable one: every point of it is a node, and the volume is the surface's. Errors: kHelperDied
/// with CAGE_TETGEN_FAILED.
Result<Done> KeepSolid(const SolidSurface& surface, const InsideTest& inside, TetMesh* mesh);

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
