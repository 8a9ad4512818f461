// SPDX-License-Identifier: MIT
#include "simulate/scene_attachments.h"

#include "base/vec3.h"
#include "simulate/open_asset.h"
#include "simulate/scene_values.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace plush::tools {
namespace {

using nlohmann::json;

constexpr size_t kMaxAttachments = 1000;
constexpr NumberRange kStiffnessRange = {0.0, double(kMostStiffness)};
constexpr NumberRange kRestLengthRange = {0.0, double(kMostCoordinate)};
constexpr NumberRange kForceRange = {0.0, 1.0e12, true};  // [N]
constexpr float kAnyDistance = 1.0e10f;                   // to the surface [m]

}  // namespace

void ReadIndex(const JsonObject& reader, const char* key, size_t count,
               std::optional<uint32_t>* out) {
  uint32_t index = 0;
  if (reader.Has(key) && count == 0) {
    reader.Mistake(key, "the scene has none");
  } else if (reader.Integer(key, 0, static_cast<int64_t>(count) - 1, &index)) {
    *out = index;
  }
}

void CheckPointMotion(const JsonObject& reader, const Motion& motion) {
  if (motion.keys.empty()) return;
  if (reader.Has("target")) reader.Mistake("target", "does not go with motion");
  const auto turns = [](const MotionKey& key) {
    return !Equal({{}, key.pose.rotation}, {{}, Quat{}});
  };
  if (std::any_of(motion.keys.begin(), motion.keys.end(), turns)) {
    reader.Mistake("motion", "has a rotation, but a point does not turn");
  }
}

namespace {

void CheckBodies(const JsonObject& reader, const SceneAttachment& attachment,
                 const std::vector<SceneBody>& bodies) {
  const SceneBody& body = bodies[attachment.body];
  if (body.fixed) reader.Mistake("body", "is static");
  if (!attachment.other_body) return;
  const SceneBody& other = bodies[*attachment.other_body];
  if (other.fixed) reader.Mistake("other_body", "is static; attach to a place");
  if (*attachment.other_body == attachment.body) {
    reader.Mistake("other_body", "is the body itself");
  }
  if (attachment.other_collider) reader.Mistake("other_body", "does not go with other_collider");
  if (other.count != body.count) {
    reader.Mistake("other_body", "has " + std::to_string(other.count) + " copies, the body " +
                                     std::to_string(body.count));
  }
}

SceneAttachment ReadAttachment(const json& value, const std::string& path, const Scene& scene,
                               std::string* mistake) {
  SceneAttachment attachment;
  const JsonObject reader(value, path,
                          {"body", "at", "other_body", "other_collider", "target", "motion",
                           "rest_length", "stiffness", "damping", "max_force", "break_force"},
                          mistake);
  std::optional<uint32_t> body;
  ReadIndex(reader, "body", scene.bodies.size(), &body);
  ReadIndex(reader, "other_body", scene.bodies.size(), &attachment.other_body);
  ReadIndex(reader, "other_collider", scene.colliders.size(), &attachment.other_collider);
  if (!reader.Has("body")) reader.Mistake("body", "is missing");
  if (!ReadVec3(reader, "at", &attachment.at)) reader.Mistake("at", "is missing");
  ReadMotion(reader, &attachment.motion, mistake);
  CheckPointMotion(reader, attachment.motion);
  if (!attachment.motion.keys.empty()) {
    if (attachment.other_body || attachment.other_collider) {
      reader.Mistake("motion", "is of places in the world only");
    }
    attachment.target = attachment.motion.At(0.0).position;
  } else if (!ReadVec3(reader, "target", &attachment.target)) {
    reader.Mistake("target", "is missing");
  }
  AttachmentDesc& desc = attachment.desc;
  reader.Number("rest_length", kRestLengthRange, &desc.rest_length);
  reader.Number("stiffness", kStiffnessRange, &desc.stiffness);
  reader.Number("damping", kStiffnessRange, &desc.damping);
  reader.Number("max_force", kForceRange, &desc.max_force);
  reader.Number("break_force", kForceRange, &desc.break_force);
  if (!body) return attachment;
  attachment.body = *body;
  CheckBodies(reader, attachment, scene.bodies);
  return attachment;
}

}  // namespace

