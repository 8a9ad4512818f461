// SPDX-License-Identifier: MIT
// The armadillo that other solvers were measured with: a tet mesh that hangs by one hand.
#pragma once

#include "runtime/tet_fixtures.h"

#include <string>
#include <vector>

namespace plush::test {

/// TetGen's NAME.node and NAME.ele, numbered from 0; the test fails where they cannot be read.
tools::TetMesh ReadTetGen(const std::string& node_path);

/// `mesh` as [Kug]'s swinging armadillo stands: a tenth as large, half a turn about y, every tet
/// with positive volume.
tools::TetMesh StandingArm(tools::TetMesh mesh);

/// Nodes of the asset within `radius` of `centre`, boundary included, both in rest coordinates [m].
std::vector<uint32_t> NodesWithin(const ShapeAsset& shape, const tools::Vec3d& centre,
                                  double radius);

}  // namespace plush::test
