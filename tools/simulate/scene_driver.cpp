// SPDX-License-Identifier: MIT
#include "simulate/scene_driver.h"

#include "simulate/open_asset.h"

#include <algorithm>
#include <string>

namespace plush::tools {
namespace {

bool IsZero(const Vec3& v) { return v.x == 0.0f && v.y == 0.0f && v.z == 0.0f; }

// Whether a motion changes its pose between two times. At time 0 it also says where things are.
bool Moves(const Motion& motion, double begin, double end) {
  return begin == 0.0 || !Equal(motion.At(begin), motion.At(end));
}

}  // namespace

bool SuppliesEnergy(const Scene& scene) {
  const auto moves = [](const SceneCollider& collider) {
    return !collider.motion.keys.empty() || !IsZero(collider.desc.velocity) ||
           !IsZero(collider.desc.angular_velocity);
  };
  const auto has_moving_pin = [](const SceneBody& body) {
    return std::any_of(body.pins.begin(), body.pins.end(),
                       [](const ScenePin& pin) { return !pin.motion.keys.empty(); });
  };
  return !scene.forces.empty() || !scene.attachments.empty() || !scene.constraints.empty() ||
         std::any_of(scene.colliders.begin(), scene.colliders.end(), moves) ||
         std::any_of(scene.bodies.begin(), scene.bodies.end(), has_moving_pin);
}

Result<Done> SceneDriver::MovePins(const MovingPins& pins, double end) {
  World& world = *scene_world_.world;
  const Pose pose = pins.motion.At(end);
  for (size_t i = 0; i < pins.num_bodies; ++i) {
    const SceneWorldBody& body = scene_world_.bodies[pins.first_body + i];
    if (world.IsFrozen(body.id)) continue;
    const Pose target = Moved(pose, body.offset);
    Status status;
    if (pins.region) {
      status = world.MovePins(body.id, *pins.region, target);
    } else {
      targets_.clear();
      for (const Vec3d& arm : pins.arms) {
        targets_.push_back(ToFloat(ToDouble(target.position) + Rotate(target.rotation, arm)));
      }
      status = world.MovePins(body.id, pins.nodes, targets_);
    }
    if (!status.ok()) return StatusError("pins of body '" + body.name + "'", status);
  }
  return Done{};
}

Result<Done> SceneDriver::MoveAttachments(double begin, double end) {
  World& world = *scene_world_.world;
  for (const SceneWorldAttachment& attachment : scene_world_.attachments) {
    const Motion& motion = scene_.attachments[attachment.index].motion;
    if (motion.keys.empty() || !world.IsValid(attachment.id)) continue;
    if (Equal(motion.At(begin), motion.At(end))) continue;
    const Pose target = Moved(motion.At(end), scene_world_.bodies[attachment.body].offset);
    const Status status = world.MoveAttachment(attachment.id, target.position);
    if (!status.ok()) {
      return StatusError("attachments[" + std::to_string(attachment.index) + "].motion", status);
    }
  }
  return Done{};
}

Result<Done> SceneDriver::MoveConstraints(double begin, double end) {
  World& world = *scene_world_.world;
  for (const SceneWorldConstraint& constraint : scene_world_.constraints) {
    const Motion& motion = scene_.constraints[constraint.index].motion;
    if (motion.keys.empty() || Equal(motion.At(begin), motion.At(end))) continue;
    const Pose target = Moved(motion.At(end), scene_world_.bodies[constraint.body].offset);
    const Status status = world.MoveConstraint(constraint.id, target.position);
    if (!status.ok()) {
      return StatusError("constraints[" + std::to_string(constraint.index) + "].motion", status);
    }
  }
  return Done{};
}

Result<Done> SceneDriver::Drive(double begin, double end) {
  World& world = *scene_world_.world;
  for (const MovingPins& pins : scene_world_.moving_pins) {
    if (!Moves(pins.motion, begin, end)) continue;
    const auto moved = MovePins(pins, end);
    if (!moved.ok()) return moved;
  }
  for (size_t i = 0; i < scene_.colliders.size(); ++i) {
    const Motion& motion = scene_.colliders[i].motion;
    if (motion.keys.empty() || Equal(motion.At(begin), motion.At(end))) continue;
    const Status status = world.MoveCollider(scene_world_.colliders[i], motion.At(end));
    if (!status.ok()) return StatusError("colliders[" + std::to_string(i) + "].motion", status);
  }
  auto moved = MoveAttachments(begin, end);
  if (moved.ok()) moved = MoveConstraints(begin, end);
  if (!moved.ok()) return moved;
  const double middle = 0.5 * (begin + end);
  for (size_t i = 0; i < scene_.forces.size(); ++i) {
    const SceneForce& force = scene_.forces[i];
    if (middle < force.from || middle >= force.to) continue;
    const Status status = world.AddForce(force.field);
    if (!status.ok()) return StatusError("forces[" + std::to_string(i) + "]", status);
  }
  return Done{};
}

}  // namespace plush::tools
