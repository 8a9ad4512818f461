// SPDX-License-Identifier: MIT
// The skins of glTF files.
#pragma once

#include "import/gltf_document.h"
#include "import/raw_scene.h"

#include <cstdint>
#include <span>

namespace plush::tools {

/// Gives the meshes of `scene` their joints.
/// - sources[i] is the document's node that scene->nodes[i] was made from.
/// - The joints of the meshes' weights are numbers in the list of whatever skin a node gives them.
///   They become numbers of RawMesh::joints.
/// - A mesh that nodes show with different skins is copied. One without a skin loses its weights.
/// - Joints outside the scene, and weights of joints that do not exist, are left out. A mesh
///   without valid weights has no skin.
void AddGltfSkins(std::span<const uint32_t> sources, GltfDocument* document, RawScene* scene);

}  // namespace plush::tools
