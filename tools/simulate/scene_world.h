// SPDX-License-Identifier: MIT
// A scene brought to life: its assets opened, its bodies in a World.
#pragma once

#include "plush/asset.h"
#include "plush/world.h"

#include "base/finding.h"
#include "base/result.h"
#include "simulate/job_pool.h"
#include "simulate/scene.h"

#include <memory>
#include <string>
#include <vector>

namespace plush::tools {

/// A body of the running scene.
struct SceneWorldBody {
  BodyId id;
  uint32_t asset_index = 0;  ///< into SceneWorld::assets
  std::string name;          ///< file name of the asset without extension; of several copies with
                             ///< ".0", ".1", ... behind it
  bool fixed = false;
};

/// Everything that must live while a scene runs, in the order in which it may be destroyed (last
/// first).
struct SceneWorld {
  std::vector<std::unique_ptr<Asset>> assets;  ///< each file once
  std::vector<SceneWorldBody> bodies;          ///< in the order of the scene, copies in a row
  std::unique_ptr<JobPool> jobs;
  std::unique_ptr<World> world;

  const Asset& asset_of(const SceneWorldBody& body) const { return *assets[body.asset_index]; }
};

/// Opens the assets of `scene`, adds all bodies and planes and prepares the time step. Adds
/// PIN_UNMATCHED where a box or sphere holds no node. Errors: those of OpenAsset; kUsage (a region
/// that the asset does not have, or a description that the World refuses), kLimit (memory).
Result<SceneWorld> BuildSceneWorld(const Scene& scene, FindingList* findings);

/// Cage nodes of `asset` that `pin` holds, ascending. Errors: kUsage (no such region).
Result<std::vector<uint32_t>> PinnedNodes(const Asset& asset, const ScenePin& pin);

/// Where copy `index` of `body` stands: body.pose moved along the grid.
Pose CopyPose(const SceneBody& body, const Asset& asset, uint32_t index);

}  // namespace plush::tools
