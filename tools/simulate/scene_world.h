// SPDX-License-Identifier: MIT
// A scene that runs: its open assets, and its bodies in a World.
#pragma once

#include "plush/asset.h"
#include "plush/jobs.h"
#include "plush/world.h"

#include "base/finding.h"
#include "base/result.h"
#include "base/vec3.h"
#include "simulate/motion.h"
#include "simulate/scene.h"

#include <memory>
#include <optional>
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
  float scale = 1.0f;
  float gravity_factor = 1.0f;
  Filter filter;
  Vec3 offset;  ///< of this copy from the first one [m]
};

/// Pins that move: those of one ScenePin in all copies of its body.
struct MovingPins {
  Motion motion;                   ///< of the first copy
  std::optional<uint32_t> region;  ///< of the asset; without it, `nodes` and `arms` say what moves
  std::vector<uint32_t> nodes;
  std::vector<Vec3d> arms;  ///< from the mean rest position to each node, scaled [m]
  size_t first_body = 0;    ///< into SceneWorld::bodies
  size_t num_bodies = 0;    ///< copies
};

/// An attachment of one copy of a body.
struct SceneWorldAttachment {
  AttachmentId id;
  uint32_t index = 0;  ///< into Scene::attachments
  size_t body = 0;     ///< into SceneWorld::bodies
};

/// A constraint of one copy of a body.
struct SceneWorldConstraint {
  ConstraintId id;
  uint32_t index = 0;  ///< into Scene::constraints
  size_t body = 0;     ///< into SceneWorld::bodies
};

/// How long a scene has run. A state that is loaded sets it.
struct SceneClock {
  double start = 0.0;  ///< time at which steps of the present length began [s]
  uint64_t steps = 0;  ///< steps done since

  /// The time after `more` steps of `dt` seconds [s].
  double After(uint64_t more, double dt) const {
    return start + static_cast<double>(steps + more) * dt;
  }
};

/// Everything that must live while a scene runs; the last member is destroyed first.
struct SceneWorld {
  std::vector<std::unique_ptr<Asset>> assets;     ///< of bodies, each file once
  std::vector<std::unique_ptr<Asset>> meshes;     ///< of colliders
  std::vector<std::vector<float>> heights;        ///< of height fields
  std::vector<SceneWorldBody> bodies;             ///< in the order of the scene, copies in a row
  std::vector<ColliderId> colliders;              ///< in the order of the scene
  std::vector<SceneWorldAttachment> attachments;  ///< in the order of the scene, copies in a row
  std::vector<SceneWorldConstraint> constraints;  ///< in the order of the scene, copies in a row
  std::vector<MovingPins> moving_pins;
  SceneClock clock;
  std::unique_ptr<JobPool> jobs;
  std::unique_ptr<World> world;

  const Asset& asset_of(const SceneWorldBody& body) const { return *assets[body.asset_index]; }
  size_t num_nodes() const;  ///< cage nodes of all bodies
  size_t num_tets() const;   ///< of all bodies
};

/// What the scene says of its world, with the default allocator and no jobs.
WorldDesc WorldDescOf(const Scene& scene);

/// Opens the assets of `scene`, adds all bodies, colliders, attachments and constraints and
/// prepares the time step. Adds PIN_UNMATCHED if a box or sphere holds no node, PIN_LOOSE
/// if all that it holds are on a line. Errors: those of
/// OpenBody, AddAttachments and AddConstraints; kUsage (a region that the asset lacks, or a
/// description that the World refuses), kIo and kInvalidInput (a file of heights that is unreadable
/// or has the wrong size), kLimit (memory).
Result<SceneWorld> BuildSceneWorld(const Scene& scene, FindingList* findings);

/// The error for a call of the World that failed on `what`: kLimit (memory), otherwise kUsage.
Error StatusError(const std::string& what, const Status& status);

/// Cage nodes of `asset` that `pin` holds, ascending. Errors: kUsage (no such region).
Result<std::vector<uint32_t>> PinnedNodes(const Asset& asset, const PinSelection& pin);

/// The pose of copy `index` of `body`: body.pose moved along the grid.
Pose CopyPose(const SceneBody& body, const Asset& asset, uint32_t index);

}  // namespace plush::tools
