// SPDX-License-Identifier: MIT
// The lattice cage alone, on one thread: from the welded, oriented surface to the proved cage.

#include "bench/bench_models.h"
#include "cage/lattice_cage.h"
#include "fit/tet_quality.h"
#include "solid/inside.h"
#include "solid/solid_surface.h"
#include "solid/solid_volume.h"

#include <benchmark/benchmark.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <string>

namespace plush::bench {
namespace {

// Smallest angle of the cage's tets, and the mean of the tets' smallest ones [degrees].
struct Angles {
  double least = 180.0, mean = 0.0;
};

Angles AnglesOf(const tools::TetMesh& mesh) {
  Angles angles;
  for (const auto& [a, b, c, d] : mesh.tets) {
    const double smallest =
        tools::SmallestDihedral({mesh.nodes[a], mesh.nodes[b], mesh.nodes[c], mesh.nodes[d]});
    angles.least = std::min(angles.least, smallest);
    angles.mean += smallest / static_cast<double>(mesh.tets.size());
  }
  return angles;
}

void Report(const tools::LatticeCage& cage, const tools::FindingList& findings,
            benchmark::State* state) {
  const Angles angles = AnglesOf(cage.mesh);
  auto& counters = state->counters;
  counters["tets"] = static_cast<double>(cage.mesh.tets.size());
  counters["volume_ratio"] = tools::CageVolume(cage.mesh) / cage.solid.volume;
  counters["min_dihedral_deg"] = angles.least;
  counters["mean_min_dihedral_deg"] = angles.mean;
  counters["split_tets"] = cage.num_split_tets;
  counters["shared_tets"] = cage.num_shared;
  counters["branches"] = cage.num_branches;
  counters["pinched"] = cage.num_pinched;
  counters["attempts"] = cage.num_lattices;
  counters["fits"] = cage.num_fits;
  counters["fitted"] = findings.Has("CAGE_NOT_FITTED") ? 0 : 1;
}

// A cage of 450 tets. The bake's volume and proof are parts of BuildLatticeCage.
void Cage(benchmark::State& state, const std::string& path) {
  const tools::ImportedModel model = ImportOrExit(path);
  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  tools::FindingList findings;
  const tools::SolidSurface surface = tools::MakeSolidSurface(RoundedToFloat(model), &findings);
  tools::LatticeCage cage;
  for (auto _ : state) {
    const tools::InsideTest inside(surface);
    auto built = tools::BuildLatticeCage(surface, inside, {}, &findings);
    if (!built.ok()) {
      state.SkipWithError(built.error().message.c_str());
      return;
    }
    cage = std::move(built.value());
  }
  Report(cage, findings, &state);
}

}  // namespace

void AddCageCases(const ModelFolder& models) {
  for (const char* name :
       {"armadillo_10k", "armadillo_86k", "horse_10k", "horse_97k", "cheburashka_13k"}) {
    const std::string case_name = std::string("cage/") + name;
    const std::string path = models.Find(std::string(name) + ".obj", case_name);
    if (path.empty()) continue;
    benchmark::RegisterBenchmark(case_name.c_str(), Cage, path)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
}

}  // namespace plush::bench
