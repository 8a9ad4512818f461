// SPDX-License-Identifier: MIT
// A small body for tests of scenes and exports: a ball with texture coordinates and two materials,
// in a box of tets (every vertex has four weights).
#pragma once

#include "plush/asset.h"

#include "tools/procedural_meshes.h"

#include <string>

namespace plush::tests {

/// Writes the ball (radius 0.4 around (0.5, 0.5, 0.5); cage [0, 1]^3 of 320 tets; material E 2e4
/// Pa, nu 0.4, 1000 kg/m^3; regions "high" and "low") as `name` in `folder` and returns its path.
std::string WriteBall(const TemporaryFolder& folder, const std::string& name = "ball.plush");

/// Opens a file; the test fails if that fails.
Asset OpenOrFail(const std::string& path);

}  // namespace plush::tests
