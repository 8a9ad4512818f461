// SPDX-License-Identifier: MIT
#include "simulate/scene_state.h"

#include "plush/format/tet_block.h"

#include "base/material_limits.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace plush::tools {
namespace {

constexpr uint64_t kMaxSteps = 1ull << 53;  // doubles count them exactly
constexpr NumberRange kStartRange = {0.0, 1.0e12};

Error Damaged(const std::string& what) {
  return {ExitCode::kInvalidInput, what + "; save the state again", ""};
}

Error LoadError(const Status& status) {
  const std::string why = std::string(status.section) + " " + status.reason;
  switch (status.code) {
    case StatusCode::kOutOfMemory:
      return {ExitCode::kLimit, why, ""};
    case StatusCode::kForeignVersion:
      return {ExitCode::kUnsupported, why + "; save the state again with this version", ""};
    case StatusCode::kMismatch:
      return {ExitCode::kInvalidInput, "the state is of another scene: " + why, ""};
    default:
      return Damaged(why);
  }
}

// The header, checked.
Result<StateHeader> ReadHeader(std::span<const std::byte> state) {
  StateHeader header;
  if (state.size() < sizeof(header)) return Damaged("the file is too short for a state");
  const StateHeader expected;
  std::memcpy(&header, state.data(), sizeof(header));
  if (std::memcmp(header.magic, expected.magic, sizeof(header.magic)) != 0) {
    return Error{ExitCode::kInvalidInput, "this is no state of plush simulate", ""};
  }
  if (header.version != expected.version) {
    return Error{ExitCode::kUnsupported,
                 "the state has version " + std::to_string(header.version) +
                     "; this program reads version " + std::to_string(expected.version),
                 ""};
  }
  if (header.steps > kMaxSteps || !Contains(kStartRange, header.start) ||
      !Contains(kTimeStepRange, header.dt)) {
    return Damaged("the time in the state is out of range");
  }
  return header;
}

// Whether the world has exactly the bodies, colliders and constraints of the scene, and no other
// attachments.
bool Fits(const SceneWorld& scene_world) {
  const World& world = *scene_world.world;
  const auto has_body = [&](const SceneWorldBody& body) {
    std::vector<Vec3> nodes(scene_world.asset_of(body).simulation().nodes.size());
    return world.NodePositions(body.id, 1.0f, nodes).ok();
  };
  const auto has_collider = [&](ColliderId id) { return world.IsValid(id); };
  const auto is_attached = [&](const SceneWorldAttachment& a) { return world.IsValid(a.id); };
  const auto& bodies = scene_world.bodies;
  const auto& colliders = scene_world.colliders;
  const auto num_attached =
      std::count_if(scene_world.attachments.begin(), scene_world.attachments.end(), is_attached);
  const auto& constraints = scene_world.constraints;
  const auto is_held = [&](const SceneWorldConstraint& c) { return world.IsValid(c.id); };
  return world.num_attachments() == static_cast<size_t>(num_attached) &&
         world.num_constraints() == constraints.size() &&
         std::all_of(constraints.begin(), constraints.end(), is_held) &&
         world.num_bodies() == bodies.size() && world.num_colliders() == colliders.size() &&
         std::all_of(bodies.begin(), bodies.end(), has_body) &&
         std::all_of(colliders.begin(), colliders.end(), has_collider);
}

}  // namespace

Result<std::vector<std::byte>> SaveSceneState(const SceneWorld& scene_world, double dt) {
  StateHeader header;
  header.steps = scene_world.clock.steps;
  header.start = scene_world.clock.start;
  header.dt = dt;
  std::vector<std::byte> bytes(sizeof(header) + scene_world.world->StateBytes());
  std::memcpy(bytes.data(), &header, sizeof(header));
  size_t size = 0;
  const Status status =
      scene_world.world->SaveState(std::span(bytes).subspan(sizeof(header)), &size);
  if (!status.ok()) return StatusError("the state", status);
  bytes.resize(sizeof(header) + size);
  return bytes;
}

Result<Done> LoadSceneState(std::span<const std::byte> state, double dt, SceneWorld* scene_world) {
  const Result<StateHeader> header = ReadHeader(state);
  if (!header.ok()) return header.error();
  std::vector<const Asset*> assets;
  for (const auto& asset : scene_world->assets) assets.push_back(asset.get());
  World& world = *scene_world->world;
  const SolverMethod* const solvers[] = {&kImplicitMethod};
  const Status loaded = world.LoadState(state.subspan(sizeof(StateHeader)), assets, solvers);
  if (!loaded.ok()) return LoadError(loaded);
  if (!Fits(*scene_world)) {
    return Error{ExitCode::kInvalidInput,
                 "the state is of a scene with other bodies, colliders, attachments or "
                 "constraints",
                 ""};
  }
  const StateHeader& h = header.value();
  // Steps of the same length go on counting, so that times keep their bits.
  scene_world->clock = h.dt == dt ? SceneClock{h.start, h.steps}
                                  : SceneClock{h.start + static_cast<double>(h.steps) * h.dt, 0};
  const Status prepared = world.PrepareTimeStep(static_cast<float>(dt));
  if (!prepared.ok()) return StatusError("dt", prepared);
  return Done{};
}

}  // namespace plush::tools
