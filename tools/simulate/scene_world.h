// SPDX-License-Identifier: MIT
// A scene that runs: its open assets, and its bodies in a World.
#pragma once

#include "plush/asset.h"
#include "plush/jobs.h"
#include "plush/world.h"

#include "base/finding.h"
#include "base/result.h"
#include "simulate/scene.h"

#include <memory>
#include <string>
#include <vector>

namespace plush::tools {

/// The job system that the tools give to a World: a pool of threads (oneTBB). It starts `threads`
/// threads even on a machine with fewer cores, because tests compare thread counts.
class JobPool {
 public:
  /// `threads` >= 1, the calling one included.
  explicit JobPool(uint32_t threads);
  ~JobPool();
  JobPool(const JobPool&) = delete;
  JobPool& operator=(const JobPool&) = delete;

  /// Valid as long as the pool. With one thread `run` is null: the World needs no help.
  JobSystem job_system();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct SceneWorldBody {
  BodyId id;
  uint32_t asset_index = 0;  ///< into SceneWorld::assets
  std::string name;          ///< file name of the asset without extension; several copies add
                             ///< ".0", ".1", ...
  bool fixed = false;
};

/// Everything that must live while a scene runs; the last member is destroyed first.
struct SceneWorld {
  std::vector<std::unique_ptr<Asset>> assets;  ///< each file once
  std::vector<SceneWorldBody> bodies;          ///< in the order of the scene, copies in a row
  std::vector<ColliderId> colliders;           ///< in the order of the scene
  std::unique_ptr<JobPool> jobs;
  std::unique_ptr<World> world;

  const Asset& asset_of(const SceneWorldBody& body) const { return *assets[body.asset_index]; }
  size_t num_nodes() const;  ///< cage nodes of all bodies
  size_t num_tets() const;   ///< of all bodies
};

/// Opens the assets of `scene`, adds all bodies and colliders and prepares the time step. Adds
/// PIN_UNMATCHED if a box or sphere holds no node. Errors: those of OpenAsset; kUsage (a region
/// that the asset lacks, or a description that the World refuses), kLimit (memory).
Result<SceneWorld> BuildSceneWorld(const Scene& scene, FindingList* findings);

/// Cage nodes of `asset` that `pin` holds, ascending. Errors: kUsage (no such region).
Result<std::vector<uint32_t>> PinnedNodes(const Asset& asset, const ScenePin& pin);

/// The pose of copy `index` of `body`: body.pose moved along the grid.
Pose CopyPose(const SceneBody& body, const Asset& asset, uint32_t index);

}  // namespace plush::tools
