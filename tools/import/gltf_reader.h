// SPDX-License-Identifier: MIT
// Reads glTF 2.0 files.
#pragma once

#include "base/result.h"
#include "import/raw_scene.h"

#include <cstddef>
#include <span>
#include <string>

namespace plush::tools {

/// Whether a file's first bytes are those of a .glb file, or of JSON.
bool IsGltf(std::span<const std::byte> bytes);

/// Reads `bytes` of file `path`, whose folder holds the separate files.
/// - Scene: the default one, else the first one; without any, all nodes without a parent.
/// - Nodes come before their children. Nodes and meshes without a name have their place instead, as
///   in "nodes[3]" and "meshes[3]-0" (mesh and primitive).
/// - Meshes: one for each primitive (ReadGltfPrimitive), with morph targets by the weights of the
///   node, else of the mesh; skins.
/// - Instances of EXT_mesh_gpu_instancing are nodes below their own.
/// - Primitives without a material get the last one, which is white.
/// - Extras have owners "scene", "node:NAME", "mesh:NAME", "material:NAME".
/// - Findings: IMPORT_ATTRIBUTE, IMPORT_EXTENSION, IMPORT_FILE_MISSING, IMPORT_LEFT_OUT.
///
/// Errors: kInvalidInput and kUnsupported, in one line with the place.
Result<RawScene> ReadGltf(const std::string& path, std::span<const std::byte> bytes);

}  // namespace plush::tools
