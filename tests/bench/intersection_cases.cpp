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
#include "intersection/pair_contacts.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
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
  void Update() { Refit(asset.collision(), asset.simulation().nodes, &state); }
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

void FindContact(benchmark::State& state, const Asset& asset_a, const Asset& asset_b,
                 double distance) {
  RestBody a(asset_a), b(asset_b);
  const CollisionBody view_a = a.View(), view_b = b.View();
  const PlacedBody at_a = {view_a, {0, 0, 0}}, at_b = {view_b, {distance, 0, 0}};
  constexpr size_t kRoom = 1 << 16;
  std::vector<TrianglePair> pairs(kRoom);
  std::vector<CurveEnd> ends(2 * kRoom);
  std::vector<uint32_t> next(kRoom), order(kRoom);
  std::vector<uint8_t> has_previous(kRoom);
  std::vector<Curve> curves(kRoom);
  PairScratch scratch;
  if (!scratch.Reserve(
          DefaultAllocator(),
          {kRoom, kRoom,
           std::max(asset_a.collision().num_triangles(), asset_b.collision().num_triangles()),
           static_cast<uint32_t>(
               std::max(asset_a.collision().patches.size(), asset_b.collision().patches.size())),
           static_cast<uint32_t>(std::max(asset_a.collision().vertices.size(),
                                          asset_b.collision().vertices.size()))}))
    std::abort();
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
    num_curves = FindCurves({pairs.data(), found.pairs}, {ends, next, order, has_previous}, curves);
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

// The horse stands up and turns by 30 degrees; it reaches deep into the armadillo.
void DeepPair(benchmark::State& state, const std::string& armadillo, const std::string& horse) {
  tools::ImportedModel a = ImportOrExit(armadillo), b = ImportOrExit(horse);
  Normalise(&a.surface);
  Normalise(&b.surface);
  const double turn = std::acos(-1.0) / 6.0, c = std::cos(turn), s = std::sin(turn);
  for (tools::Vec3d& p : b.surface.positions) {
    const tools::Vec3d up = {p.x, -p.z, p.y};
    p = {up.x * c + up.z * s, up.y, -up.x * s + up.z * c};
  }
  const AlignedBytes bytes_a(BakeOrExit(a)), bytes_b(BakeOrExit(b));
  Asset asset_a, asset_b;
  if (!asset_a.Open(bytes_a.bytes()).ok() || !asset_b.Open(bytes_b.bytes()).ok()) std::abort();
  FindContact(state, asset_a, asset_b, 0.1);
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
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) { DeepPair(state, armadillo, horse); })
      ->UseManualTime()
      ->Iterations(200)
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace plush::bench
