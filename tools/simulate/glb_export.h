// SPDX-License-Identifier: MIT
// A run as an animated .glb: render meshes skinned to their cages.
//
// Joint i carries x_i (its node's position) and R, the body's best-fit rotation, the same for all
// joints of a body; its inverse bind matrix is the translation by -X_i. A vertex p with weights w_i
// then stands at sum w_i (x_i + R (p - X_i)) = sum w_i x_i + R (p - sum w_i X_i), and the bracket
// is zero for barycentric weights: every glTF viewer shows exactly the embedding, also between
// frames, and normals turn with the body.
#pragma once

#include "base/result.h"
#include "simulate/animation_recorder.h"
#include "simulate/scene_world.h"

#include <cstddef>
#include <vector>

namespace plush::tools {

/// Bytes of a .glb with all bodies and one animation. Bodies of one asset share its mesh; materials
/// keep their names and get colours of the palette; texture coordinates are those of the source,
/// whose v may count upwards (OBJ) or downwards (glTF). The same run gives the same bytes. Errors:
/// kLimit (a cage of more than 65536 nodes, a file of 4 GiB), kInvalidInput (no triangle in any
/// body).
Result<std::vector<std::byte>> ExportGlb(const SceneWorld& scene_world, const Animation& animation);

}  // namespace plush::tools
