// SPDX-License-Identifier: MIT
// The rest surface of a soft body as a static mesh: what a MeshShape of its asset is.
#pragma once

#include "plush/allocator.h"
#include "plush/format/static_mesh.h"

#include "base/array.h"

namespace plush {

/// A static mesh in the world's memory. Not movable: `view` points into it.
struct RestMesh {
  const Asset* asset = nullptr;  ///< of the soft body; with the materials
  RestMesh* next = nullptr;      ///< of the world
  Array<Vec3> positions;         ///< see StaticMeshView
  Array<StaticTriangle> triangles;
  Array<uint16_t> materials;  ///< those of the tets that carry the triangles
  Array<StaticNode> tree;
  StaticMeshView view;
};

/// Makes the static mesh of an open soft body's collision surface at rest, in the order of that
/// surface, which is that of its trees. Equal positions become one; triangles without area are left
/// out. Edges of two triangles that pass them in opposite directions make neighbours. Sides are
/// solid if every edge is passed as often forwards as backwards, else front. O(n log n). Returns
/// false if the allocator fails. `mesh` is new.
bool MakeRestMesh(const Allocator& allocator, const Asset& asset, RestMesh* mesh);

}  // namespace plush
