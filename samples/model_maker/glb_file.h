// SPDX-License-Identifier: MIT
// A model as binary glTF.
#pragma once

#include "model.h"

#include <cstddef>
#include <vector>

namespace plush::samples {

/// The bytes of a GLB file: one node, one mesh, one primitive per material that has triangles, with
/// POSITION, NORMAL and `_pin`. Vertices on a border between materials occur in each of their
/// primitives with equal bits.
std::vector<std::byte> WriteGlb(const Model& model, const ModelMesh& mesh);

}  // namespace plush::samples
