// SPDX-License-Identifier: MIT
// Clusters that pins cut: parts of a body that only pinned nodes join share none.
#include "plush/allocator.h"

#include "runtime/solver_fixtures.h"
#include "solver/coarse_level.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace cut_clusters_test {

constexpr float kDt = 0.01f;

// The least free node that tets join to each free node without pins, by brute force.
std::vector<uint32_t> PartsOf(const ShapeAsset& shape, const std::vector<uint8_t>& pinned) {
  std::vector<uint32_t> parts(shape.num_nodes());
  for (uint32_t i = 0; i < parts.size(); ++i) parts[i] = i;
  for (bool changes = true; changes;) {
    changes = false;
    for (const Tet& tet : shape.simulation().tets) {
      for (const uint32_t a : {tet.a, tet.b, tet.c, tet.d}) {
        for (const uint32_t b : {tet.a, tet.b, tet.c, tet.d}) {
          if (pinned[a] != 0 || pinned[b] != 0 || parts[b] >= parts[a]) continue;
          parts[a] = parts[b];
          changes = true;
        }
      }
    }
  }
  return parts;
}

CoarseLevel LevelOf(const ShapeAsset& shape, const std::vector<uint8_t>& pinned) {
  SystemView system = SystemOf(shape, kDt);
  system.pinned = pinned;
  const SimulationView& s = shape.simulation();
  CoarseLevel level;
  REQUIRE(level.Build(DefaultAllocator(), system, shape.rest(), s.clusters, s.num_clusters));
  return level;
}

TEST_CASE("Nodes share a cluster if they did as baked and free nodes join them") {
  const uint32_t seed = GENERATE(range(1u, 9u));
  const double share = GENERATE(0.0, 0.2, 0.5, 0.8);
  CAPTURE(seed, share);
  const ShapeAsset shape(TetBox(4, 3, 2, 0.1), {2.0e5, 0.4, 1000.0}, double(kDt), 1 + seed % 3);
  const SimulationView& s = shape.simulation();
  std::vector<uint8_t> pinned(shape.num_nodes(), 0);
  Random random(seed);
  for (const uint32_t node : random.Nodes(shape.num_nodes(), share)) pinned[node] = 1;
  const CoarseLevel level = LevelOf(shape, pinned);
  const std::vector<uint32_t> parts = PartsOf(shape, pinned);
  REQUIRE(level.clusters.size() == shape.num_nodes());
  std::set<std::pair<uint32_t, uint32_t>> shared;
  std::vector<size_t> members(level.num_clusters());
  for (uint32_t i = 0; i < shape.num_nodes(); ++i) {
    REQUIRE(level.clusters[i] < level.num_clusters());
    if (pinned[i] != 0) continue;
    ++members[level.clusters[i]];
    shared.insert({s.clusters[i], parts[i]});
    for (uint32_t j = 0; j < i; ++j) {
      if (pinned[j] != 0) continue;
      const bool expected = s.clusters[i] == s.clusters[j] && parts[i] == parts[j];
      if (expected != (level.clusters[i] == level.clusters[j])) FAIL("nodes " << i << " and " << j);
    }
  }
  const auto used = std::ranges::count_if(members, [](size_t count) { return count > 0; });
  CHECK(static_cast<size_t>(used) == shared.size());
  // The baked clusters keep their numbers, and only they may be empty.
  CHECK(std::ranges::none_of(members.begin() + s.num_clusters, members.end(),
                             [](size_t count) { return count == 0; }));
  if (share == 0.0) CHECK(std::ranges::equal(level.clusters, s.clusters));
  CHECK(level.SharesClusters(level));
  if (level.num_clusters() != s.num_clusters) {
    CHECK_FALSE(level.SharesClusters(LevelOf(shape, std::vector<uint8_t>(pinned.size(), 0))));
  }
}

TEST_CASE("Pins cut clusters until there are as many as a body may have") {
  const ShapeAsset shape(TetBox(16, 16, 8, 0.1), {2.0e5, 0.4, 1000.0}, double(kDt), 2);
  std::vector<uint8_t> pinned(shape.num_nodes(), 1);
  size_t num_free = 0;
  for (uint32_t i = 0; i < pinned.size(); ++i) {
    const Vec3 at = shape.rest()[i];
    const auto is_even = [](float x) { return static_cast<int>(x / 0.1f + 0.5f) % 2 == 0; };
    if (!is_even(at.x) || !is_even(at.y) || !is_even(at.z)) continue;
    pinned[i] = 0;
    ++num_free;
  }
  REQUIRE(num_free > kMaxClusters);
  const CoarseLevel level = LevelOf(shape, pinned);
  CHECK(level.num_clusters() == kMaxClusters);
  CHECK(*std::ranges::max_element(level.clusters) == kMaxClusters - 1);
}

}  // namespace cut_clusters_test
