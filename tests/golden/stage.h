// SPDX-License-Identifier: MIT
// A golden scene, and the world that it plays in. Uses the runtime's public headers only, so that
// scenes run wherever the runtime does.
#pragma once

#include "plush/plush.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace plush::golden {

/// Baked assets, FOLDER/NAME.plush, each opened once. Ends the program if one cannot be opened.
class Assets {
 public:
  explicit Assets(std::string folder) : folder_(std::move(folder)) {}
  const Asset& operator[](const std::string& name);

 private:
  std::string folder_;
  std::map<std::string, Asset> assets_;
};

class Stage;

/// What happens in a world, step by step. The same calls in the same order give the same motion.
struct Scene {
  const char* name;
  int steps;
  void (*start)(Stage& stage);                            ///< before the first step
  void (*before_step)(Stage& stage, int step) = nullptr;  ///< before each one, 0 .. steps - 1
  WorldDesc desc = {};
  float dt = 0.01f;  ///< [s]
  int save = 0;      ///< step in which states are saved, before and after its calls; 0: half-way
};

/// A world and the objects that a scene has put into it, in the order of its calls. A call that
/// fails ends the program with its place and reason.
class Stage {
 public:
  /// `description` is the scene's, with the jobs and the memory of this run.
  Stage(const Scene& played, const WorldDesc& description, Assets* all);

  /// An empty world, in which `from` may go on: see Load.
  Stage(const WorldDesc& description, const Stage& from);

  /// Continues from a state that `from` has saved. Height fields and meshes must be there before.
  void Load(const Stage& from, std::span<const std::byte> state);

  BodyId Add(const char* asset, const BodyDesc& desc);
  ColliderId Add(const ColliderDesc& desc);
  AttachmentId Attach(const AttachmentDesc& desc);
  ConstraintId Hold(const ConstraintDesc& desc);
  /// A force field for the next step.
  void Push(const ForceField& field);
  /// The steps that follow take `seconds`.
  void TakeSteps(float seconds) { dt = seconds; }

  /// Checks the result of a call on `world`.
  void Do(const Status& status) const;

  /// The place of a body's surface that is nearest to a point of the world.
  SurfacePoint On(BodyId body, const Vec3& point) const;
  /// An attachment or constraint at that place; the target is there, too.
  AttachmentDesc SpringAt(BodyId body, const Vec3& point) const;
  ConstraintDesc HoldAt(BodyId body, const Vec3& point) const;
  /// A spring between two bodies, at the places that are nearest to a point of the world.
  AttachmentDesc JointAt(BodyId body, BodyId other, const Vec3& point) const;
  /// Index of the region `name` of an asset.
  uint32_t RegionIndex(const char* asset, const char* name) const;
  /// Nodes of a region of an asset, and those whose rest positions lie in a box.
  std::vector<uint32_t> Region(const char* asset, const char* name) const;
  std::vector<uint32_t> NodesIn(const char* asset, const Vec3& low, const Vec3& high) const;

  const Scene& scene;
  Assets& assets;
  std::unique_ptr<World> world;
  std::vector<BodyId> bodies;
  std::vector<const Asset*> assets_of_bodies;
  std::vector<ColliderId> colliders;
  std::vector<AttachmentId> attachments;
  std::vector<ConstraintId> constraints;
  std::vector<ForceField> fields;  ///< of the next step
  float dt;                        ///< of the next step [s]
  bool is_new = true;              ///< a body has not made its first step
  bool has_triangles = false;      ///< colliders that no state holds
};

}  // namespace plush::golden
