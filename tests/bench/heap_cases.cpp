// SPDX-License-Identifier: MIT
// heap/...: many bears that touch each other, in scenes of samples/scenes/contact; and the search
// for bodies that may.
//
// Times of steps on one thread are its processor time, on several threads those of a steady clock.
#include "plush/allocator.h"

#include "bake/static_bake.h"
#include "bench/bench_models.h"
#include "bench/step_clock.h"
#include "bench/swinging_arm.h"
#include "collision/near_boxes.h"
#include "scenes/body_overlap.h"
#include "simulate/scene.h"
#include "simulate/scene_world.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace plush::bench {
namespace {

namespace fs = std::filesystem;

constexpr Toy kBear = {"bear", "bear.glb", 400, 4.0e4, 0.4, 0.15, false, {0.13, 0.52, -0.004}};

std::string SceneFolder() { return std::string(PLUSH_SAMPLES_DIR) + "/scenes/contact/"; }

void Write(const fs::path& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) std::abort();
}

// A folder with the baked files that the scenes name, removed at the end.
class BakedFolder {
 public:
  // `triangles`: of a bear's collision surface; 0: those of the model.
  explicit BakedFolder(uint32_t triangles)
      : path_(fs::temp_directory_path() /
              ("plush_heap_" + std::to_string(std::random_device()()))) {
    fs::create_directories(path_);
    Write(path_ / "bear.plush",
          MakeToy(kBear, triangles > 0 ? std::optional(triangles) : std::nullopt).bytes->bytes());
    tools::ImportedModel funnel = ImportOrExit(SceneFolder() + "funnel.obj");
    tools::FindingList findings;
    const auto baked = tools::BakeStatic(funnel, {}, &findings);
    if (!baked.ok()) std::abort();
    Write(path_ / "funnel.plush", baked.value().bytes);
  }
  ~BakedFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  BakedFolder(const BakedFolder&) = delete;
  BakedFolder& operator=(const BakedFolder&) = delete;

  // Scene `name` with `threads`.
  tools::Scene Load(const std::string& name, uint32_t threads) const {
    std::ifstream file(SceneFolder() + name + ".json");
    std::stringstream text;
    text << file.rdbuf();
    auto scene = tools::ParseScene(text.str(), path_.string());
    if (!scene.ok()) {
      std::fprintf(stderr, "plush_bench: error: %s: %s\n", name.c_str(),
                   scene.error().message.c_str());
      std::exit(1);
    }
    scene.value().threads = threads;
    return std::move(scene.value());
  }

 private:
  fs::path path_;
};

tools::SceneWorld Build(const tools::Scene& scene) {
  tools::FindingList findings;
  auto built = tools::BuildSceneWorld(scene, &findings);
  if (!built.ok()) std::abort();
  return std::move(built.value());
}

// A step and what it reports.
struct TimedStep {
  double seconds = 0.0;
  StepStats stats;
};

TimedStep TimeStep(const tools::Scene& scene, World* world) {
  StepClock clock(scene.threads);
  const double seconds = clock.Time(world, static_cast<float>(scene.dt));
  return {seconds, world->stats()};
}

template <class Get>
double MeanOf(const std::vector<TimedStep>& steps, const Get& get) {
  double sum = 0.0;
  for (const TimedStep& step : steps) sum += static_cast<double>(get(step));
  return steps.empty() ? 0.0 : sum / static_cast<double>(steps.size());
}

