// SPDX-License-Identifier: MIT
// Two bodies whose surfaces intersect, at rest, on one thread: refit, search for candidates, exact
// tests, curves; then the whole determination of contacts (pairs, curves, floods, correspondences).
#include "plush/allocator.h"
#include "plush/format/cdg_records.h"
#include "plush/format/tet_block.h"

#include "bench/bench_models.h"
#include "bench/swinging_arm.h"
#include "bench/thread_clock.h"
#include "intersection/body_pairs.h"
#include "intersection/curves.h"
#include "intersection/flat_sums.h"
#include "intersection/pair_contacts.h"
#include "intersection/placed_surface.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace plush::bench {
namespace {

// As in the samples.
constexpr Toy kBear = {"bear", "bear.glb", 400, 4.0e4, 0.4, 0.15, false, {0.13, 0.52, -0.004}};

constexpr double kDepth = 0.01;  // of one bear in the other [m]

// Queries of one asset at rest.
struct RestBody {
  explicit RestBody(const Asset& of) : asset(of) {
    if (!state.Reserve(DefaultAllocator(), asset.collision(), asset.simulation().nodes.size()))
      std::abort();
    Update();
  }
  void Update() { RefitVolumes(asset.collision(), asset.simulation().nodes, &state); }
  CollisionBody View() const {
    return {asset.collision(), asset.simulation().nodes, asset.simulation().nodes, state};
  }

