// SPDX-License-Identifier: MIT
// Checks the clusters of the cage's nodes: indices, that none is empty, and that none has nodes of
// two components.
#include "plush/format/tet_block.h"

#include "asset/asset_checks.h"
#include "asset/check_sink.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace plush {
namespace {

constexpr char kSection[] = "simulation.clusters";

// Sets of clusters. The root of a set has the lowest number.
class ClusterSets {
 public:
  explicit ClusterSets(uint32_t num_clusters) : num_sets_(num_clusters) {
    for (uint32_t i = 0; i < kMaxClusters; ++i) parent_[i] = i;
  }

  void Join(uint32_t a, uint32_t b) {
    a = Find(a);
    b = Find(b);
    if (a == b) return;
    parent_[std::max(a, b)] = std::min(a, b);
    --num_sets_;
  }

  uint32_t num_sets() const { return num_sets_; }

 private:
  uint32_t Find(uint32_t x) {
    while (parent_[x] != x) {
      parent_[x] = parent_[parent_[x]];
      x = parent_[x];
    }
    return x;
  }

  std::array<uint32_t, kMaxClusters> parent_;
  uint32_t num_sets_;
};

// Returns false after a failure.
bool CheckIndices(const CageView& cage, CheckSink* sink) {
  const uint64_t before = sink->num_failures();
  ReportWhere(cage.clusters.size(), CheckKind::kIndex, kSection,
              "an index is not below the number of clusters", sink,
              [&](size_t i) { return cage.clusters[i] < cage.num_clusters ? 0u : 1u; });
  return sink->num_failures() == before;
}

// Returns false after a failure.
bool CheckUse(const CageView& cage, CheckSink* sink) {
  const uint64_t before = sink->num_failures();
  std::array<bool, kMaxClusters> used = {};
  for (const uint16_t cluster : cage.clusters) used[cluster] = true;
  for (uint32_t i = 0; i < cage.num_clusters && !sink->stopped(); ++i) {
    if (used[i]) continue;
    sink->Fail(CheckKind::kCounts, kSection, "a cluster has no node", i);
  }
  return sink->num_failures() == before;
}

// Tets link clusters to sets. Each component of the cage lies in one set, so there are as many sets
// as components if, and only if, no cluster has nodes of two components. Needs no memory for nodes.
void CheckComponents(const SimulationView& s, CheckSink* sink) {
  ClusterSets sets(s.num_clusters);
  for (const Tet& t : s.tets) {
    if (!IsSound(t, s.nodes.size())) return;  // reported already
    for (const uint32_t node : {t.b, t.c, t.d}) sets.Join(s.clusters[t.a], s.clusters[node]);
  }
  const bool known = s.components >= 1 && s.components <= s.nodes.size();
  if (!known || sets.num_sets() == s.components || sink->stopped()) return;
  sink->Fail(CheckKind::kCounts, kSection,
             "a cluster has nodes of two components, or the number of components is wrong");
}

}  // namespace

void CheckClusters(const AssetLayout& layout, CheckSink* sink) {
  const SimulationView& s = layout.simulation;
  if (s.clusters.empty() || !CheckIndices(s, sink) || !CheckUse(s, sink)) return;
  CheckComponents(s, sink);
}

}  // namespace plush
