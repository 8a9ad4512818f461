// SPDX-License-Identifier: MIT
// Many bodies of one asset, so that the runtime steps them in crowds.
#pragma once

#include "runtime/tet_fixtures.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plush::test {

/// How one body starts, with memory for its pins.
struct Member {
  Pose pose;
  Vec3 velocity, angular_velocity;
  std::vector<uint32_t> pins;
  std::vector<Vec3> wobble;  ///< velocities of the nodes beside, or none

  BodyId AddTo(World* world, const Asset& asset) const;
};

/// Somewhere about `position`, in any rotation, with velocities up to `speed` [m/s] of the whole
/// and of each node.
Member RandomMember(const ShapeAsset& shape, const Vec3& position, double speed, Random* random);

/// Different nodes, ascending.
std::vector<uint32_t> RandomPins(size_t num_nodes, size_t count, Random* random);

/// A box with a region "low" of a few nodes.
ShapeAsset CrowdBox(uint32_t seed);

/// Whether a crowd made part of the last step of a world with planes, all bodies free of contacts:
/// others would have solved with the contacts they look for.
bool HadCrowds(const World& world);

/// Positions and velocities of a body, as numbers.
std::vector<float> StateOf(const World& world, BodyId id, size_t num_nodes);

}  // namespace plush::test
