// SPDX-License-Identifier: MIT
// World's calls on pins that move: targets for the next step, and the forces on them.
// The step's part is in pin_motion.cpp.
#include "plush/pose.h"

#include "asset/regions.h"
#include "base/invalid.h"
#include "base/vector_math.h"
#include "body/make_body.h"
#include "body/pin_motion.h"
#include "world/world_impl.h"

namespace plush {
namespace {

constexpr Status kNoPinMemory = {StatusCode::kOutOfMemory, "pins", "", 0};
constexpr Status kNoReactions = {StatusCode::kInvalidArgument, "id",
                                 "was added without report_reactions", 0};

std::span<const std::byte> AssetBytes(const Body& body) { return body.system->key.asset_bytes; }

// Gives a node a target. `world`: where to (3 x 1) [m]. Wakes the body if that is elsewhere.
void SetTarget(size_t node, const double* world, int32_t region, Body* body) {
  const double inverse = 1.0 / double(body->scale);
  PinMotion& pins = body->pins;
  const Vec3 target = {static_cast<float>((world[0] - body->origin[0]) * inverse),
                       static_cast<float>((world[1] - body->origin[1]) * inverse),
                       static_cast<float>((world[2] - body->origin[2]) * inverse)};
  const Vec3 way = target - body->x[node];
  if (way.x != 0.0f || way.y != 0.0f || way.z != 0.0f) WakeUp(body);
  pins.targets[node] = target;
  pins.regions[node] = region;
  pins.moves = true;
}

// A fixed body whose pins are all at their targets does not move. Else it would keep awake what
// rests on it, if the game places it in each frame.
void DropRestingTargets(Body* body) {
  PinMotion& pins = body->pins;
  if (!body->fixed) return;
  for (size_t i = 0; i < body->x.size(); ++i) {
    const Vec3 way = pins.targets[i] - body->x[i];
    if (pins.regions[i] != PinMotion::kStays && !IsZero(way)) return;
  }
  const bool rested = pins.rests;
  EndPinMotion(body);
  pins.rests = rested;
}

bool CanMovePins(const Allocator& allocator, Body* body) {
  return ReserveTargets(allocator, NumRegions(AssetBytes(*body)), body);
}

}  // namespace

Status World::MovePins(BodyId id, uint32_t region, const Pose& target) {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  if (body->frozen) return kFrozen;
  if (region >= NumRegions(AssetBytes(*body))) return Invalid("region", "no such region", region);
  const Status checked = CheckPose(target);
  if (!checked.ok()) return checked;
  const RegionView view = RegionOf(AssetBytes(*body), region);
  for (size_t i = 0; i < view.nodes.size(); ++i) {
    if (!body->IsPinned(view.nodes[i])) return Invalid("region", "has a node without a pin", i);
  }
  if (!CanMovePins(impl_->allocator, body)) return kNoPinMemory;
  RegionMotion& motion = body->pins.motions[region];
  motion.to = target;
  motion.moves = true;
  for (const uint32_t node : view.nodes) {
    const Vec3& X = body->simulation.nodes[node];
    double p[3] = {X.x, X.y, X.z};
    MoveWithPose(view.rest, target, double(body->scale), p);
    SetTarget(node, p, static_cast<int32_t>(region), body);
  }
  DropRestingTargets(body);
  return {};
}

Status World::MovePins(BodyId id, std::span<const uint32_t> nodes, std::span<const Vec3> targets) {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  if (body->frozen) return kFrozen;
  if (nodes.size() != targets.size()) return Invalid("targets", "must be as many as nodes");
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i] >= body->x.size()) return Invalid("nodes", "no such node", i);
    if (!body->IsPinned(nodes[i])) return Invalid("nodes", "has no pin", i);
    if (!IsPosition(targets[i])) return Invalid("targets", "must lie within kMostCoordinate", i);
  }
  if (nodes.empty()) return {};
  if (!CanMovePins(impl_->allocator, body)) return kNoPinMemory;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const double p[3] = {targets[i].x, targets[i].y, targets[i].z};
    SetTarget(nodes[i], p, PinMotion::kStraight, body);
  }
  DropRestingTargets(body);
  return {};
}

Status World::RegionReaction(BodyId id, uint32_t region, Reaction* out_reaction) const {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, out_reaction, &body);
  if (!found.ok()) return found;
  if (!ReportsReactions(*body)) return kNoReactions;
  if (region >= NumRegions(AssetBytes(*body))) return Invalid("region", "no such region", region);
  const std::span<const uint32_t> nodes = RegionOf(AssetBytes(*body), region).nodes;
  Vec3 centre;  // in the body's coordinates
  float count = 0.0f;
  for (const uint32_t node : nodes) {
    if (!body->IsPinned(node)) continue;
    centre += body->x[node];
    count += 1.0f;
  }
  if (count == 0.0f) return {};
  centre *= 1.0f / count;
  out_reaction->about = WorldPosition(*body, centre);
  for (const uint32_t node : nodes) {
    if (!body->IsPinned(node)) continue;
    const Vec3& force = body->pins.reactions[node];
    out_reaction->force += force;
    out_reaction->torque += Cross((body->x[node] - centre) * body->scale, force);
  }
  return {};
}

Status World::NodeReactions(BodyId id, std::span<Vec3> forces) const {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  if (!ReportsReactions(*body)) return kNoReactions;
  if (forces.size() != body->x.size()) return Invalid("forces", "wrong number of elements");
  for (size_t i = 0; i < forces.size(); ++i) forces[i] = body->pins.reactions[i];
  return {};
}

}  // namespace plush