  const Asset& asset;
  CollisionState state;
};

// Extent of the deformed surface along x [m].
double WidthOf(const Asset& asset) {
  const auto& positions = asset.visual().positions;
  const auto [low, high] = std::minmax_element(
      positions.begin(), positions.end(), [](const Vec3& a, const Vec3& b) { return a.x < b.x; });
  return double(high->x) - double(low->x);
}

// Number of pairs after mapping each triangle back to the model's that it was cut from.
size_t CountSourcePairs(std::span<const TrianglePair> pairs, const Asset& a, const Asset& b) {
  std::set<std::pair<uint32_t, uint32_t>> sources;
  for (const TrianglePair& pair : pairs)
    sources.insert(
        {a.collision().source_triangles[pair.moved], b.collision().source_triangles[pair.fixed]});
  return sources.size();
}

constexpr uint32_t kRoom = 1 << 16;

bool ReserveFor(const Asset& asset_a, const Asset& asset_b, PairScratch* scratch) {
  const CollisionView &a = asset_a.collision(), &b = asset_b.collision();
  return scratch->Reserve(DefaultAllocator(),
                          {kRoom, kRoom, std::max(a.num_triangles(), b.num_triangles()),
                           static_cast<uint32_t>(std::max(a.patches.size(), b.patches.size())),
                           static_cast<uint32_t>(std::max(a.vertices.size(), b.vertices.size()))});
}

void FindContact(benchmark::State& state, const Asset& asset_a, const Asset& asset_b,
                 double distance) {
  RestBody a(asset_a), b(asset_b);
  const CollisionBody view_a = a.View(), view_b = b.View();
  const PlacedBody at_a = {view_a, {0, 0, 0}}, at_b = {view_b, {distance, 0, 0}};
  std::vector<TrianglePair> pairs(kRoom);
  std::vector<Joint> joints(MostJoints(kRoom));
  std::vector<uint32_t> next(kRoom), order(kRoom);
  std::vector<uint8_t> has_previous(kRoom);
  std::vector<Curve> curves(kRoom);
  PairScratch scratch;
  if (!ReserveFor(asset_a, asset_b, &scratch)) std::abort();
  std::vector<PairContact> contacts(kRoom);
  PairContactCount whole;
  BodyPairCount found;
  uint32_t num_curves = 0;
  std::vector<double> refits, searches, pairings, joins, wholes;
  for (auto _ : state) {
    const double start = ThreadSeconds();
    a.Update();
    b.Update();
    const double refitted = ThreadSeconds();
    // The patches' trees instead of placed patches.
    found = FindBodyPairs(at_a, at_b, {}, pairs);
    const double searched = ThreadSeconds();
    found = FindBodyPairs(at_a, at_b, scratch.placed, pairs);
    const double paired = ThreadSeconds();
    num_curves =
        FindCurves({pairs.data(), found.pairs}, {joints, next, order, has_previous}, curves);
    const double joined = ThreadSeconds();
    if (!found.complete || num_curves == kNoPair) std::abort();
    whole = FindPairContacts(at_a, at_b, &scratch, contacts);
    const double determined = ThreadSeconds();
    if (!whole.complete) std::abort();
    wholes.push_back(determined - joined);
    refits.push_back(refitted - start);
    searches.push_back(searched - refitted);
    pairings.push_back(paired - searched);
    joins.push_back(joined - paired);
    // The phases are timed for comparison only.
    state.SetIterationTime((refitted - start) + (determined - joined));
  }
  state.counters["refit_us"] = 1e6 * Median(refits);
  state.counters["search_and_tests_by_trees_us"] = 1e6 * Median(searches);
  state.counters["search_and_tests_us"] = 1e6 * Median(pairings);
  state.counters["curves_us"] = 1e6 * Median(joins);
  state.counters["refit_and_pairs_us"] = 1e6 * (Median(refits) + Median(pairings));
  state.counters["contacts_us"] = 1e6 * (Median(wholes) - Median(pairings) - Median(joins));
  state.counters["contacts"] = whole.contacts;
  state.counters["regions"] = whole.regions;
  state.counters["volumes"] = whole.volumes;
  state.counters["candidates"] = found.candidates;
  state.counters["pairs"] = found.pairs;
  if (!asset_a.collision().source_triangles.empty() &&
      !asset_b.collision().source_triangles.empty()) {
    state.counters["source_pairs"] =
        double(CountSourcePairs({pairs.data(), found.pairs}, asset_a, asset_b));
  }
  state.counters["curves"] = num_curves;
}

void TwoBears(benchmark::State& state) {
  const SwingingArm bear = MakeToy(kBear);
  FindContact(state, bear.asset, bear.asset, WidthOf(bear.asset) - kDepth);
}

// Moves the model's box to the origin and scales its diagonal to 1 m.
void Normalise(tools::SurfaceMesh* surface) {
  tools::Vec3d low = surface->positions[0], high = low;
  for (const tools::Vec3d& p : surface->positions) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  const tools::Vec3d centre = (low + high) * 0.5, size = high - low;
  const double scale = 1.0 / std::sqrt(size.x * size.x + size.y * size.y + size.z * size.z);
  for (tools::Vec3d& p : surface->positions) p = (p - centre) * scale;
}

// The horse stands upright, turned by `degrees`. It reaches deep into the armadillo.
struct DeepAssets {
  DeepAssets(const std::string& armadillo, const std::string& horse, double degrees = 30.0) {
    tools::ImportedModel a = ImportOrExit(armadillo), b = ImportOrExit(horse);
    Normalise(&a.surface);
    Normalise(&b.surface);
    const double turn = degrees * std::acos(-1.0) / 180.0, c = std::cos(turn), s = std::sin(turn);
    for (tools::Vec3d& p : b.surface.positions) {
      const tools::Vec3d up = {p.x, -p.z, p.y};
      p = {up.x * c + up.z * s, up.y, -up.x * s + up.z * c};
    }
    bytes_a.emplace(BakeOrExit(a));
    bytes_b.emplace(BakeOrExit(b));
    if (!asset_a.Open(bytes_a->bytes()).ok() || !asset_b.Open(bytes_b->bytes()).ok()) std::abort();
  }
  std::optional<AlignedBytes> bytes_a, bytes_b;
  Asset asset_a, asset_b;
};

constexpr double kDeepDistance = 0.1;  // [m]

void DeepPair(benchmark::State& state, const std::string& armadillo, const std::string& horse,
              double degrees) {
  const DeepAssets assets(armadillo, horse, degrees);
  FindContact(state, assets.asset_a, assets.asset_b, kDeepDistance);
}

// The same at three resolutions of the surfaces, with cages of as many tets, in turns.
void Resolutions(benchmark::State& state, const std::vector<std::string>& armadillos,
                 const std::vector<std::string>& horses) {
  struct One {
    One(const std::string& armadillo, const std::string& horse)
        : assets(armadillo, horse), a(assets.asset_a), b(assets.asset_b), contacts(1 << 16) {
      if (!ReserveFor(assets.asset_a, assets.asset_b, &scratch)) std::abort();
    }
    DeepAssets assets;
    RestBody a, b;
    PairScratch scratch;
    std::vector<PairContact> contacts;
    std::vector<double> times;
  };
  std::vector<std::unique_ptr<One>> all;
  for (size_t i = 0; i < horses.size(); ++i)
    all.push_back(std::make_unique<One>(armadillos[i], horses[i]));
  for (auto _ : state) {
    double sum = 0.0;
    for (const auto& one : all) {
      const CollisionBody view_a = one->a.View(), view_b = one->b.View();
      const double start = ThreadSeconds();
      one->a.Update();
      one->b.Update();
      const PairContactCount found = FindPairContacts(
          {view_a, {0, 0, 0}}, {view_b, {kDeepDistance, 0, 0}}, &one->scratch, one->contacts);
      one->times.push_back(ThreadSeconds() - start);
      if (!found.complete) std::abort();
      sum += one->times.back();
    }
    state.SetIterationTime(sum);
  }
  const auto triangles = [](const One& one) {
    return double(one.assets.asset_a.collision().num_triangles() +
                  one.assets.asset_b.collision().num_triangles());
  };
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string name = "of_" + std::to_string(i);
    state.counters[name + "_triangles"] = triangles(*all[i]);
    state.counters[name + "_us"] = 1e6 * Median(all[i]->times);
  }
  state.counters["exponent"] = std::log(Median(all.back()->times) / Median(all.front()->times)) /
                               std::log(triangles(*all.back()) / triangles(*all.front()));
}

