// SPDX-License-Identifier: MIT
// Reads the skins of glTF files. Assimp reads them too, but only the first four joints of a vertex,
// and no weights in integers.
#pragma once

#include "import/gltf_document.h"
#include "import/raw_scene.h"

#include <cstdint>
#include <span>

namespace plush::tools {

/// Where a mesh comes from; UINT32_MAX if that is not known.
struct GltfPrimitive {
  uint32_t mesh = UINT32_MAX;       ///< into the document's meshes
  uint32_t primitive = UINT32_MAX;  ///< into the mesh's primitives
};

/// Gives the meshes of `scene`, which Assimp read from `document`, their joints and weights.
/// - sources[i] is the primitive that scene->meshes[i] was made from.
/// - A mesh that nodes show with different skins is copied.
/// - Joints outside the document's scene, and indices and weights that are invalid, are left out. A
///   mesh without valid weights has no skin.
/// - Does nothing if the nodes of `scene` are not those of the document.
void AddGltfSkins(std::span<const GltfPrimitive> sources, GltfDocument* document, RawScene* scene);

}  // namespace plush::tools
