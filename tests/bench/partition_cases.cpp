// SPDX-License-Identifier: MIT
// Cutting the welded surface by the cage into the file's collision records, on one thread.

#include "bench/bench_models.h"
#include "cage/lattice_cage.h"
#include "partition/partition.h"
#include "solid/inside.h"
#include "solid/solid_surface.h"

#include <benchmark/benchmark.h>
#include <tbb/global_control.h>

#include <string>

namespace plush::bench {
namespace {

void Partition(benchmark::State& state, const std::string& path) {
  const tools::ImportedModel model = ImportOrExit(path);
  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  tools::FindingList findings;
  const tools::SolidSurface surface = tools::MakeSolidSurface(RoundedToFloat(model), &findings);
  const tools::InsideTest inside(surface);
  const auto cage = tools::BuildLatticeCage(surface, inside, {}, &findings);
  if (!cage.ok()) {
    state.SkipWithError(cage.error().message.c_str());
    return;
  }
  tools::Partition partition;
  for (auto _ : state) {
    partition =
        tools::PartitionSurface(surface, cage.value().mesh, cage.value().tet_of_point, &findings);
  }
  const auto triangles = static_cast<double>(partition.data.triangles.size());
  const auto source = static_cast<double>(surface.triangles.size());
  auto& counters = state.counters;
  counters["tets"] = static_cast<double>(cage.value().mesh.tets.size());
  counters["cdg_tets"] = static_cast<double>(partition.data.tets.size());
  counters["patches"] = static_cast<double>(partition.data.patches.size());
  counters["triangles"] = triangles;
  counters["vertices"] = static_cast<double>(partition.data.vertices.size());
  counters["cdg_per_viz"] = triangles / source;
  counters["one_plus_two_crossings_per_viz"] =
      1.0 + 2.0 * static_cast<double>(partition.num_crossings) / source;
  counters["merged_edges"] = static_cast<double>(partition.num_merged);
  counters["bytes_per_triangle"] =
      static_cast<double>(CollisionBytes(partition.data, false)) / triangles;
  counters["bytes_per_triangle_with_map"] =
      static_cast<double>(CollisionBytes(partition.data)) / triangles;
}

}  // namespace

void AddPartitionCases(const ModelFolder& models) {
  for (const char* name : {"armadillo_1k", "armadillo_10k", "armadillo_86k", "horse_1k",
                           "horse_10k", "horse_97k", "cheburashka_13k"}) {
    const std::string case_name = std::string("partition/") + name;
    const std::string path = models.Find(std::string(name) + ".obj", case_name);
    if (path.empty()) continue;
    benchmark::RegisterBenchmark(case_name.c_str(), Partition, path)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
}

}  // namespace plush::bench
