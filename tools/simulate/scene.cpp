// SPDX-License-Identifier: MIT
// Reads scene files, checks every number against its range, and makes the scene of a dropped body.
// Unknown keys are errors that name the nearest known key.
#include "simulate/scene.h"

#include "plush/format/tet_block.h"

#include "bake/pins.h"
#include "base/files.h"
#include "base/json_object.h"
#include "base/material_limits.h"
#include "base/text.h"
#include "simulate/open_asset.h"
#include "simulate/scene_attachments.h"
#include "simulate/scene_constraints.h"
#include "simulate/scene_solver.h"
#include "simulate/scene_values.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <utility>

namespace plush::tools {
namespace {

using nlohmann::json;

constexpr uint64_t kMaxSceneBytes = 16u << 20;
constexpr size_t kMaxPins = 1000;
constexpr size_t kMaxColliders = 100000;
constexpr std::ptrdiff_t kMaxColliderFiles = 1000;  // of colliders, which open one each
constexpr NumberRange kLengthRange = {0.0, double(kMostColliderSize), true};  // [m]
constexpr size_t kMaxForces = 1000;
constexpr NumberRange kForceTimeRange = {0.0, 1.0e9};  // [s]
constexpr NumberRange kScaleRange = {0.01, 100.0};     // kLeastScale to kMostScale
constexpr double kDropHeight = 0.3;                    // of the body's height

PinSelection ReadSelection(const JsonObject& pin, std::string* mistake) {
  if (pin.Has("region") + pin.Has("box") + pin.Has("sphere") != 1) {
    pin.Mistake("", "expected exactly one of region, box, sphere");
    return {};
  }
  if (pin.Has("box")) {
    Vec3d low, high;
    ReadBox(pin, &low, &high);
    return BoxPin{ToFloat(low), ToFloat(high)};
  }
  if (pin.Has("sphere")) {
    Vec3d centre;
    double radius = 0.0;
    ReadSphere(pin, mistake, &centre, &radius);
    return SpherePin{ToFloat(centre), static_cast<float>(radius)};
  }
  RegionPin region;
  pin.String("region", &region.name);
  return region;
}

ScenePin ReadPin(const json& value, const std::string& path, std::string* mistake) {
  const JsonObject reader(value, path, {"region", "box", "sphere", "motion"}, mistake);
  ScenePin pin;
  pin.nodes = ReadSelection(reader, mistake);
  ReadMotion(reader, &pin.motion, mistake);
  return pin;
}

void ReadMaterial(const JsonObject& body, MaterialOverride* out, std::string* mistake) {
  if (!body.Has("material")) return;
  const JsonObject material(*body.Value("material"), body.PathOf("material"), kMaterialKeys,
                            mistake);
  material.Number("young", kYoungRange, &out->young);
  material.Number("poisson", kPoissonRange, &out->poisson);
  material.Number("density", kDensityRange, &out->density);
  material.Number("damping", kDampingRange, &out->damping);
  material.Number("friction", kFrictionRange, &out->friction);
  material.Number("restitution", kRestitutionRange, &out->restitution);
}

// A body has the `solver` unless it says otherwise. Adds to `missing` the name of a planned one
// that this version lacks.
SceneBody ReadBody(const json& value, const std::string& path, const std::string& folder,
                   const BodySolver& scene_solver, std::string* missing, std::string* mistake) {
  SceneBody body;
  body.solver = scene_solver;
  const JsonObject reader(value, path,
                          {"asset", "position", "rotation", "velocity", "scale", "gravity_factor",
                           "max_speed", "filter", "count", "material", "solver", "pins", "static"},
                          mistake);
  if (!reader.String("asset", &body.asset) || body.asset.empty()) {
    reader.Mistake("asset", "is missing");
  }
  body.asset = (std::filesystem::path(folder) / body.asset).string();
  ReadPose(reader, &body.pose);
  ReadVec3(reader, "velocity", &body.velocity);
  reader.Number("scale", kScaleRange, &body.scale);
  reader.Number("gravity_factor", {-1.0e6, 1.0e6}, &body.gravity_factor);
  reader.Number("max_speed", {0.0, 1.0e9, true}, &body.max_speed);
  ReadFilter(reader, &body.filter, mistake);
  reader.Integer("count", 1, kMaxSceneBodies, &body.count);
  ReadMaterial(reader, &body.material, mistake);
  if (reader.Has("solver")) {
    const JsonObject solver(*reader.Value("solver"), reader.PathOf("solver"), kSolverKeys, mistake);
    if (solver.Has("contact")) solver.Mistake("contact", "belongs to the scene's solver");
    *missing += ReadSolverSettings(solver, &body.solver);
  }
  ReadModel(reader, &body.solver, mistake);
  for (const json& pin : reader.Array("pins", kMaxPins)) {
    const std::string key = "pins[" + std::to_string(body.pins.size()) + "]";
    body.pins.push_back(ReadPin(pin, reader.PathOf(key), mistake));
  }
  reader.Boolean("static", &body.fixed);
  for (size_t i = 0; body.fixed && i < body.pins.size(); ++i) {
    if (body.pins[i].motion.keys.empty()) continue;
    reader.Mistake("pins[" + std::to_string(i) + "].motion", "a static body does not move");
  }
  return body;
}

void ReadPlane(const JsonObject& shape, PlaneShape* out) {
  ReadVec3(shape, "normal", &out->normal);
  const Vec3 n = out->normal;
  if (!(n.x * n.x + n.y * n.y + n.z * n.z > 1.0e-12f)) shape.Mistake("normal", "has no length");
  shape.Number("offset", {-1.0e9, 1.0e9}, &out->offset);
}

void ReadBox(const JsonObject& shape, BoxShape* out) {
  ReadVec3(shape, "half_extents", &out->half_extents);
  const Vec3& half = out->half_extents;
  if (!(half.x > 0.0f && half.y > 0.0f && half.z > 0.0f) ||
      std::max({half.x, half.y, half.z}) > kMostColliderSize) {
    shape.Mistake("half_extents", "has a number that is not above 0 and at most 1e6");
  }
}

void ReadHull(const JsonObject& shape, const std::string& folder, SceneCollider* out) {
  for (const json& point : shape.Array("points", kMostHullPoints)) {
    const auto coordinate = [&](size_t k) {
      const json* number = point.is_array() && point.size() == 3 ? &point[k] : nullptr;
      return number != nullptr && number->is_number() ? number->get<double>() : NAN;
    };
    const Vec3d at = {coordinate(0), coordinate(1), coordinate(2)};
    if (!(std::max({std::fabs(at.x), std::fabs(at.y), std::fabs(at.z)}) <= kMostColliderSize)) {
      shape.Mistake("points[" + std::to_string(out->hull_points.size()) + "]",
                    "expected three numbers of at most 1e6");
    }
    out->hull_points.push_back(ToFloat(at));
  }
  if (shape.String("asset", &out->hull_asset)) {
    out->hull_asset = (std::filesystem::path(folder) / out->hull_asset).string();
  }
  if (shape.Has("points") + shape.Has("asset") != 1) {
    shape.Mistake("", "expected exactly one of points, asset");
  }
}

void ReadPath(const JsonObject& shape, const char* key, const std::string& folder,
              std::string* out) {
  if (!shape.String(key, out)) return shape.Mistake(key, "is missing");
  *out = (std::filesystem::path(folder) / *out).string();
}

void ReadHeightField(const JsonObject& shape, const std::string& folder, SceneCollider* out) {
  constexpr uint32_t kMostPoints = 1u << 20;  // along a side
  HeightFieldShape& field = out->desc.height_field = HeightFieldShape{};
  ReadPath(shape, "file", folder, &out->heights_file);
  for (const auto& [key, count] : {std::pair{"columns", &field.columns}, {"rows", &field.rows}}) {
    if (!shape.Has(key)) shape.Mistake(key, "is missing");
    shape.Integer(key, 2, kMostPoints, count);
  }
  shape.Number("spacing", kLengthRange, &field.spacing);
}

// Reads the one shape that a collider has.
void ReadShape(const JsonObject& collider, const std::string& folder, SceneCollider* scene_collider,
               std::string* mistake) {
  ColliderDesc* const out = &scene_collider->desc;
  int count = 0;
  const auto has = [&](const char* name) {
    count += collider.Has(name) ? 1 : 0;
    return collider.Has(name);
  };
  const auto shape = [&](const char* name, std::initializer_list<std::string_view> keys) {
    return JsonObject(*collider.Value(name), collider.PathOf(name), keys, mistake);
  };
  if (has("plane")) ReadPlane(shape("plane", {"normal", "offset"}), &out->plane);
  if (has("sphere")) {
    out->type = ShapeType::kSphere;
    shape("sphere", {"radius"}).Number("radius", kLengthRange, &out->sphere.radius);
  }
  if (has("capsule")) {
    out->type = ShapeType::kCapsule;
    const JsonObject capsule = shape("capsule", {"half_height", "radius"});
    capsule.Number("half_height", {0.0, double(kMostColliderSize)}, &out->capsule.half_height);
    capsule.Number("radius", kLengthRange, &out->capsule.radius);
  }
  if (has("box")) {
    out->type = ShapeType::kBox;
    ReadBox(shape("box", {"half_extents"}), &out->box);
  }
  if (has("hull")) {
    out->type = ShapeType::kHull;
    ReadHull(shape("hull", {"points", "asset"}), folder, scene_collider);
  }
  if (has("mesh")) {
    out->type = ShapeType::kMesh;
    const JsonObject mesh = shape("mesh", {"asset", "scale"});
    ReadPath(mesh, "asset", folder, &scene_collider->mesh_asset);
    mesh.Number("scale", kLengthRange, &out->mesh.scale);
  }
  if (has("height_field")) {
    out->type = ShapeType::kHeightField;
    ReadHeightField(shape("height_field", {"file", "columns", "rows", "spacing"}), folder,
                    scene_collider);
  }
  if (count == 0) collider.Mistake("plane", "is missing, and so is every other shape");
  if (count > 1) collider.Mistake("plane", "does not go with another shape");
}

SceneCollider ReadCollider(const json& value, const std::string& path, const std::string& folder,
                           std::string* mistake) {
  SceneCollider collider;
  const JsonObject reader(value, path,
                          {"plane", "sphere", "capsule", "box", "hull", "mesh", "height_field",
                           "position", "rotation", "pose", "friction", "restitution", "velocity",
                           "angular_velocity", "motion", "surface_velocity", "sensor", "filter"},
                          mistake);
  ReadShape(reader, folder, &collider, mistake);
  reader.Number("friction", kFrictionRange, &collider.desc.friction);
  reader.Number("restitution", kRestitutionRange, &collider.desc.restitution);
  ReadPose(reader, &collider.desc.pose);
  if (reader.Has("pose")) {
    for (const char* key : {"position", "rotation"}) {
      if (reader.Has(key)) reader.Mistake(key, "does not go with pose, which has one");
    }
    const JsonObject pose(*reader.Value("pose"), reader.PathOf("pose"), {"position", "rotation"},
                          mistake);
    ReadPose(pose, &collider.desc.pose);
  }
  ReadVec3(reader, "velocity", &collider.desc.velocity);
  ReadVec3(reader, "angular_velocity", &collider.desc.angular_velocity);
  ReadVec3(reader, "surface_velocity", &collider.desc.surface_velocity);
  reader.Boolean("sensor", &collider.desc.sensor);
  ReadFilter(reader, &collider.desc.filter, mistake);
  ReadMotion(reader, &collider.motion, mistake);
  if (collider.motion.keys.empty()) return collider;
  for (const char* key : {"position", "rotation", "pose", "velocity", "angular_velocity"}) {
    if (reader.Has(key)) reader.Mistake(key, "does not go with motion");
  }
  collider.desc.pose = collider.motion.At(0.0);
  return collider;
}

// The keys of one type of force, beside those of all.
void ReadField(const JsonObject& force, const std::string& type, ForceField* out) {
  if (type == "uniform") {
    out->type = FieldType::kUniform;
    if (!ReadVec3(force, "acceleration", &out->vector)) {
      force.Mistake("acceleration", "is missing");
    }
  } else if (type == "radial") {
    out->type = FieldType::kRadial;
    if (!ReadVec3(force, "centre", &out->centre)) force.Mistake("centre", "is missing");
    if (!force.Has("radius")) force.Mistake("radius", "is missing");
    force.Number("radius", kRadiusRange, &out->radius);
    if (!force.Has("strength")) force.Mistake("strength", "is missing");
    force.Number("strength", {-1.0e9, 1.0e9}, &out->strength);
  } else {
    out->type = FieldType::kWind;
    if (!ReadVec3(force, "velocity", &out->vector)) force.Mistake("velocity", "is missing");
    force.Number("air_density", {0.0, 1.0e6}, &out->air_density);
    force.Number("drag", {0.0, 1.0e6}, &out->drag);
  }
}

SceneForce ReadForce(const json& value, const std::string& path, std::string* mistake) {
  constexpr std::array<std::string_view, 3> kTypes = {"uniform", "radial", "wind"};
  constexpr std::pair<const char*, const char*> kKeysOfTypes[] = {{"acceleration", "uniform"},
                                                                  {"centre", "radial"},
                                                                  {"radius", "radial"},
                                                                  {"strength", "radial"},
                                                                  {"velocity", "wind"},
                                                                  {"air_density", "wind"},
                                                                  {"drag", "wind"}};
  SceneForce force;
  const JsonObject reader(value, path,
                          {"type", "acceleration", "centre", "radius", "strength", "velocity",
                           "air_density", "drag", "from", "to", "mask", "wake"},
                          mistake);
  std::string type;
  if (!reader.String("type", &type)) reader.Mistake("type", "is missing");
  if (std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end()) {
    reader.Mistake("type", UnknownNameMessage("type of force", type, kTypes));
    return force;
  }
  for (const auto& [key, owner] : kKeysOfTypes) {
    if (type != owner && reader.Has(key)) {
      reader.Mistake(key, std::string("belongs to forces of type ") + owner);
    }
  }
  ReadField(reader, type, &force.field);
  reader.Number("from", kForceTimeRange, &force.from);
  reader.Number("to", kForceTimeRange, &force.to);
  if (!(force.from < force.to)) reader.Mistake("to", "is not later than from");
  ReadMask(reader, &force.field.mask);
  reader.Boolean("wake", &force.field.wake);
  return force;
}

void ReadContact(const JsonObject& solver, ContactSettings* out) {
  constexpr std::array<std::string_view, 4> kNames = {"hold", "snap", "penalty", "pseudo_impulses"};
  constexpr std::array<const ContactMethod*, 4> kMethods = {
      nullptr, &kSnapContact, &kPenaltyContact, &kPseudoImpulseContact};
  std::string name;
  if (!solver.String("contact", &name)) return;
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) {
    solver.Mistake("contact", UnknownNameMessage("contact", name, kNames));
  } else {
    out->method = kMethods[static_cast<size_t>(found - kNames.begin())];
  }
}

// Returns the name of a planned solver that this version lacks, or "".
std::string ReadSolver(const JsonObject& scene, ContactSettings* contact, BodySolver* out,
                       std::string* mistake) {
  if (!scene.Has("solver")) return "";
  const JsonObject solver(*scene.Value("solver"), "solver", kSolverKeys, mistake);
  const std::string missing = ReadSolverSettings(solver, out);
  ReadContact(solver, contact);
  return missing;
}

}  // namespace

