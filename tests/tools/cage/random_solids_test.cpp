// SPDX-License-Identifier: MIT
// Cages of random solids: strict, positive, guarded, manifold, without crossings, with the number
// of tets asked for, and reproducible.
// - PLUSH_TEST_FULL=1 makes 500 solids, with up to 5000 tets instead of 1250.
// - PLUSH_SOLID_SEED=n makes only the solid of that seed, and prints it and the pinches before the
//   fit.
#include "tools/cage/random_solids.h"

#include "enclosure/enclosure.h"
#include "lattice/cage_boundary.h"
#include "lattice/cell_search.h"
#include "mesh/self_intersection.h"
#include "mesh/topology.h"
#include "skip.h"
#include "solid/solid_volume.h"
#include "sweep.h"
#include "tools/cage/cage_fixtures.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>
#include <tbb/global_control.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace plush::tools;
using namespace plush::tests;

namespace random_solids_test {

constexpr double kGuard = 20.0;

struct Outcome {
  std::string failures;  // empty if the cage is sound
  size_t triangles = 0;
  LatticeCage cage;
  double seconds = 0.0;
  double ratio = 0.0;  // cage volume over solid volume
  double least_angle = 0.0;
  bool off_target = false;
  bool pinched = false;  // the boundary is pinched somewhere
};

// From 50 to 5000 tets, or to 1250 in the short form.
CageSettings SettingsOf(uint32_t seed) {
  RandomNumbers random(seed + 1'000'003);
  CageSettings settings;
  const bool is_long = FullTests() || std::getenv("PLUSH_SOLID_SEED") != nullptr;
  const double exponent = random.In(0.0, 1.0), share = std::pow(is_long ? 100.0 : 25.0, exponent);
  settings.target_tets = static_cast<uint32_t>(50.0 * share);
  if (random.Whole(0, 4) == 0) settings.lattice = LatticeKind::kCube5;
  return settings;
}

// Number of boundary faces that meet although no tet has a copy.
size_t NumCrossings(const LatticeCage& cage, const CageFaces& faces) {
  if (cage.num_split_tets > 0 || cage.num_split_nodes > 0) return 0;
  std::vector<std::array<uint32_t, 3>> boundary;
  for (const CageFace& face : faces.boundary) boundary.push_back(face.nodes);
  return FindSelfIntersections(cage.mesh.nodes, boundary).pairs.size();
}

// With `again`, makes the cage twice.
Outcome Try(uint32_t seed, bool again) {
  Outcome out;
  const SurfaceMesh mesh = RandomSolid(seed);
  out.triangles = mesh.triangles.size();
  const CageSettings settings = SettingsOf(seed);
  Solid solid(mesh);
  const auto fail = [&](bool holds, const std::string& what) {
    if (!holds) out.failures += (out.failures.empty() ? "" : "; ") + what;
  };
  const auto start = std::chrono::steady_clock::now();
  {
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, 1);
    auto built = BuildLatticeCage(solid.surface, solid.inside, settings, &solid.findings);
    if (!built.ok()) {
      out.failures = "no cage: " + built.error().message;
      return out;
    }
    out.cage = std::move(built.value());
  }
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  const TetMesh& tets = out.cage.mesh;
  const CageFaces faces = FindCageFaces(tets);
  const auto escapes = FindEscapes(tets, faces, solid.surface.points, solid.surface.triangles,
                                   out.cage.tet_of_point);
  fail(escapes.empty(), std::to_string(escapes.size()) + " triangles escape");
  fail(LeastSixVolume(tets) > 0.0, "a tet is not positive");
  out.least_angle = LeastDihedral(tets);
  fail(out.least_angle >= kGuard - 1e-5, "an angle of " + std::to_string(out.least_angle));
  const BoundaryDefects defects = FindBoundaryDefects(faces);
  out.pinched = !defects.edges.empty() || !defects.nodes.empty();
  fail(!out.pinched, "pinched at " + std::to_string(defects.edges.size()) + " edges and " +
                         std::to_string(defects.nodes.size()) + " nodes");
  fail(NumCrossings(out.cage, faces) == 0, "the boundary crosses itself");
  fail(!solid.findings.Has("CAGE_NOT_FITTED"), "not fitted");
  const auto count = static_cast<double>(tets.tets.size());
  out.off_target = count > settings.target_tets || count < 0.95 * settings.target_tets;
  fail(!out.off_target,
       std::to_string(tets.tets.size()) + " tets of " + std::to_string(settings.target_tets));
  out.ratio = CageVolume(tets) / out.cage.solid.volume;

  if (again) {
    fail(AreSame(out.cage, CageOf(&solid, settings)), "another cage the second time, on all cores");
  }
  return out;
}

// Counts and extremes over many solids.
struct Statistics {
  size_t solids = 0, sound = 0, off_target = 0, refitted = 0, with_splits = 0, with_branches = 0;
  uint64_t branches = 0, shared = 0, pinched = 0;
  size_t with_pinches = 0;
  double seconds = 0.0, longest = 0.0, least_angle = 180.0;
  std::vector<double> ratios;

