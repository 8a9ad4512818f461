// SPDX-License-Identifier: MIT
// Bodies that fall on a floor and come to rest: the worst step of the fall, and a step at rest
// beside one of the same body in the air with as many outer iterations.
#include "plush/solver.h"
#include "plush/world.h"

#include "bake/static_bake.h"
#include "bench/bench_models.h"
#include "bench/swinging_arm.h"
#include "bench/thread_clock.h"
#include "shapes/tet_shapes.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace plush::bench {
namespace {

enum class Ground {
  kPlane,
  kBox,
  kRails,
  kSlats,
  kPlaneBelowSolids,
  kHills,
  kFineHills,
  kMeshHills,
  kRoom,
  kTube
};

// Around the nodes of an asset at rest [m].
struct Box {
  Vec3 low, high;
};

// What colliders refer to.
struct GroundData {
  struct StaticMesh;

  GroundData();
  ~GroundData();

  std::vector<float> heights;
  std::unique_ptr<StaticMesh> mesh;
  // Of small ones.
  std::vector<Vec3> small_hull;
  std::unique_ptr<StaticMesh> small_mesh;
};

// An opened file of a static mesh.
struct GroundData::StaticMesh {
  explicit StaticMesh(tools::ImportedModel model) {
    const auto num_triangles = static_cast<uint32_t>(model.surface.triangles.size());
    model.surface.parts.push_back({"inside", "", "", 0, num_triangles});
    tools::FindingList findings;
    auto baked = tools::BakeStatic(model, {}, &findings);
    if (!baked.ok()) std::abort();
    bytes = std::make_unique<AlignedBytes>(std::move(baked.value().bytes));
    if (!asset.Open(bytes->bytes()).ok()) std::abort();
  }
  std::unique_ptr<AlignedBytes> bytes;
  Asset asset;
};

GroundData::GroundData() = default;
GroundData::~GroundData() = default;

ColliderDesc BoxOf(float height) {
  return ColliderDesc{.type = ShapeType::kBox,
                      .box = {.half_extents = {100.0f, height, 100.0f}},
                      .pose = {.position = {.y = -height}}};
}

// One of nine round rails or of as many thin slats, a quarter of a body apart.
ColliderDesc BarBelow(const Box& box, Ground ground, int k) {
  const float size = box.high.y - box.low.y;
  ColliderDesc desc;
  desc.friction = 0.5f;
  desc.pose.position = {0.25f * size * static_cast<float>(k - 4), -0.1f * size, 0.0f};
  desc.type = ground == Ground::kRails ? ShapeType::kCapsule : ShapeType::kBox;
  desc.box.half_extents = {0.01f * size, 0.1f * size, 2.0f * size};
  desc.capsule = {.half_height = 2.0f * size, .radius = 0.1f * size};
  if (ground == Ground::kRails) desc.pose.rotation = {0.70710678f, 0.0f, 0.0f, 0.70710678f};
  return desc;
}

constexpr uint32_t kHillPoints = 225;  // along both sides: 100,000 triangles

// Height of hills [sizes] at a point of a grid with this spacing [sizes].
float HillAt(float spacing, uint32_t row, uint32_t column) {
  const float x = spacing * static_cast<float>(column), z = spacing * static_cast<float>(row);
  return 0.05f * std::sin(1.3f * x) * std::cos(1.1f * z);
}

// Where the first point of the grid is.
Vec3 HillCorner(float size) { return {-2.0f * size, -0.05f * size, -2.0f * size}; }

// A height field of 100,000 triangles, each `fineness` of a body high.
ColliderDesc HillsFor(const Box& box, float fineness, std::vector<float>* heights) {
  const float size = box.high.y - box.low.y;
  ColliderDesc desc = {.type = ShapeType::kHeightField};
  heights->clear();
  for (uint32_t row = 0; row < kHillPoints; ++row) {
    for (uint32_t column = 0; column < kHillPoints; ++column) {
      heights->push_back(size * HillAt(fineness, row, column));
    }
  }
  desc.height_field = {*heights, kHillPoints, kHillPoints, fineness * size};
  desc.pose.position = HillCorner(size);
  return desc;
}

// The same hills as a mesh.
tools::ImportedModel HillMesh(const Box& box, float fineness) {
  const float size = box.high.y - box.low.y;
  const Vec3 corner = HillCorner(size);
  tools::ImportedModel model;
  tools::SurfaceMesh& hills = model.surface;
  for (uint32_t row = 0; row < kHillPoints; ++row) {
    for (uint32_t column = 0; column < kHillPoints; ++column) {
      hills.positions.push_back({double(corner.x + size * fineness * static_cast<float>(column)),
                                 double(corner.y + size * HillAt(fineness, row, column)),
                                 double(corner.z + size * fineness * static_cast<float>(row))});
      if (row == 0 || column == 0) continue;
      const uint32_t d = row * kHillPoints + column, c = d - 1, b = d - kHillPoints, a = b - 1;
      hills.triangles.push_back({a, c, b});
      hills.triangles.push_back({b, c, d});
    }
  }
  hills.normals.assign(hills.positions.size(), {0.0f, 1.0f, 0.0f});
  return model;
}

// A floor and walls that lean, of two triangles each, whose boxes hold all that is in the room.
tools::ImportedModel RoomAround(const Box& box) {
  const double size = double(box.high.y - box.low.y), turn = 0.6;
  tools::ImportedModel model;
  tools::SurfaceMesh& room = model.surface;
  for (const double up : {0.0, 10.0 * size}) {
    const double half = 2.0 * size + 0.3 * up;
    for (int corner = 0; corner < 4; ++corner) {
      const double x = corner % 3 == 0 ? -half : half, z = corner < 2 ? -half : half;
      room.positions.push_back(
          {std::cos(turn) * x + std::sin(turn) * z, up, std::cos(turn) * z - std::sin(turn) * x});
    }
  }
  const auto add_quad = [&](uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    room.triangles.push_back({a, b, c});
    room.triangles.push_back({a, c, d});
  };
  add_quad(0, 3, 2, 1);
  for (uint32_t k = 0; k < 4; ++k) add_quad(k, (k + 1) % 4, (k + 1) % 4 + 4, k + 4);
  room.normals.assign(room.positions.size(), {0.0f, 1.0f, 0.0f});
  return model;
}

// A closed mesh of four triangles.
tools::ImportedModel Tetrahedron() {
  tools::ImportedModel model;
  model.surface.positions = {{1, 1, 1}, {-1, -1, 1}, {-1, 1, -1}, {1, -1, -1}};
  model.surface.triangles = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  model.surface.normals.assign(4, {0.0f, 1.0f, 0.0f});
  return model;
}

// A tube that rises by 17 degrees, with 500 long triangles inwards.
tools::ImportedModel TubeAround(const Box& box) {
  constexpr uint32_t kFacets = 250;
  const double size = double(box.high.y - box.low.y), radius = 3.0 * size, length = 50.0 * size;
  const tools::Vec3d along = {0.675, 0.297, 0.675}, a = {0.707, 0.0, -0.707};
  const tools::Vec3d b = {-0.21, 0.954, -0.21};
  tools::ImportedModel model;
  tools::SurfaceMesh& tube = model.surface;
  for (const double at : {-length, length}) {
    for (uint32_t k = 0; k < kFacets; ++k) {
      const double turn = 2.0 * 3.14159265 * k / kFacets;
      tube.positions.push_back(along * at + a * (radius * std::cos(turn)) +
                               b * (radius * std::sin(turn)));
    }
  }
  for (uint32_t k = 0; k < kFacets; ++k) {
    const uint32_t next = (k + 1) % kFacets;
    tube.triangles.push_back({k, k + kFacets, next});
    tube.triangles.push_back({next, k + kFacets, next + kFacets});
  }
  tube.normals.assign(tube.positions.size(), {0.0f, 1.0f, 0.0f});
  return model;
}

// Number `k` of solids and closed meshes one to three heights above the bodies. Height fields would
// hold what is below them.
ColliderDesc SolidAbove(const Box& box, int k, const GroundData& data) {
  constexpr ShapeType kTypes[] = {ShapeType::kSphere, ShapeType::kCapsule, ShapeType::kBox,
                                  ShapeType::kHull, ShapeType::kMesh};
  const float size = box.high.y - box.low.y;
  const float width = 1.5f * std::fmax(box.high.x - box.low.x, box.high.z - box.low.z);
  ColliderDesc desc = {.type = kTypes[k % 5]};
  desc.sphere.radius = desc.capsule.radius = 0.1f * size;
  desc.capsule.half_height = 0.1f * size;
  desc.box.half_extents = {0.1f * size, 0.1f * size, 0.1f * size};
  desc.hull = HullShape(data.small_hull);
  desc.mesh = {&data.small_mesh->asset, 0.1f * size};
  desc.pose.position = {width * 0.25f * static_cast<float>(k % 40),
                        size * (2.4f + 0.08f * static_cast<float>(k % 25)),
                        width * 0.2f * static_cast<float>(k / 40)};
  return desc;
}

Box BoundsOf(const Asset& asset) {
  const auto nodes = asset.simulation().nodes;
  Box box = {nodes[0], nodes[0]};
  for (const Vec3& x : nodes) {
    box.low = {std::fmin(box.low.x, x.x), std::fmin(box.low.y, x.y), std::fmin(box.low.z, x.z)};
    box.high = {std::fmax(box.high.x, x.x), std::fmax(box.high.y, x.y), std::fmax(box.high.z, x.z)};
  }
  return box;
}

// Adds the colliders below bodies of this asset. `data` must live as long as the world.
void AddGround(const Asset& asset, Ground ground, GroundData* data, World* world) {
  constexpr int kSolids = 1000;
  ColliderId id;
  if (ground == Ground::kRails || ground == Ground::kSlats) {
    for (int k = 0; k < 9; ++k) {
      if (!world->AddCollider(BarBelow(BoundsOf(asset), ground, k), &id).ok()) std::abort();
    }
    return;
  }
  ColliderDesc floor;
  if (ground == Ground::kBox) floor = BoxOf(1.0f);
  if (ground == Ground::kHills) floor = HillsFor(BoundsOf(asset), 0.2f, &data->heights);
  if (ground == Ground::kFineHills) floor = HillsFor(BoundsOf(asset), 0.02f, &data->heights);
  if (ground == Ground::kMeshHills) {
    data->mesh = std::make_unique<GroundData::StaticMesh>(HillMesh(BoundsOf(asset), 0.2f));
    floor.type = ShapeType::kMesh;
    floor.mesh = {&data->mesh->asset, 1.0f};
  }
  if (ground == Ground::kRoom || ground == Ground::kTube) {
    const Box box = BoundsOf(asset);
    data->mesh = std::make_unique<GroundData::StaticMesh>(
        ground == Ground::kRoom ? RoomAround(box) : TubeAround(box));
    floor.type = ShapeType::kMesh;
    floor.mesh = {&data->mesh->asset, 1.0f};
  }
  floor.friction = 0.5f;
  if (!world->AddCollider(floor, &id).ok()) std::abort();
  if (ground != Ground::kPlaneBelowSolids) return;
  const Box box = BoundsOf(asset);
  const float half = 0.1f * (box.high.y - box.low.y);
  data->small_hull = {
      {half, half, half}, {-half, -half, half}, {-half, half, -half}, {half, -half, -half}};
  data->small_mesh = std::make_unique<GroundData::StaticMesh>(Tetrahedron());
  for (int k = 0; k < kSolids; ++k) {
    if (!world->AddCollider(SolidAbove(box, k, *data), &id).ok()) std::abort();
  }
}

constexpr float kDt = 0.01f;
constexpr int kSteps = 500;      // of a fall; at rest in the last ones
constexpr int kRestSteps = 100;  // of these
constexpr int kFalls = 5;

// A sample's toy with the sample's options.
constexpr Toy kBear = {"bear", "bear.glb", 400, 4.0e4, 0.4, 0.15, false, {0.13, 0.52, -0.004}};
constexpr Toy kOctopus = {"octopus", "octopus.glb", 900, 6.0e4, 0.33, 0.15, true, {}};

// Adds bodies in rows, 0.3 of their height above the floor.
void AddBodies(const Asset& asset, int count, const SplittingSettings& splitting, World* world) {
  const Box box = BoundsOf(asset);
  const float height = box.high.y - box.low.y;
  const float pace = 1.5f * std::fmax(box.high.x - box.low.x, box.high.z - box.low.z);
  for (int k = 0; k < count; ++k) {
    BodyDesc desc;
    desc.pose.position = {pace * static_cast<float>(k % 10), 0.3f * height - box.low.y,
                          pace * static_cast<float>(k / 10)};
    desc.splitting = splitting;
    BodyId id;
    if (!world->AddBody(asset, desc, &id).ok()) std::abort();
  }
}

WorldDesc DescOf() { return WorldDesc{.sleep = {.speed = 0.0f}}; }

double TimeStep(World* world) {
  const double start = ThreadSeconds();
  if (!world->Step(kDt).ok()) std::abort();
  return ThreadSeconds() - start;
}

// Each step's least time in several falls, and what the steps report.
struct Fall {
  std::vector<double> seconds, contact_s;
  std::vector<StepStats> stats;  // of the last fall
};

void AddFall(const Asset& asset, int count, Ground ground, Fall* fall) {
  GroundData data;
  World world(DescOf());
  AddBodies(asset, count, {}, &world);
  AddGround(asset, ground, &data, &world);
  fall->seconds.resize(kSteps, 1.0e30);
  fall->contact_s.resize(kSteps, 1.0e30);
  fall->stats.resize(kSteps);
  for (size_t k = 0; k < kSteps; ++k) {
    fall->seconds[k] = std::fmin(fall->seconds[k], TimeStep(&world));
    fall->stats[k] = world.stats();
    fall->contact_s[k] = std::fmin(
        fall->contact_s[k], double(fall->stats[k].phase_s[static_cast<size_t>(Phase::kContact)]));
  }
}

double MedianAtEnd(const std::vector<double>& numbers) {
  return Median(std::vector<double>(numbers.end() - kRestSteps, numbers.end()));
}

// The median step of falling bodies with that many outer iterations.
double FreeStep(const Asset& asset, int count, int outer_iterations) {
  World world(DescOf());
  AddBodies(asset, count, {.outer_iterations = outer_iterations}, &world);
  std::vector<double> seconds;
  for (int k = 0; k < 2 * kRestSteps; ++k) seconds.push_back(TimeStep(&world));
  return MedianAtEnd(seconds);
}

void Land(benchmark::State& state, const SwingingArm& body, int count, Ground ground) {
  Fall fall;
  double free_step = 0.0;
  StepStats last;
  for (auto _ : state) {
    for (int k = 0; k < kFalls; ++k) AddFall(body.asset, count, ground, &fall);
    last = fall.stats.back();
    free_step = FreeStep(body.asset, count, static_cast<int>(last.outer_iterations));
  }
  const double rest = MedianAtEnd(fall.seconds);
  const auto worst_step = std::ranges::max_element(fall.seconds);
  const StepStats& at_worst = fall.stats[static_cast<size_t>(worst_step - fall.seconds.begin())];
  const double worst = *worst_step;
  state.counters["rest_us"] = 1.0e6 * rest;
  state.counters["contact_us"] = 1.0e6 * MedianAtEnd(fall.contact_s);
  state.counters["worst_us"] = 1.0e6 * worst;
  state.counters["free_us"] = 1.0e6 * free_step;
  state.counters["rest_times_free"] = rest / free_step;
  // Of as many substeps and outer iterations.
  const double free_at_worst =
      at_worst.substeps * FreeStep(body.asset, count, static_cast<int>(at_worst.outer_iterations));
  state.counters["worst_times_free"] = worst / free_at_worst;
  state.counters["worst_contacts"] = at_worst.contacts;
  state.counters["worst_substeps"] = at_worst.substeps;
  state.counters["worst_outer_iterations"] = at_worst.outer_iterations;
  state.counters["outer_iterations"] = last.outer_iterations;
  state.counters["contacts"] = last.contacts;
  state.counters["contact_sweeps"] = last.contact_sweeps;
  state.counters["speed_m_s"] = double(last.max_speed);
  state.counters["tets"] = static_cast<double>(body.asset.simulation().tets.size());
}

void LandToy(benchmark::State& state, const Toy& toy, int count, Ground ground) {
  static std::map<std::string, SwingingArm> baked;
  auto found = baked.find(toy.name);
  if (found == baked.end()) found = baked.emplace(toy.name, MakeToy(toy)).first;
  Land(state, found->second, count, ground);
}

// What holds places on a bear at rest where they are.
struct Held {
  int places = 16;
  bool by_springs = false;  // else by constraints
  bool is_implicit = false;
};

void Hold(const Held& held, const Box& box, World* world) {
  for (int k = 0; k < held.places; ++k) {
    const float turn = 2.4f * static_cast<float>(k), share = static_cast<float>(k) / 15.0f;
    const Vec3 near = {box.high.x * std::cos(turn), box.low.y + (box.high.y - box.low.y) * share,
                       box.high.x * std::sin(turn)};
    SurfacePoint at;
    if (!world->ClosestPoint(near, 100.0f, {}, &at).ok() || !at.valid()) std::abort();
    AttachmentId spring;
    ConstraintId constraint;
    const Status done = held.by_springs
                            ? world->Attach(at, {.target = at.position, .damping = 1.0f}, &spring)
                            : world->AddConstraint(at, {.target = at.position}, &constraint);
    if (!done.ok()) std::abort();
  }
}

// Steps of a bear at rest on a plane, held and not, in turns.
void StepHeld(benchmark::State& state, const Held& held) {
  constexpr int kRounds = 40, kTurn = 20;
  const SwingingArm bear = MakeToy(kBear);
  GroundData data;
  World with(DescOf()), without(DescOf());
  for (World* world : {&with, &without}) {
    AddBodies(bear.asset, 1, {}, world);
    AddGround(bear.asset, Ground::kPlane, &data, world);
    BodyId body;
    uint32_t count = 0;
    if (!world->Bodies({&body, 1}, &count).ok()) std::abort();
    if (held.is_implicit && !world->SetSolver(body, ImplicitSolver()).ok()) std::abort();
    for (int k = 0; k < kSteps; ++k) TimeStep(world);
  }
  Hold(held, BoundsOf(bear.asset), &with);
  std::vector<double> seconds, seconds_without;
  for (auto _ : state) {
    for (int k = 0; k < 2 * kRounds * kTurn; ++k) {
      const bool is_with = k / kTurn % 2 == 0;
      const double time = TimeStep(is_with ? &with : &without);
      if (k % kTurn >= kTurn / 2) (is_with ? seconds : seconds_without).push_back(time);
    }
  }
  state.counters["step_us"] = 1.0e6 * Median(seconds);
  state.counters["without_us"] = 1.0e6 * Median(seconds_without);
  state.counters["added_us"] = 1.0e6 * (Median(seconds) - Median(seconds_without));
  state.counters["outer_iterations"] = with.stats().outer_iterations;
  state.counters["outer_iterations_without"] = without.stats().outer_iterations;
  state.counters["speed_m_s"] = double(with.stats().max_speed);
}

void LandArm(benchmark::State& state, const std::string& path, const Arm& arm) {
  Land(state, MakeArm(path, arm), 1, Ground::kPlane);
}

// 0.9 x 0.09 x 0.9 m, 13,500 tets: more vertices lie on the floor than the body has room for
// contacts.
void LandSlab(benchmark::State& state) {
  SwingingArm slab;
  slab.bytes = std::make_unique<AlignedBytes>(BakeOrExit(
      tools::ModelFromTets(test::TetBox(30, 3, 30, 0.03)), {.material = {.young = 1.0e5}}));
  if (!slab.asset.Open(slab.bytes->bytes()).ok()) std::abort();  // a bake of ours always opens
  Land(state, slab, 1, Ground::kPlane);
}

}  // namespace

