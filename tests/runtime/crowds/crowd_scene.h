// SPDX-License-Identifier: MIT
// Many bodies of one asset, so that the runtime steps them in crowds.
#pragma once

#include "runtime/tet_fixtures.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plush::test {

/// How one body starts. Owns the memory of its pins.
struct Member {
  Pose pose;
  Vec3 velocity, angular_velocity;
  std::vector<uint32_t> pins;
  std::vector<Vec3> wobble;  ///< further velocities of the nodes, or none

  BodyId AddTo(World* world, const Asset& asset, const SplittingSettings& splitting = {}) const;
};

/// A member near `position`, in a random rotation, with velocities up to `speed` [m/s] of the whole
/// and of each node.
Member RandomMember(const ShapeAsset& shape, const Vec3& position, double speed, Random* random);

/// `count` different nodes in ascending order.
std::vector<uint32_t> RandomPins(size_t num_nodes, size_t count, Random* random);

/// A box with a region "low" of a few nodes.
ShapeAsset CrowdBox(uint32_t seed);

/// Whether a crowd took part in the last step of a world with planes. In such a world, solves of
/// single bodies count as Phase::kContact and those of crowds as Phase::kSolve.
bool HadCrowds(const World& world);

/// How many contacts the world draws.
int DrawnContacts(const World& world);

/// Positions and velocities of a body as numbers.
std::vector<float> StateOf(const World& world, BodyId id, size_t num_nodes);

}  // namespace plush::test