Vec3 Shifted(const Vec3& position, const Vec3& offset) {
  return ToFloat(ToDouble(position) + ToDouble(offset));
}

Result<SurfacePoint> NearestOf(const World& world, const SceneWorldBody& body,
                               const Vec3& position) {
  SurfacePoint point;
  const Status status = world.ClosestPoint(body.id, position, kAnyDistance, &point);
  if (!status.ok()) return StatusError("body '" + body.name + "'", status);
  if (point.valid()) return point;
  return Error{ExitCode::kUsage,
               "body '" + body.name + "' has no collision surface to attach; bake it with one", ""};
}

namespace {

// `target` in the coordinates of a collider.
Vec3 LocalTarget(const World& world, ColliderId id, const Vec3& target) {
  ColliderDesc collider;
  (void)world.GetCollider(id, &collider);  // ours
  const Quat& q = collider.pose.rotation;
  return ToFloat(
      Rotate({-q.x, -q.y, -q.z, q.w}, ToDouble(target) - ToDouble(collider.pose.position)));
}

// `other`: the copy of the other body, or null.
Result<Done> Attach(const SceneAttachment& attachment, uint32_t index, size_t body_index,
                    const SceneWorldBody* other, SceneWorld* built) {
  World& world = *built->world;
  const SceneWorldBody& body = built->bodies[body_index];
  const Result<SurfacePoint> at = NearestOf(world, body, Shifted(attachment.at, body.offset));
  if (!at.ok()) return at.error();
  AttachmentDesc desc = attachment.desc;
  desc.target = Shifted(attachment.target, body.offset);
  if (other != nullptr) {
    const auto end = NearestOf(world, *other, Shifted(attachment.target, other->offset));
    if (!end.ok()) return end.error();
    desc.other_body = other->id;
    std::copy(end.value().nodes, end.value().nodes + 4, desc.other_nodes);
    desc.other_weights = end.value().weights;
  }
  if (attachment.other_collider) {
    desc.other_collider = built->colliders[*attachment.other_collider];
    desc.target = LocalTarget(world, desc.other_collider, desc.target);
  }
  SceneWorldAttachment& added = built->attachments.emplace_back();
  added = {{}, index, body_index};
  const Status status = world.Attach(at.value(), desc, &added.id);
  return status.ok() ? Result<Done>(Done{}) : StatusError("body '" + body.name + "'", status);
}

}  // namespace

void ReadAttachments(const JsonObject& reader, Scene* scene, std::string* mistake) {
  for (const json& attachment : reader.Array("attachments", kMaxAttachments)) {
    const std::string path = "attachments[" + std::to_string(scene->attachments.size()) + "]";
    scene->attachments.push_back(ReadAttachment(attachment, path, *scene, mistake));
  }
}

std::vector<size_t> FirstCopies(const Scene& scene) {
  std::vector<size_t> first_copies;
  size_t num_copies = 0;
  for (const SceneBody& body : scene.bodies) {
    first_copies.push_back(num_copies);
    num_copies += body.count;
  }
  return first_copies;
}

Result<Done> AddAttachments(const Scene& scene, SceneWorld* built) {
  const std::vector<size_t> first_copies = FirstCopies(scene);
  for (uint32_t i = 0; i < scene.attachments.size(); ++i) {
    const SceneAttachment& attachment = scene.attachments[i];
    for (uint32_t copy = 0; copy < scene.bodies[attachment.body].count; ++copy) {
      const SceneWorldBody* other =
          attachment.other_body ? &built->bodies[first_copies[*attachment.other_body] + copy]
                                : nullptr;
      const auto added = Attach(attachment, i, first_copies[attachment.body] + copy, other, built);
      if (!added.ok()) {
        return added.error().WithContext("attachments[" + std::to_string(i) + "]");
      }
    }
  }
  return Done{};
}

}  // namespace plush::tools
