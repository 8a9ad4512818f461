// SPDX-License-Identifier: MIT
// Bodies that fall on a floor and come to rest: the worst step of the fall, and a step at rest
// beside one of the same body in the air with as many outer iterations.
#include "plush/solver.h"
#include "plush/world.h"

#include "bench/bench_models.h"
#include "bench/contact_grounds.h"
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
