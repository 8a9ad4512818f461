// SPDX-License-Identifier: MIT
// Models of files, and ways to bend bodies of them.
#pragma once

#include "plush/types.h"

#include "mesh/surface_mesh.h"
#include "runtime/tet_fixtures.h"

#include <string>
#include <vector>

namespace plush::test {

/// A file of vertices and triangles only. The middle of its box comes to the origin, its diagonal
/// is 1 m.
tools::SurfaceMesh ReadModel(const std::string& path);

/// Stands a model up, then turns it by 30 degrees about the vertical axis.
tools::SurfaceMesh StandUp(tools::SurfaceMesh mesh);

/// Waves of a quarter of a metre and more through the body, of up to `height` [m] each.
std::vector<Vec3> Bent(const std::vector<Vec3>& rest, double height, Random* random);

}  // namespace plush::test
