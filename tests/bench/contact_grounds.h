// SPDX-License-Identifier: MIT
// What bodies of the contact cases fall on, and what is near.
#pragma once

#include "plush/world.h"

#include "bench/swinging_arm.h"

#include <memory>
#include <vector>

namespace plush::bench {

enum class Ground {
  kPlane,
  kBox,
  kRails,
  kSlats,
  kPlaneBelowSolids,
  kHills,
  kFineHills,
  kMeshHills,
  kRoom,
  kTube
};

/// Around the nodes of an asset at rest [m].
struct Box {
  Vec3 low, high;
};
Box BoundsOf(const Asset& asset);

/// What colliders refer to.
struct GroundData {
  struct StaticMesh;

  GroundData();
  ~GroundData();

  std::vector<float> heights;
  std::unique_ptr<StaticMesh> mesh;
  // Of small ones.
  std::vector<Vec3> small_hull;
  std::unique_ptr<StaticMesh> small_mesh;
};

/// Adds the colliders below bodies of this asset. `data` must live as long as the world.
void AddGround(const Asset& asset, Ground ground, GroundData* data, World* world);

}  // namespace plush::bench