// The patches' trees with and without parts of them, as [Civ, Table 5.2], and the triangles of
// whole patches one by one, which a flood of patches leaves out.
void Ablation(benchmark::State& state, const std::string& armadillo, const std::string& horse) {
  const DeepAssets assets(armadillo, horse);
  RestBody a(assets.asset_a), b(assets.asset_b);
  const CollisionBody view_a = a.View(), view_b = b.View();
  const PlacedBody at_a = {view_a, {0, 0, 0}}, at_b = {view_b, {kDeepDistance, 0, 0}};
  PairScratch scratch;
  if (!ReserveFor(assets.asset_a, assets.asset_b, &scratch)) std::abort();
  std::vector<PairContact> contacts(1 << 16);
  const PlacedSurface sides[2] = {{view_a, {}, Surface::kMoved},
                                  {view_b, OffsetTo(at_a, at_b), Surface::kFixed}};
  struct Tests {
    const PlacedSurface* sides;
    uint64_t tested = 0, pairs = 0;
  };
  const auto search = [&](uint32_t paired_at_once, Tests* tests) {
    const double start = ThreadSeconds();
    ForCandidatePairs(at_a, at_b, paired_at_once, tests, [](void* user, const CandidatePair& pair) {
      Tests& t = *static_cast<Tests*>(user);
      Corners corners[2];
      for (int k = 0; k < 2; ++k)
        corners[k] = t.sides[k].CornersAt(t.sides[k].NodesOfTet(pair.tets[k]), pair.triangles[k]);
      Segment segment;
      ++t.tested;
      t.pairs += Intersect(corners[0], corners[1], &segment) ? 1 : 0;
      return true;
    });
    return ThreadSeconds() - start;
  };
  constexpr uint32_t kAll = ~0u;  // any two patches are paired all with all
  Tests of_trees, of_leaves, of_patches;
  double no_trees = 0.0;
  std::vector<double> trees, leaves, floods;
  for (auto _ : state) {
    of_trees = of_leaves = {sides};
    trees.push_back(search(kPairedAtOnce, &of_trees));
    leaves.push_back(search(1, &of_leaves));
    if (no_trees == 0.0) {
      of_patches = {sides};
      no_trees = search(kAll, &of_patches);
    }
    const PairContactCount found = FindPairContacts(at_a, at_b, &scratch, contacts);
    if (!found.complete) std::abort();
    double area = 0.0;
    const double start = ThreadSeconds();
    for (size_t k = 0; k < 2; ++k) {
      const FloodScratch& flood = scratch.floods[k];
      for (uint32_t r = 0; r < flood.num_regions; ++r) {
        if (flood.regions[r].num_items != 0) continue;
        const PatchCorners corners(sides[k], flood.regions[r].patch);
        const CollisionView& view = sides[k].body.surface;
        const uint32_t end = TrianglesEnd(view, flood.regions[r].patch);
        for (uint32_t t = view.patches[flood.regions[r].patch].first_triangle; t < end; ++t) {
          const Corners at = corners.At(t);
          FlatSums sums(at);
          sums.Add(at[1], at[2], 1);
          area += sums.area;
        }
      }
    }
    floods.push_back(ThreadSeconds() - start);
    benchmark::DoNotOptimize(area);
    state.SetIterationTime(trees.back());
  }
  if (of_trees.pairs != of_leaves.pairs || of_trees.pairs != of_patches.pairs) std::abort();
  state.counters["trees_us"] = 1e6 * Median(trees);
  state.counters["leaf_size_1_us"] = 1e6 * Median(leaves);
  state.counters["no_trees_us"] = 1e6 * no_trees;
  state.counters["trees_tested"] = double(of_trees.tested);
  state.counters["leaf_size_1_tested"] = double(of_leaves.tested);
  state.counters["no_trees_tested"] = double(of_patches.tested);
  state.counters["no_patch_flood_adds_us"] = 1e6 * Median(floods);
}

}  // namespace