Result<Scene> ParseScene(std::string_view text, const std::string& folder) {
  const Result<json> document = ParseJson(text);
  if (!document.ok()) return document.error();
  Scene scene;
  std::string mistake;
  const JsonObject reader(document.value(), "",
                          {"gravity", "dt", "steps", "threads", "bodies", "colliders",
                           "attachments", "constraints", "forces", "solver", "bodies_touch"},
                          &mistake);
  ReadVec3(reader, "gravity", &scene.gravity);
  reader.Number("dt", kTimeStepRange, &scene.dt);
  reader.Integer("steps", 1, kMaxSceneSteps, &scene.steps);
  reader.Integer("threads", 1, kMaxSceneThreads, &scene.threads);
  reader.Boolean("bodies_touch", &scene.bodies_touch);
  BodySolver solver;
  std::string missing_solver = ReadSolver(reader, &scene.contact, &solver, &mistake);
  uint64_t num_bodies = 0;  // copies included
  for (const json& body : reader.Array("bodies", kMaxSceneBodies)) {
    const std::string path = "bodies[" + std::to_string(scene.bodies.size()) + "]";
    scene.bodies.push_back(ReadBody(body, path, folder, solver, &missing_solver, &mistake));
    num_bodies += scene.bodies.back().count;
  }
  if (scene.bodies.empty()) reader.Mistake("bodies", "a scene needs at least one body");
  for (const json& collider : reader.Array("colliders", kMaxColliders)) {
    const std::string path = "colliders[" + std::to_string(scene.colliders.size()) + "]";
    scene.colliders.push_back(ReadCollider(collider, path, folder, &mistake));
  }
  const auto has_file = [](const SceneCollider& collider) {
    return !(collider.hull_asset.empty() && collider.mesh_asset.empty() &&
             collider.heights_file.empty());
  };
  const auto num_files = std::ranges::count_if(scene.colliders, has_file);
  if (num_files > kMaxColliderFiles) {
    reader.Mistake("colliders", std::to_string(num_files) + " name a file each, at most " +
                                    std::to_string(kMaxColliderFiles) + " may");
  }
  ReadAttachments(reader, &scene, &mistake);
  ReadConstraints(reader, &scene, &mistake);
  for (const json& force : reader.Array("forces", kMaxForces)) {
    const std::string path = "forces[" + std::to_string(scene.forces.size()) + "]";
    scene.forces.push_back(ReadForce(force, path, &mistake));
  }
  if (!mistake.empty()) return Error{ExitCode::kUsage, mistake, ""};
  if (!missing_solver.empty()) {
    return Error{ExitCode::kUnsupported,
                 "solver.name: this version has no solver '" + missing_solver +
                     "'; use 'splitting' or 'implicit'",
                 ""};
  }
  uint64_t num_attachments = 0;  // copies included
  for (const SceneAttachment& attachment : scene.attachments) {
    num_attachments += scene.bodies[attachment.body].count;
  }
  uint64_t num_constraints = 0;
  for (const SceneConstraint& constraint : scene.constraints) {
    num_constraints += scene.bodies[constraint.body].count;
  }
  const auto too_many = [](uint64_t count, const char* things, uint32_t limit) {
    return Error{ExitCode::kLimit,
                 "the scene has " + std::to_string(count) + " " + things +
                     ", more than the limit of " + std::to_string(limit),
                 ""};
  };
  if (num_bodies > kMaxSceneBodies) return too_many(num_bodies, "bodies", kMaxSceneBodies);
  if (num_attachments > kMaxSceneAttachments) {
    return too_many(num_attachments, "attachments", kMaxSceneAttachments);
  }
  if (num_constraints > kMaxSceneConstraints) {
    return too_many(num_constraints, "constraints", kMaxSceneConstraints);
  }
  return scene;
}

Result<Scene> LoadScene(const std::string& path) {
  const auto bytes = ReadFile(path, kMaxSceneBytes);
  if (!bytes.ok()) return bytes.error();
  const std::string_view text(reinterpret_cast<const char*>(bytes.value().data()),
                              bytes.value().size());
  const std::string folder = std::filesystem::path(path).parent_path().string();
  Result<Scene> scene = ParseScene(text, folder);
  return scene.ok() ? scene : scene.error().WithContext(path);
}

Result<Scene> DropScene(const std::string& path) {
  const Result<Asset> asset = OpenBody(path);
  if (!asset.ok()) return asset.error();
  const double height = SurfaceBounds(asset.value()).Extent().y;
  const double lowest =
      LowestAlong({0.0, 1.0, 0.0}, asset.value(), asset.value().simulation().nodes);
  SceneBody body;
  body.asset = path;
  body.pose.position.y = static_cast<float>(kDropHeight * height - lowest);
  Scene scene;
  scene.bodies.push_back(body);
  scene.colliders.emplace_back();
  return scene;
}

}  // namespace plush::tools
