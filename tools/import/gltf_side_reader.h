// SPDX-License-Identifier: MIT
// What Assimp drops of glTF files: attributes named "_...", extras of scenes, nodes, meshes and
// materials, texture coordinates bit for bit.
#pragma once

#include "import/raw_scene.h"

#include <string>

namespace plush::tools {

/// Adds to `scene`, which was read from the glTF 2.0 file `path`, what that file holds besides:
/// - attributes named "_..." of each primitive (vectors as "_name.x" to "_name.w");
/// - UVs as written (Assimp turns them upside down), and the mesh's own name;
/// - extras, with owners "scene", "node:NAME", "mesh:NAME", "material:NAME" (where there is no
/// name:
///   the place, as in "node:nodes[3]").
/// Primitives and meshes are matched by vertex count and bit-equal positions, else by name and
/// count; one that matches nothing keeps what it has. A file that cannot be read adds nothing.
void AddGltfSideData(const std::string& path, RawScene* scene);

}  // namespace plush::tools