  void Add(const Outcome& outcome) {
    ++solids;
    sound += outcome.failures.empty() ? 1 : 0;
    off_target += outcome.off_target ? 1 : 0;
    refitted += outcome.cage.num_fits > 1 ? 1 : 0;
    with_splits += outcome.cage.num_split_tets > 0 ? 1 : 0;
    with_branches += outcome.cage.num_branches > 0 ? 1 : 0;
    branches += outcome.cage.num_branches;
    shared += outcome.cage.num_shared;
    pinched += outcome.cage.num_pinched;
    with_pinches += outcome.pinched ? 1 : 0;
    seconds += outcome.seconds;
    longest = std::max(longest, outcome.seconds);
    least_angle = std::min(least_angle, outcome.least_angle);
    ratios.push_back(outcome.ratio);
  }
  void Print(const char* name) {
    std::sort(ratios.begin(), ratios.end());
    std::printf(
        "%-12s %3zu of %3zu sound, off target %zu, refitted %zu, split %zu, branched %zu "
        "(%llu faces), shared %llu, pinched %llu in %zu, least angle %.2f, volume ratio median "
        "%.2f "
        "largest %.2f, mean %.2f s, longest %.2f s\n",
        name, sound, solids, off_target, refitted, with_splits, with_branches,
        static_cast<unsigned long long>(branches), static_cast<unsigned long long>(shared),
        static_cast<unsigned long long>(pinched), with_pinches, least_angle,
        ratios[ratios.size() / 2], ratios.back(), seconds / static_cast<double>(solids), longest);
  }
};

void PrintOne(uint32_t seed, const Outcome& outcome) {
  const CageSettings settings = SettingsOf(seed);
  const LatticeCage& cage = outcome.cage;
  std::printf(
      "seed %u (%s, %zu triangles, %s): %zu tets of %u, ratio %.2f, angle %.2f, split %u, "
      "shared %u, branches %u, pinched %u, parts %u, fits %u, tries %u, %.2f s%s %s\n",
      seed, kFamilyNames[seed % kNumFamilies], outcome.triangles,
      settings.lattice == LatticeKind::kBcc ? "bcc" : "cube5", cage.mesh.tets.size(),
      settings.target_tets, outcome.ratio, outcome.least_angle, cage.num_split_tets,
      cage.num_shared, cage.num_branches, cage.num_pinched, NumComponents(cage.mesh), cage.num_fits,
      cage.num_lattices, outcome.seconds, outcome.off_target ? " off target" : "",
      outcome.failures.c_str());
}

void PrintBeforeFit(uint32_t seed) {
  const Solid solid(RandomSolid(seed));
  const CageSettings settings = SettingsOf(seed);
  CellSearch search(solid.surface, solid.inside, settings.lattice,
                    settings.clearance * solid.diagonal, settings.join_parts);
  const auto attempt = search.Nearest(settings.target_tets);
  REQUIRE(attempt.ok());
  const BoundaryDefects defects = FindBoundaryDefects(FindCageFaces(attempt.value().cage.mesh));
  std::printf("before the fit: %u tets, %u of them filled, pinched at %zu edges and %zu nodes\n",
              attempt.value().num_tets(), attempt.value().cage.num_filled, defects.edges.size(),
              defects.nodes.size());
}

TEST_CASE("Random solids are closed, manifold and not self-intersecting", "[long]") {
  for (uint32_t seed = 0; seed < 2 * kNumFamilies; ++seed) {
    INFO("seed " << seed);
    const SurfaceMesh mesh = RandomSolid(seed);
    CHECK(mesh.triangles.size() > 300);
    CHECK(mesh.triangles.size() < 150'000);
    FindingList findings;
    const SolidSurface surface = MakeSolidSurface(mesh, &findings);
    CHECK(surface.closed);
    CHECK(SignedVolume(surface) > 0.0);
    const auto topology =
        BuildTopology(mesh.triangles, static_cast<uint32_t>(mesh.positions.size()));
    CHECK(std::all_of(topology.edges.begin(), topology.edges.end(),
                      [&](const SurfaceEdge& edge) { return topology.UsesOf(edge).size() == 2; }));
    const bool may_overlap = std::string(kFamilyNames[seed % kNumFamilies]) == "scattered";
    if (!may_overlap) CHECK(FindSelfIntersections(mesh.positions, mesh.triangles).pairs.empty());
  }
}

TEST_CASE("Cages of random solids are sound", "[long]") {
  if (const char* seed = std::getenv("PLUSH_SOLID_SEED")) {
    const auto number = static_cast<uint32_t>(std::atoi(seed));
    const Outcome outcome = Try(number, true);
    PrintOne(number, outcome);
    PrintBeforeFit(number);
    CHECK(outcome.failures.empty());
    return;
  }
  const bool full = FullTests();
  Statistics all;
  Statistics families[kNumFamilies];
  SweepCells seeds;
  for (uint32_t seed = 0; seed < (full ? 500 : 20); ++seed) {
    if (!seeds.TakesNext()) continue;
    const Outcome outcome = Try(seed, full || seed % 8 == 0);
    all.Add(outcome);
    families[seed % kNumFamilies].Add(outcome);
    if (full || !outcome.failures.empty()) PrintOne(seed, outcome);
    INFO("seed " << seed << " (" << kFamilyNames[seed % kNumFamilies] << "): " << outcome.failures);
    CHECK(outcome.failures.empty());
  }
  for (uint32_t family = 0; family < kNumFamilies && full; ++family) {
    families[family].Print(kFamilyNames[family]);
  }
  all.Print("all");
  // The families made for it do split.
  CHECK(all.with_splits > all.solids / 5);
}

}  // namespace random_solids_test
