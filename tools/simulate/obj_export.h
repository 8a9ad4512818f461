// SPDX-License-Identifier: MIT
// One frame of a run as Wavefront .obj with its .mtl.
#pragma once

#include "base/result.h"
#include "simulate/scene_world.h"

#include <cstdint>
#include <string>

namespace plush::tools {

/// Text of an .obj and of its material library.
struct ObjFiles {
  std::string obj;
  std::string mtl;
};

/// The skinned meshes of all bodies in their current shape: positions, normals, texture
/// coordinates, a group per part, `usemtl` by material name (white space becomes '_', an empty name
/// "unnamed"). The .obj refers to its library as `mtl_name`. `draw_flags` (DebugDrawFlags) adds
/// line layers: objects such as "draw.cage" with a material by colour. Errors: kInvalidInput (no
/// triangle in any body).
Result<ObjFiles> ExportObj(const SceneWorld& scene_world, const std::string& mtl_name,
                           uint32_t draw_flags = 0);

}  // namespace plush::tools