void AddContactCases(const ModelFolder& models) {
  const auto set_up = [](auto* registered) {
    registered->Iterations(1)->Unit(benchmark::kMillisecond);
  };
  for (const Toy& toy : {kBear, kOctopus}) {
    const std::string name = std::string("contact/") + toy.name;
    const auto add = [&](const std::string& suffix, int count, Ground ground) {
      set_up(benchmark::RegisterBenchmark((name + suffix).c_str(), LandToy, toy, count, ground));
    };
    add("", 1, Ground::kPlane);
    add("_on_box", 1, Ground::kBox);
    add("_on_rails", 1, Ground::kRails);
    add("_on_slats", 1, Ground::kSlats);
    add("_on_hills", 1, Ground::kHills);
    add("_on_fine_hills", 1, Ground::kFineHills);
    add("_in_room", 1, Ground::kRoom);
    add("_in_tube", 1, Ground::kTube);
    add("_x50", 50, Ground::kPlane);
    add("_x50_on_box", 50, Ground::kBox);
    add("_x50_on_hills", 50, Ground::kHills);
    add("_x50_on_mesh_hills", 50, Ground::kMeshHills);
    add("_x50_below_solids", 50, Ground::kPlaneBelowSolids);
  }
  set_up(
      benchmark::RegisterBenchmark("contact/bear_attached_16", StepHeld, Held{.by_springs = true}));
  for (const int places : {1, 4, 16}) {
    const std::string name = "contact/bear_constrained_" + std::to_string(places);
    set_up(benchmark::RegisterBenchmark(name.c_str(), StepHeld, Held{.places = places}));
    set_up(benchmark::RegisterBenchmark((name + "_implicit").c_str(), StepHeld,
                                        Held{.places = places, .is_implicit = true}));
  }
  set_up(benchmark::RegisterBenchmark("contact/slab", LandSlab));
  for (const Arm& arm : {kArm4k, Arm{"arm_16k", "arm_16k", 0}, Arm{"arm_55k", "arm_55k", 0},
                         Arm{"soft_arm_16k", "arm_16k", 0, 0, 3.0e3}}) {  // falls flat
    const std::string name = std::string("contact/") + arm.name;
    const std::string path = models.Find(std::string("tets/") + arm.model + ".node", name);
    if (!path.empty()) set_up(benchmark::RegisterBenchmark(name.c_str(), LandArm, path, arm));
  }
}

}  // namespace plush::bench
