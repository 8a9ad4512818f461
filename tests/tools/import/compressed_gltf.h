// SPDX-License-Identifier: MIT
// Compresses documents under construction, for tests of the glTF reader.
#pragma once

#include "tools/gltf_builder.h"

namespace plush::tests {

/// Replaces each buffer view by one of EXT_meshopt_compression that decodes to the same bytes.
/// Accessors of one or two bytes per element must be padded to four.
void CompressByMeshopt(GltfBuilder* builder);

/// Replaces the triangles and attributes of a mesh's first primitive by those of
/// KHR_draco_mesh_compression. Positions and normals must be floats.
void CompressByDraco(size_t mesh, GltfBuilder* builder);

}  // namespace plush::tests