void AddIntersectionCases(const ModelFolder& models) {
  benchmark::RegisterBenchmark("intersection/two_bears", TwoBears)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
  const std::string name = "intersection/deep_pair";
  const std::string armadillo = models.Find("armadillo_86k.obj", name);
  const std::string horse = models.Find("horse_97k.obj", name);
  if (armadillo.empty() || horse.empty()) return;
  for (const int degrees : {30, 120}) {
    benchmark::RegisterBenchmark(
        (degrees == 30 ? name : name + "_" + std::to_string(degrees)).c_str(),
        [=](benchmark::State& state) { DeepPair(state, armadillo, horse, degrees); })
        ->UseManualTime()
        ->Iterations(200)
        ->Unit(benchmark::kMicrosecond);
  }
  benchmark::RegisterBenchmark("intersection/ablation",
                               [=](benchmark::State& state) { Ablation(state, armadillo, horse); })
      ->UseManualTime()
      ->Iterations(20)
      ->Unit(benchmark::kMicrosecond);
  const std::string of_resolutions = "intersection/resolutions";
  std::vector<std::string> armadillos, horses;
  for (const char* size : {"1k", "10k"}) {
    armadillos.push_back(models.Find(std::string("armadillo_") + size + ".obj", of_resolutions));
    horses.push_back(models.Find(std::string("horse_") + size + ".obj", of_resolutions));
    if (armadillos.back().empty() || horses.back().empty()) return;
  }
  armadillos.push_back(armadillo);
  horses.push_back(horse);
  benchmark::RegisterBenchmark(
      of_resolutions.c_str(),
      [=](benchmark::State& state) { Resolutions(state, armadillos, horses); })
      ->UseManualTime()
      ->Iterations(100)
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace plush::bench