// Counters of the steps: times, contacts, and phases. Phases are summed over the bodies, whatever
// thread they are on.
void Report(const std::vector<TimedStep>& steps, benchmark::State* state) {
  const auto of = [](uint32_t StepStats::*field) {
    return [field](const TimedStep& step) { return step.stats.*field; };
  };
  auto& counters = state->counters;
  double worst = 0.0;
  for (const TimedStep& step : steps) worst = std::max(worst, step.seconds);
  counters["mean_ms"] = 1.0e3 * MeanOf(steps, [](const TimedStep& step) { return step.seconds; });
  counters["worst_ms"] = 1.0e3 * worst;
  counters["contacts"] = MeanOf(steps, of(&StepStats::contacts));
  counters["body_pairs"] = MeanOf(steps, of(&StepStats::body_pairs));
  counters["pairs_searched"] = MeanOf(steps, of(&StepStats::pairs_searched));
  counters["sweeps"] = MeanOf(steps, of(&StepStats::contact_sweeps));
  counters["substeps"] = MeanOf(steps, of(&StepStats::substeps));
  const char* const names[] = {"elements", "solve", "volume", "contact", "find_pairs", "other"};
  static_assert(std::size(names) == static_cast<size_t>(Phase::kCount));
  for (size_t k = 0; k < std::size(names); ++k) {
    counters[std::string(names[k]) + "_ms"] =
        1.0e3 * MeanOf(steps, [k](const TimedStep& step) { return step.stats.phase_s[k]; });
  }
}

// 320 bears pour through a funnel, from the fall until the hole jams. The whole scene would take
// minutes, at the pace of its last steps.
void Pour(benchmark::State& state, uint32_t triangles, uint32_t threads) {
  constexpr uint32_t kSteps = 130;
  const BakedFolder folder(triangles);
  const tools::Scene scene = folder.Load("funnel_320", threads);
  std::vector<TimedStep> steps;
  uint32_t passed = 0;
  for (auto _ : state) {
    tools::SceneWorld built = Build(scene);
    steps.clear();
    for (uint32_t k = 0; k < kSteps; ++k) steps.push_back(TimeStep(scene, built.world.get()));
    tests::OverlapMeter meter(built);
    state.counters["triangle_pairs"] = meter.Measure(false).triangle_pairs;
    passed = 0;
    for (const tools::SceneWorldBody& body : built.bodies) {
      Pose pose;
      if (!built.world->BestFitPose(body.id, &pose).ok()) std::abort();
      passed += pose.position.y < 0.0f ? 1 : 0;
    }
  }
  Report(steps, &state);
  state.counters["steps"] = kSteps;
  state.counters["passed"] = passed;
}

// 50 bears fall into a box and come to rest there.
void FillBox(benchmark::State& state, int iterations) {
  constexpr uint32_t kSettled = 600, kEnd = 700;  // [steps]
  const BakedFolder folder(0);
  tools::Scene scene = folder.Load("box", 1);
  if (iterations > 0) scene.contact.iterations = iterations;
  std::vector<TimedStep> steps;
  for (auto _ : state) {
    const tools::SceneWorld built = Build(scene);
    built.world->SetSleep({.speed = 0.0f});
    for (uint32_t k = 0; k < kEnd; ++k) steps.push_back(TimeStep(scene, built.world.get()));
  }
  const auto slowest = std::ranges::max_element(steps, {}, &TimedStep::seconds);
  const std::vector<TimedStep> settled(steps.begin() + kSettled, steps.begin() + kEnd);
  Report(settled, &state);
  state.counters["worst_ms"] = 1.0e3 * slowest->seconds;
  state.counters["worst_step"] = static_cast<double>(slowest - steps.begin());
}

// The broad phase alone: boxes of 0.45 to 0.55 m in a cube, five to a cubic metre, that move by a
// thousandth of their size from step to step.
void SweepBoxes(benchmark::State& state) {
  constexpr uint32_t kBoxes = 1000;
  constexpr double kCube = 5.85, kStep = 5.0e-4;  // [m]
  std::mt19937 random(1);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  std::vector<WorldBox> boxes(kBoxes);
  for (WorldBox& box : boxes) {
    for (int k = 0; k < 3; ++k) {
      box.low[k] = kCube * unit(random);
      box.high[k] = box.low[k] + 0.45 + 0.1 * unit(random);
    }
  }
  NearBoxes near;
  if (!near.Reserve(DefaultAllocator(), kBoxes)) std::abort();
  uint32_t pairs = 0;
  for (auto _ : state) {
    state.PauseTiming();
    for (WorldBox& box : boxes) {
      for (int k = 0; k < 3; ++k) {
        const double way = kStep * (2.0 * unit(random) - 1.0);
        box.low[k] += way, box.high[k] += way;
      }
    }
    state.ResumeTiming();
    near.Clear();
    for (uint32_t i = 0; i < kBoxes; ++i) near.Add(boxes[i], i);
    pairs = 0;
    near.ForPairs([&](uint32_t, uint32_t) { return ++pairs != 0; });
  }
  state.counters["pairs"] = pairs;
}

