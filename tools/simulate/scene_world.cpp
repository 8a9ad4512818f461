// SPDX-License-Identifier: MIT
// Builds a World from a scene: opens each asset once, resolves pins, places copies on a grid.
// A thread pool of oneTBB serves as the World's job system.
#include "simulate/scene_world.h"

#include "plush/format/static_mesh.h"
#include "plush/format/tet_block.h"

#include "bake/pins.h"
#include "base/text.h"
#include "simulate/hull_points.h"
#include "simulate/open_asset.h"
#include "simulate/scene_attachments.h"
#include "simulate/scene_constraints.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <bit>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

namespace plush::tools {

struct JobPool::Impl {
  explicit Impl(uint32_t threads)
      : control(tbb::global_control::max_allowed_parallelism, threads),
        arena(static_cast<int>(threads)) {}

  static void Run(void* user, uint32_t count, JobFunction job, void* context) {
    static_cast<Impl*>(user)->arena.execute([&] {
      // One index per task: a job is a body or a block of elements, large enough.
      tbb::parallel_for(tbb::blocked_range<uint32_t>(0, count, 1),
                        [&](const tbb::blocked_range<uint32_t>& range) {
                          for (uint32_t i = range.begin(); i < range.end(); ++i) job(context, i);
                        });
    });
  }

