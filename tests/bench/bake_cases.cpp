// SPDX-License-Identifier: MIT
// Speed of the tools: what an artist waits for.

#include "bake/static_bake.h"
#include "bench/bench_models.h"
#include "mesh/surface_checks.h"

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>

namespace plush::bench {
namespace {

// All of `plush check`: the import in its child process, then every check.
void Check(benchmark::State& state, const std::string& path) {
  for (auto _ : state) {
    const tools::ImportedModel model = ImportOrExit(path);
    tools::FindingList findings;
    CheckSurface(model.surface, {}, &findings);
    benchmark::DoNotOptimize(findings.all().size());
  }
}

// Resets the kernel's count of this process's peak memory, if the kernel can.
void ResetPeakMemory() { std::ofstream("/proc/self/clear_refs") << "5"; }

// Largest resident size since then, or of the whole run [bytes]; 0 if unknown.
double PeakMemoryBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return 1024.0 * std::stod(line.substr(6));
  }
  return 0.0;
}

// A whole bake with default settings, as `plush bake` does it: the import in its child process
// (whose memory is not counted), then the bake.
void BakeModel(benchmark::State& state, const std::string& path) {
  size_t bytes = 0;
  ResetPeakMemory();
  for (auto _ : state) bytes = BakeOrExit(ImportOrExit(path)).size();
  state.counters["peak_memory_bytes"] = PeakMemoryBytes();
  state.counters["file_bytes"] = static_cast<double>(bytes);
}

// A closed rope of 10 m, `ratio` times as long as thick.
tools::SurfaceMesh MakeRope(double ratio) {
  constexpr uint32_t kRings = 2'000;
  const double radius = 5.0 / ratio;
  tools::SurfaceMesh mesh;
  for (uint32_t ring = 0; ring <= kRings; ++ring) {
    const double x = 10.0 * ring / kRings;
    mesh.positions.insert(mesh.positions.end(),
                          {{x, radius, 0}, {x, 0, radius}, {x, -radius, 0}, {x, 0, -radius}});
  }
  for (uint32_t ring = 0; ring < kRings; ++ring) {
    for (uint32_t i = 0; i < 4; ++i) {
      const uint32_t a = 4 * ring + i, b = 4 * ring + (i + 1) % 4;
      mesh.triangles.push_back({a, b + 4, b});
      mesh.triangles.push_back({a, a + 4, b + 4});
    }
  }
  constexpr uint32_t kEnd = 4 * kRings;
  mesh.triangles.insert(
      mesh.triangles.end(),
      {{0, 1, 2}, {0, 2, 3}, {kEnd, kEnd + 2, kEnd + 1}, {kEnd, kEnd + 3, kEnd + 2}});
  mesh.normals.assign(mesh.positions.size(), Vec3{0.0f, 1.0f, 0.0f});
  mesh.parts = {{"rope", "", "", 0, static_cast<uint32_t>(mesh.triangles.size())}};
  return mesh;
}

// A rope of 1:1000, without the import: required 30 s, aim 5 s.
void BakeRope(benchmark::State& state) {
  tools::ImportedModel model;
  model.surface = MakeRope(1000.0);
  for (auto _ : state) benchmark::DoNotOptimize(BakeOrExit(model).size());
}

// The same of a static mesh, as `plush bake --static` does it: required 1 s for 100,000 triangles,
// aim 0.4 s. `import_ms`: of it the import.
void BakeStaticModel(benchmark::State& state, const std::string& path) {
  using Clock = std::chrono::steady_clock;
  double import_s = 0.0;
  uint32_t triangles = 0;
  size_t bytes = 0;
  ResetPeakMemory();
  for (auto _ : state) {
    const auto start = Clock::now();
    const tools::ImportedModel model = ImportOrExit(path);
    import_s += std::chrono::duration<double>(Clock::now() - start).count();
    tools::FindingList findings;
    const auto baked = tools::BakeStatic(model, {}, &findings);
    if (!baked.ok()) {
      state.SkipWithError("no static mesh");
      return;
    }
    bytes = baked.value().bytes.size();
    triangles = static_cast<uint32_t>(baked.value().summary.triangles);
  }
  state.counters["import_ms"] = 1.0e3 * import_s / static_cast<double>(state.iterations());
  state.counters["peak_memory_bytes"] = PeakMemoryBytes();
  state.counters["triangles"] = triangles;
  state.counters["file_bytes"] = static_cast<double>(bytes);
}

}  // namespace

void AddBakeCases(const ModelFolder& models) {
  const std::string horse = models.Find("horse_97k.obj", "check/horse_97k");
  if (!horse.empty()) {
    benchmark::RegisterBenchmark("check/horse_97k", Check, horse)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
    benchmark::RegisterBenchmark("static_bake/100k", BakeStaticModel, horse)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
  benchmark::RegisterBenchmark("bake/rope_1000", BakeRope)
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
  const std::string armadillo = models.Find("armadillo_86k.obj", "bake/armadillo_86k");
  if (!armadillo.empty()) {
    benchmark::RegisterBenchmark("bake/armadillo_86k", BakeModel, armadillo)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
}

}  // namespace plush::bench
