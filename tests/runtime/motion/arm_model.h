// SPDX-License-Identifier: MIT
// A tet mesh that hangs by one hand: the armadillo used to measure other solvers.
#pragma once

#include "runtime/tet_fixtures.h"

#include <string>
#include <vector>

namespace plush::test {

/// Reads TetGen's NAME.node and NAME.ele, numbered from 0. Fails the test if they cannot be read.
tools::TetMesh ReadTetGen(const std::string& node_path);

/// `mesh` in the pose of [Kug]'s swinging armadillo: scaled to a tenth, turned half a turn about y,
/// with positive volumes.
tools::TetMesh StandingArm(tools::TetMesh mesh);

/// Nodes of the asset within `radius` of `centre` (inclusive), both in rest coordinates [m].
std::vector<uint32_t> NodesWithin(const ShapeAsset& shape, const tools::Vec3d& centre,
                                  double radius);

}  // namespace plush::test