  tbb::global_control control;
  tbb::task_arena arena;
};

JobPool::JobPool(uint32_t threads)
    : impl_(threads > 1 ? std::make_unique<Impl>(threads) : nullptr) {}

JobPool::~JobPool() = default;

JobSystem JobPool::job_system() {
  if (impl_ == nullptr) return {};
  return {&Impl::Run, impl_.get()};
}

namespace {

constexpr double kCopySpacing = 1.2;  // in bounding boxes, centre to centre

bool Holds(const PinSelection& pin, const Vec3d& p) {
  if (const auto* box = std::get_if<BoxPin>(&pin)) {
    return Max(ToDouble(box->low), Min(p, ToDouble(box->high))) == p;
  }
  const auto& [centre, radius] = std::get<SpherePin>(pin);
  return LengthSquared(p - ToDouble(centre)) <= static_cast<double>(radius) * radius;
}

Error UnknownRegion(const Asset& asset, const std::string& name) {
  std::vector<std::string_view> known;
  for (uint32_t i = 0; i < asset.num_regions(); ++i) known.push_back(asset.region(i).name);
  const std::string remedy = known.empty() ? "; the asset was baked without pin regions" : "";
  return {ExitCode::kUsage, UnknownNameMessage("region", name, known) + remedy, ""};
}

// All pinned nodes of a body; a box or sphere that cannot hold it is a finding.
Result<std::vector<uint32_t>> AllPinnedNodes(const Asset& asset, const SceneBody& body,
                                             FindingList* findings) {
  std::vector<uint32_t> all;
  for (size_t i = 0; i < body.pins.size(); ++i) {
    const auto nodes = PinnedNodes(asset, body.pins[i].nodes);
    if (!nodes.ok()) return nodes.error().WithContext(body.asset);
    if (nodes.value().empty()) {
      findings->Add("PIN_UNMATCHED", 1,
                    "pins[" + std::to_string(i) + "] holds no node of the cage of " + body.asset);
    } else if (!std::holds_alternative<RegionPin>(body.pins[i].nodes)) {
      std::vector<Vec3d> places;
      for (const uint32_t node : nodes.value()) {
        places.push_back(ToDouble(asset.simulation().nodes[node]));
      }
      if (AreOnLine(places)) {
        findings->Add("PIN_LOOSE", 1,
                      "pins[" + std::to_string(i) + "] holds " + std::to_string(places.size()) +
                          " nodes of the cage of " + body.asset + ", all on a line");
      }
    }
    all.insert(all.end(), nodes.value().begin(), nodes.value().end());
  }
  return all;
}

// Offsets of nodes from the mean of their rest positions, times `scale`.
std::vector<Vec3d> ArmsOf(std::span<const Vec3> rest, std::span<const uint32_t> nodes,
                          double scale) {
  Vec3d centre;
  for (const uint32_t node : nodes) {
    centre += ToDouble(rest[node]) / static_cast<double>(nodes.size());
  }
  std::vector<Vec3d> arms;
  for (const uint32_t node : nodes) arms.push_back(scale * (ToDouble(rest[node]) - centre));
  return arms;
}

// Notes the pins of `body` that move; its copies come next in scene_world->bodies.
void AddMovingPins(const SceneBody& body, const Asset& asset, SceneWorld* scene_world) {
  for (const ScenePin& pin : body.pins) {
    const auto nodes = PinnedNodes(asset, pin.nodes);  // succeeded before
    if (pin.motion.keys.empty() || !nodes.ok() || nodes.value().empty()) continue;
    MovingPins& moving = scene_world->moving_pins.emplace_back();
    moving.motion = pin.motion;
    moving.first_body = scene_world->bodies.size();
    moving.num_bodies = body.count;
    uint32_t region = 0;
    const auto* named = std::get_if<RegionPin>(&pin.nodes);
    if (named != nullptr && FindRegion(asset, named->name, &region).ok()) {
      moving.region = region;
    } else {
      moving.nodes = nodes.value();
      moving.arms = ArmsOf(asset.simulation().nodes, moving.nodes, body.scale);
    }
  }
}

// Of a body that is not yet held by its constraints: SetQuasistatic follows them.
BodySolver DynamicSolver(const BodySolver& solver) {
  BodySolver dynamic = solver;
  if (!solver.implicit.quasistatic) return dynamic;
  dynamic.implicit.quasistatic = false;
  dynamic.implicit.mass_damping = 0.0f;  // as in the factor of a quasistatic body
  return dynamic;
}

Result<Done> AddCopies(const SceneBody& body, uint32_t asset_index, SceneWorld* scene_world,
                       FindingList* findings) {
  const Asset& asset = *scene_world->assets[asset_index];
  const auto pinned = AllPinnedNodes(asset, body, findings);
  if (!pinned.ok()) return pinned.error();
  AddMovingPins(body, asset, scene_world);
  const std::string stem = std::filesystem::path(body.asset).stem().string();
  const BodySolver solver = DynamicSolver(body.solver);
  for (uint32_t copy = 0; copy < body.count; ++copy) {
    BodyDesc desc;
    desc.pose = CopyPose(body, asset, copy);
    desc.scale = body.scale;
    desc.velocity = body.velocity;
    desc.material = body.material;
    desc.pinned_nodes = pinned.value();
    desc.fixed = body.fixed;
    desc.gravity_factor = body.gravity_factor;
    desc.max_speed = body.max_speed;
    desc.filter = body.filter;
    desc.solver = &solver;
    BodyId id;
    const Status status = scene_world->world->AddBody(asset, desc, &id);
    if (!status.ok()) return StatusError(body.asset, status);
    const std::string name = body.count > 1 ? stem + "." + std::to_string(copy) : stem;
    const Vec3 offset = ToFloat(ToDouble(desc.pose.position) - ToDouble(body.pose.position));
    scene_world->bodies.push_back(
        {id, asset_index, name, body.fixed, body.scale, body.gravity_factor, body.filter, offset});
  }
  return Done{};
}

// The heights of a file, for a field without them.
Result<std::vector<float>> ReadHeights(const std::string& path, const HeightFieldShape& field) {
  std::ifstream file(path, std::ios::binary);
  const size_t count = size_t{field.columns} * field.rows;
  std::error_code error;
  const uint64_t file_bytes = std::filesystem::file_size(path, error);
  if (!file || error) return Error{ExitCode::kIo, path + ": cannot be read", ""};
  if (file_bytes != 4 * uint64_t{count}) {
    return Error{ExitCode::kInvalidInput,
                 path + ": has " + std::to_string(file_bytes) +
                     " bytes; expected columns x rows floats of 4 bytes, " +
                     std::to_string(4 * count) + " bytes in all",
                 ""};
  }
  std::string bytes(4 * count, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (static_cast<size_t>(file.gcount()) != bytes.size()) {
    return Error{ExitCode::kIo, path + ": cannot be read", ""};
  }
  std::vector<float> heights(count);
  for (size_t i = 0; i < count; ++i) {
    uint32_t word = 0;
    for (size_t k = 0; k < 4; ++k) word |= uint32_t{uint8_t(bytes[4 * i + k])} << (8 * k);
    heights[i] = std::bit_cast<float>(word);
  }
  return heights;
}

// Adds collider number `index` of the scene.
Result<Done> AddCollider(const SceneCollider& collider, size_t index, SceneWorld* built) {
  ColliderDesc desc = collider.desc;
  std::vector<Vec3> points = collider.hull_points;
  if (!collider.hull_asset.empty()) {
    const Result<Asset> asset = OpenAsset(collider.hull_asset);
    if (!asset.ok()) return asset.error();
    const std::span<const Vec3> rendered = asset.value().is_static()
                                               ? asset.value().static_mesh().positions
                                               : asset.value().visual().positions;
    points = OutermostPoints(rendered.empty() ? asset.value().simulation().nodes : rendered);
  }
  if (desc.type == ShapeType::kHull) desc.hull = HullShape(points);
  if (desc.type == ShapeType::kMesh) {
    Result<Asset> asset = OpenAsset(collider.mesh_asset);
    if (!asset.ok()) return asset.error();
    built->meshes.push_back(std::make_unique<Asset>(std::move(asset.value())));
    desc.mesh = {built->meshes.back().get(), desc.mesh.scale};
  }
  if (desc.type == ShapeType::kHeightField) {
    Result<std::vector<float>> heights = ReadHeights(collider.heights_file, desc.height_field);
    if (!heights.ok()) return heights.error();
    desc.height_field.heights = built->heights.emplace_back(std::move(heights.value()));
  }
  const Status status = built->world->AddCollider(desc, &built->colliders.emplace_back());
  if (status.ok()) return Done{};
  return StatusError("colliders[" + std::to_string(index) + "]", status);
}

// Makes those bodies quasistatic that are so in the scene.
Result<Done> SetQuasistatic(const Scene& scene, SceneWorld* built) {
  size_t at = 0;
  for (const SceneBody& body : scene.bodies) {
    for (uint32_t copy = 0; copy < body.count; ++copy, ++at) {
      if (!body.solver.implicit.quasistatic) continue;
      const SceneWorldBody& added = built->bodies[at];
      const Status status = built->world->SetSolver(added.id, body.solver);
      if (!status.ok()) return StatusError("body '" + added.name + "'", status);
    }
  }
  return Done{};
}

Result<Done> AddBodies(const Scene& scene, SceneWorld* scene_world, FindingList* findings) {
  std::map<std::string, uint32_t> index_of_path;
  for (const SceneBody& body : scene.bodies) {
    const auto next_index = static_cast<uint32_t>(scene_world->assets.size());
    const auto [entry, is_new] = index_of_path.emplace(body.asset, next_index);
    if (is_new) {
      auto asset = OpenBody(body.asset);
      if (!asset.ok()) return asset.error();
      scene_world->assets.push_back(std::make_unique<Asset>(std::move(asset.value())));
    }
    const auto added = AddCopies(body, entry->second, scene_world, findings);
    if (!added.ok()) return added;
  }
  return Done{};
}

}  // namespace

Error StatusError(const std::string& what, const Status& status) {
  const ExitCode code =
      status.code == StatusCode::kOutOfMemory ? ExitCode::kLimit : ExitCode::kUsage;
  return {code, what + ": " + status.section + " " + status.reason, ""};
}

size_t SceneWorld::num_nodes() const {
  size_t nodes = 0;
  for (const SceneWorldBody& body : bodies) nodes += asset_of(body).simulation().nodes.size();
  return nodes;
}

size_t SceneWorld::num_tets() const {
  size_t tets = 0;
  for (const SceneWorldBody& body : bodies) tets += asset_of(body).simulation().tets.size();
  return tets;
}

Result<std::vector<uint32_t>> PinnedNodes(const Asset& asset, const PinSelection& pin) {
  if (const auto* region = std::get_if<RegionPin>(&pin)) {
    uint32_t index = 0;
    if (!FindRegion(asset, region->name, &index).ok()) return UnknownRegion(asset, region->name);
    const auto nodes = asset.region(index).nodes;
    return std::vector<uint32_t>(nodes.begin(), nodes.end());
  }
  std::vector<uint32_t> nodes;
  const auto rest = asset.simulation().nodes;
  for (uint32_t i = 0; i < rest.size(); ++i) {
    if (Holds(pin, ToDouble(rest[i]))) nodes.push_back(i);
  }
  return nodes;
}

Pose CopyPose(const SceneBody& body, const Asset& asset, uint32_t index) {
  uint32_t columns = 1;
  while (columns * columns < body.count) ++columns;
  const Vec3d extent =
      static_cast<double>(body.scale) * SurfaceBounds(asset, body.pose.rotation).Extent();
  Pose pose = body.pose;
  pose.position.x += static_cast<float>(kCopySpacing * extent.x * (index % columns));
  pose.position.z += static_cast<float>(kCopySpacing * extent.z * (index / columns));
  return pose;
}

// Copies included.
static uint32_t NumBodies(const Scene& scene) {
  uint32_t count = 0;
  for (const SceneBody& body : scene.bodies) count += body.count;
  return count;
}

// The same.
static uint32_t NumAttachments(const Scene& scene) {
  uint32_t count = 0;
  for (const SceneAttachment& attachment : scene.attachments) {
    count += scene.bodies[attachment.body].count;
  }
  return count;
}

WorldDesc WorldDescOf(const Scene& scene) {
  WorldDesc desc;
  desc.gravity = scene.gravity;
  desc.contact = scene.contact;
  constexpr uint32_t kPairsPerBody = 8, kMorePairs = 16, kContactsPerBody = 16;
  if (scene.bodies_touch) desc.max_pairs = kPairsPerBody * NumBodies(scene) + kMorePairs;
  desc.max_events = std::max(desc.max_events, 2 * NumBodies(scene) + NumAttachments(scene));
  desc.max_contact_events =
      std::max(desc.max_contact_events, kContactsPerBody * NumBodies(scene) + desc.max_pairs);
  return desc;
}

Result<SceneWorld> BuildSceneWorld(const Scene& scene, FindingList* findings) {
  SceneWorld built;
  built.jobs = std::make_unique<JobPool>(scene.threads);
  WorldDesc desc = WorldDescOf(scene);
  desc.jobs = built.jobs->job_system();
  built.world = std::make_unique<World>(desc);
  for (size_t i = 0; i < scene.colliders.size(); ++i) {
    const auto added_one = AddCollider(scene.colliders[i], i, &built);
    if (!added_one.ok()) return added_one.error();
  }
  const auto added = AddBodies(scene, &built, findings);
  if (!added.ok()) return added.error();
  for (const auto add : {AddAttachments, AddConstraints, SetQuasistatic}) {
    const auto added_all = add(scene, &built);
    if (!added_all.ok()) return added_all.error();
  }
  const Status prepared = built.world->PrepareTimeStep(static_cast<float>(scene.dt));
  if (!prepared.ok()) return StatusError("dt", prepared);
  return built;
}

}  // namespace plush::tools
