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

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

namespace plush::tools {
namespace {

using nlohmann::json;

constexpr uint64_t kMaxSceneBytes = 16u << 20;
constexpr size_t kMaxPins = 1000;
constexpr size_t kMaxColliders = 1000;
constexpr double kDropHeight = 0.3;  // of the body's height

bool ReadVec3(const JsonObject& object, const char* key, Vec3* out) {
  std::array<double, 3> v = {};
  if (!object.Vector(key, v)) return false;
  *out = {static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])};
  return true;
}

// Accepts lengths within 1% of one, because people type few digits.
void ReadRotation(const JsonObject& object, Quat* out) {
  std::array<double, 4> q = {};
  if (!object.Vector("rotation", q)) return;
  const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  if (std::fabs(length - 1.0) > 0.01) {
    object.Mistake("rotation", "quaternion [x, y, z, w] is not of unit length");
    return;
  }
  const auto scaled = [&](int i) { return static_cast<float>(q[i] / length); };
  *out = {scaled(0), scaled(1), scaled(2), scaled(3)};
}

ScenePin ReadPin(const json& value, const std::string& path, std::string* mistake) {
  const JsonObject pin(value, path, {"region", "box", "sphere"}, mistake);
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

void ReadMaterial(const JsonObject& body, MaterialOverride* out, std::string* mistake) {
  if (!body.Has("material")) return;
  const JsonObject material(*body.Value("material"), body.PathOf("material"),
                            {"young", "poisson", "density", "damping"}, mistake);
  material.Number("young", kYoungRange, &out->young);
  material.Number("poisson", kPoissonRange, &out->poisson);
  material.Number("density", kDensityRange, &out->density);
  material.Number("damping", kDampingRange, &out->damping);
}

SceneBody ReadBody(const json& value, const std::string& path, const std::string& folder,
                   std::string* mistake) {
  SceneBody body;
  const JsonObject reader(
      value, path,
      {"asset", "position", "rotation", "velocity", "count", "material", "pins", "static"},
      mistake);
  if (!reader.String("asset", &body.asset) || body.asset.empty()) {
    reader.Mistake("asset", "is missing");
  }
  body.asset = (std::filesystem::path(folder) / body.asset).string();
  ReadVec3(reader, "position", &body.pose.position);
  ReadRotation(reader, &body.pose.rotation);
  ReadVec3(reader, "velocity", &body.velocity);
  reader.Integer("count", 1, kMaxSceneBodies, &body.count);
  ReadMaterial(reader, &body.material, mistake);
  for (const json& pin : reader.Array("pins", kMaxPins)) {
    const std::string key = "pins[" + std::to_string(body.pins.size()) + "]";
    body.pins.push_back(ReadPin(pin, reader.PathOf(key), mistake));
  }
  reader.Boolean("static", &body.fixed);
  return body;
}

ColliderDesc ReadCollider(const json& value, const std::string& path, std::string* mistake) {
  ColliderDesc collider;
  const JsonObject reader(value, path, {"plane", "friction"}, mistake);
  reader.Number("friction", {0.0, 1000.0}, &collider.friction);
  if (!reader.Has("plane")) {
    reader.Mistake("plane", "is missing");
    return collider;
  }
  const JsonObject shape(*reader.Value("plane"), reader.PathOf("plane"), {"normal", "offset"},
                         mistake);
  ReadVec3(shape, "normal", &collider.plane.normal);
  const Vec3 n = collider.plane.normal;
  if (!(n.x * n.x + n.y * n.y + n.z * n.z > 1.0e-12f)) shape.Mistake("normal", "has no length");
  shape.Number("offset", {-1.0e9, 1.0e9}, &collider.plane.offset);
  return collider;
}

void ReadContact(const JsonObject& solver, SolverSettings* out) {
  constexpr std::array<std::string_view, 3> kNames = {"hold", "snap", "penalty"};
  constexpr std::array kResponses = {ContactResponse::kHold, ContactResponse::kSnap,
                                     ContactResponse::kPenalty};
  std::string name;
  if (!solver.String("contact", &name)) return;
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) {
    solver.Mistake("contact", UnknownNameMessage("contact response", name, kNames));
  } else {
    out->response = kResponses[static_cast<size_t>(found - kNames.begin())];
  }
}

// Returns the name of a planned solver that this version lacks, or "".
std::string ReadSolver(const JsonObject& scene, SolverSettings* out, std::string* mistake) {
  if (!scene.Has("solver")) return "";
  const JsonObject solver(*scene.Value("solver"), "solver",
                          {"name", "newton_iterations", "volume_sweeps", "contact"}, mistake);
  constexpr std::array<std::string_view, 4> kNames = {"splitting", "implicit", "projective",
                                                      "position"};
  std::string name = "splitting";
  solver.String("name", &name);
  const bool known = std::find(kNames.begin(), kNames.end(), name) != kNames.end();
  if (!known) solver.Mistake("name", UnknownNameMessage("solver", name, kNames));
  solver.Integer("newton_iterations", 1, 64, &out->outer_iterations);
  solver.Integer("volume_sweeps", 0, 16, &out->volume_sweeps);
  ReadContact(solver, out);
  return name == "splitting" || !known ? "" : name;
}

}  // namespace

Result<Scene> ParseScene(std::string_view text, const std::string& folder) {
  const Result<json> document = ParseJson(text);
  if (!document.ok()) return document.error();
  Scene scene;
  std::string mistake;
  const JsonObject reader(document.value(), "",
                          {"gravity", "dt", "steps", "threads", "bodies", "colliders", "solver"},
                          &mistake);
  ReadVec3(reader, "gravity", &scene.gravity);
  reader.Number("dt", kTimeStepRange, &scene.dt);
  reader.Integer("steps", 1, kMaxSceneSteps, &scene.steps);
  reader.Integer("threads", 1, kMaxSceneThreads, &scene.threads);
  uint64_t num_bodies = 0;  // copies included
  for (const json& body : reader.Array("bodies", kMaxSceneBodies)) {
    const std::string path = "bodies[" + std::to_string(scene.bodies.size()) + "]";
    scene.bodies.push_back(ReadBody(body, path, folder, &mistake));
    num_bodies += scene.bodies.back().count;
  }
  if (scene.bodies.empty()) reader.Mistake("bodies", "a scene needs at least one body");
  for (const json& collider : reader.Array("colliders", kMaxColliders)) {
    const std::string path = "colliders[" + std::to_string(scene.colliders.size()) + "]";
    scene.colliders.push_back(ReadCollider(collider, path, &mistake));
  }
  const std::string missing_solver = ReadSolver(reader, &scene.solver, &mistake);
  if (!mistake.empty()) return Error{ExitCode::kUsage, mistake, ""};
  if (!missing_solver.empty()) {
    return Error{
        ExitCode::kUnsupported,
        "solver.name: this version has no solver '" + missing_solver + "'; use 'splitting'", ""};
  }
  if (num_bodies <= kMaxSceneBodies) return scene;
  return Error{ExitCode::kLimit,
               "the scene has " + std::to_string(num_bodies) + " bodies, more than the limit of " +
                   std::to_string(kMaxSceneBodies),
               ""};
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
  const Result<Asset> asset = OpenAsset(path);
  if (!asset.ok()) return asset.error();
  const double height = SurfaceBounds(asset.value()).Extent().y;
  SceneBody body;
  body.asset = path;
  body.pose.position.y =
      static_cast<float>(kDropHeight * height - BoundsOf(asset.value().simulation().nodes).low.y);
  Scene scene;
  scene.bodies.push_back(body);
  scene.colliders.push_back({});
  return scene;
}

}  // namespace plush::tools
