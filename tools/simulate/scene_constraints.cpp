// SPDX-License-Identifier: MIT
#include "simulate/scene_constraints.h"

#include "simulate/scene_attachments.h"
#include "simulate/scene_values.h"

#include <nlohmann/json.hpp>

namespace plush::tools {
namespace {

using nlohmann::json;

constexpr size_t kMaxConstraints = 1000;
constexpr NumberRange kShareRange = {0.0, 1.0, true};

void ReadKind(const JsonObject& reader, ConstraintDesc* desc) {
  std::string kind = "point";
  reader.String("kind", &kind);
  if (kind == "line") {
    desc->kind = ConstraintKind::kLine;
  } else if (kind == "plane") {
    desc->kind = ConstraintKind::kPlane;
  } else if (kind != "point") {
    reader.Mistake("kind", "'" + kind + "' is not 'point', 'line' or 'plane'");
  }
  const bool has_direction = ReadVec3(reader, "direction", &desc->direction);
  if (desc->kind == ConstraintKind::kPoint) {
    if (has_direction) reader.Mistake("direction", "is of lines and planes only");
    return;
  }
  const Vec3& n = desc->direction;
  if (!has_direction) {
    reader.Mistake("direction", "is missing");
  } else if (!(n.x * n.x + n.y * n.y + n.z * n.z > 1.0e-12f)) {
    reader.Mistake("direction", "has no length");
  }
}

SceneConstraint ReadConstraint(const json& value, const std::string& path, const Scene& scene,
                               std::string* mistake) {
  SceneConstraint constraint;
  const JsonObject reader(
      value, path, {"body", "at", "kind", "direction", "target", "motion", "correction"}, mistake);
  std::optional<uint32_t> body;
  ReadIndex(reader, "body", scene.bodies.size(), &body);
  if (!reader.Has("body")) reader.Mistake("body", "is missing");
  if (!ReadVec3(reader, "at", &constraint.at)) reader.Mistake("at", "is missing");
  ReadKind(reader, &constraint.desc);
  ReadMotion(reader, &constraint.motion, mistake);
  CheckPointMotion(reader, constraint.motion);
  Vec3 target;
  if (!constraint.motion.keys.empty()) {
    constraint.target = constraint.motion.At(0.0).position;
  } else if (ReadVec3(reader, "target", &target)) {
    constraint.target = target;
  }
  reader.Number("correction", kShareRange, &constraint.desc.correction);
  if (!body) return constraint;
  constraint.body = *body;
  if (scene.bodies[*body].fixed) reader.Mistake("body", "is static");
  return constraint;
}

Result<Done> AddConstraint(const SceneConstraint& constraint, uint32_t index, size_t body_index,
                           SceneWorld* built) {
  World& world = *built->world;
  const SceneWorldBody& body = built->bodies[body_index];
  const Result<SurfacePoint> at = NearestOf(world, body, Shifted(constraint.at, body.offset));
  if (!at.ok()) return at.error();
  ConstraintDesc desc = constraint.desc;
  desc.target = constraint.target ? Shifted(*constraint.target, body.offset) : at.value().position;
  SceneWorldConstraint& added = built->constraints.emplace_back();
  added = {{}, index, body_index};
  const Status status = world.AddConstraint(at.value(), desc, &added.id);
  return status.ok() ? Result<Done>(Done{}) : StatusError("body '" + body.name + "'", status);
}

}  // namespace

void ReadConstraints(const JsonObject& reader, Scene* scene, std::string* mistake) {
  for (const json& constraint : reader.Array("constraints", kMaxConstraints)) {
    const std::string path = "constraints[" + std::to_string(scene->constraints.size()) + "]";
    scene->constraints.push_back(ReadConstraint(constraint, path, *scene, mistake));
  }
}

Result<Done> AddConstraints(const Scene& scene, SceneWorld* built) {
  const std::vector<size_t> first_copies = FirstCopies(scene);
  for (uint32_t i = 0; i < scene.constraints.size(); ++i) {
    const SceneConstraint& constraint = scene.constraints[i];
    for (uint32_t copy = 0; copy < scene.bodies[constraint.body].count; ++copy) {
      const auto added = AddConstraint(constraint, i, first_copies[constraint.body] + copy, built);
      if (!added.ok()) {
        return added.error().WithContext("constraints[" + std::to_string(i) + "]");
      }
    }
  }
  return Done{};
}

}  // namespace plush::tools
