// SPDX-License-Identifier: MIT
// Joins the vertices of a mesh that are equal in all they carry.
#pragma once

#include "import/raw_scene.h"

namespace plush::tools {

/// Makes one vertex of those whose position, normal, UV, attributes, joints and weights are equal
/// bit for bit; the first of them stays, and the order of vertices too. Many files have a vertex
/// for each corner of each triangle. Indices out of range stay out of range. O(n).
void JoinEqualVertices(RawMesh* mesh);

}  // namespace plush::tools