// The bears of the box asleep.
void SleepInBox(benchmark::State& state) {
  constexpr uint32_t kMost = 1500;
  const BakedFolder folder(0);
  const tools::Scene scene = folder.Load("box", 1);
  const tools::SceneWorld built = Build(scene);
  uint32_t asleep_at = 0;
  for (; asleep_at < kMost && built.world->stats().asleep < built.bodies.size(); ++asleep_at) {
    TimeStep(scene, built.world.get());
  }
  // Without a clock in the loop, which takes longer than such a step.
  for (auto _ : state)
    if (!built.world->Step(static_cast<float>(scene.dt)).ok()) std::abort();
  state.counters["asleep"] = built.world->stats().asleep;
  state.counters["asleep_after"] = asleep_at;
}

// How many bears of a heap a step of 16 ms can take: bodies of the largest of several heaps in
// the funnel whose mean step is no longer.
void FillFrame(benchmark::State& state, uint32_t triangles, uint32_t threads) {
  constexpr double kFrame = 16.0e-3;
  constexpr uint32_t kSteps = 150, kLayer = 16, kMost = 20;
  const BakedFolder folder(triangles);
  uint32_t bears = 0;
  for (auto _ : state) {
    for (uint32_t layers = 1; layers <= kMost; ++layers) {
      tools::Scene scene = folder.Load("funnel", threads);
      const tools::SceneBody first = scene.bodies[0];
      scene.bodies.assign(layers, first);
      for (uint32_t k = 0; k < layers; ++k) {
        scene.bodies[k].pose.position.y += 0.62f * static_cast<float>(k);
      }
      const tools::SceneWorld built = Build(scene);
      std::vector<TimedStep> steps;
      for (uint32_t k = 0; k < kSteps; ++k) steps.push_back(TimeStep(scene, built.world.get()));
      const double mean = MeanOf(steps, [](const TimedStep& step) { return step.seconds; });
      if (mean > kFrame) break;
      bears = layers * kLayer;
      state.counters["mean_ms"] = 1.0e3 * mean;
    }
  }
  state.counters["bears"] = bears;
}

}  // namespace

void AddHeapCases() {
  const auto add = [](const std::string& name, const auto& run) {
    benchmark::RegisterBenchmark(("heap/" + name).c_str(), run)
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  };
  for (const uint32_t threads : {1u, 2u}) {
    const std::string on = "/threads:" + std::to_string(threads);
    for (const uint32_t triangles : {0u, 1500u}) {
      const std::string of = triangles == 0 ? "" : "_" + std::to_string(triangles);
      add("funnel_320" + of + on,
          [=](benchmark::State& state) { Pour(state, triangles, threads); });
      add("frame" + of + on,
          [=](benchmark::State& state) { FillFrame(state, triangles, threads); });
    }
  }
  add("box", [](benchmark::State& state) { FillBox(state, 0); });
  add("box_2_iterations", [](benchmark::State& state) { FillBox(state, 2); });
  benchmark::RegisterBenchmark("heap/broad_phase_1000", SweepBoxes)
      ->Iterations(1000)
      ->Unit(benchmark::kMicrosecond);
  benchmark::RegisterBenchmark("heap/box_asleep", SleepInBox)
      ->Iterations(100000)
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace plush::bench
