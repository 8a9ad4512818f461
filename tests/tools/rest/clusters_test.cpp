// SPDX-License-Identifier: MIT
// Properties of clusters: connected, balanced, reproducible, within components, few straddling
// tets.
#include "rest/clusters.h"

#include "plush/asset.h"

#include "base/vec3.h"
#include "import/tet_files.h"
#include "shapes/tet_shapes.h"
#include "skip.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace plush::tools;
using plush::test::AppendMesh;
using plush::test::TetBox;
using plush::tests::TestModelOrSkip;

namespace clusters_test {

using Neighbours = std::vector<std::set<uint32_t>>;

std::vector<plush::Vec3> NodesOf(const TetMesh& mesh) {
  std::vector<plush::Vec3> nodes;
  for (const Vec3d& node : mesh.nodes) nodes.push_back(ToFloat(node));
  return nodes;
}

Clusters ClustersOf(const TetMesh& mesh, std::optional<uint32_t> count) {
  return MakeClusters(NodesOf(mesh), mesh.tets, count);
}

Neighbours NeighboursOf(const TetMesh& mesh) {
  Neighbours neighbours(mesh.nodes.size());
  for (const auto& tet : mesh.tets) {
    for (const uint32_t a : tet) neighbours[a].insert(tet.begin(), tet.end());
  }
  return neighbours;
}

// The nodes that a walk from `seed` reaches if it may enter nodes for which `may_enter` holds.
template <class MayEnter>
std::set<uint32_t> Reached(const Neighbours& neighbours, uint32_t seed, const MayEnter& may_enter) {
  std::set<uint32_t> reached = {seed};
  std::vector<uint32_t> stack = {seed};
  while (!stack.empty()) {
    const uint32_t node = stack.back();
    stack.pop_back();
    for (const uint32_t other : neighbours[node]) {
      if (may_enter(other) && reached.insert(other).second) stack.push_back(other);
    }
  }
  return reached;
}

// Nodes of each cluster.
std::map<uint16_t, std::set<uint32_t>> NodesByCluster(const Clusters& clusters) {
  std::map<uint16_t, std::set<uint32_t>> nodes;
  for (uint32_t i = 0; i < clusters.of_nodes.size(); ++i) nodes[clusters.of_nodes[i]].insert(i);
  return nodes;
}

// Checks everything that clusters.h promises of clusters of any mesh. Returns, for each component,
// the sizes of its clusters.
std::vector<std::vector<size_t>> CheckPromises(const TetMesh& mesh, const Clusters& clusters) {
  const Neighbours neighbours = NeighboursOf(mesh);
  REQUIRE(clusters.of_nodes.size() == mesh.nodes.size());
  REQUIRE(clusters.count >= 1);
  REQUIRE(clusters.count <= plush::kMaxClusters);
  const auto nodes = NodesByCluster(clusters);
  REQUIRE(nodes.size() == clusters.count);
  REQUIRE(nodes.rbegin()->first == clusters.count - 1);
  uint32_t next = 0;  // numbered by their first nodes
  for (const uint16_t cluster : clusters.of_nodes) {
    REQUIRE(cluster <= next);
    if (cluster == next) ++next;
  }
  std::map<uint32_t, std::vector<size_t>> sizes;  // by the component's lowest node
  std::map<uint32_t, size_t> num_nodes;
  for (const auto& [cluster, own] : nodes) {
    const auto in_cluster = [&, c = cluster](uint32_t i) { return clusters.of_nodes[i] == c; };
    REQUIRE(Reached(neighbours, *own.begin(), in_cluster) == own);
    const auto component = Reached(neighbours, *own.begin(), [](uint32_t) { return true; });
    sizes[*component.begin()].push_back(own.size());
    num_nodes[*component.begin()] = component.size();
  }
  std::vector<std::vector<size_t>> out;
  for (const auto& [seed, of_clusters] : sizes) {
    const size_t largest = *std::ranges::max_element(of_clusters);
    const size_t smallest = *std::ranges::min_element(of_clusters), count = of_clusters.size();
    INFO(count << " clusters of " << num_nodes[seed] << " nodes: " << smallest << " to "
               << largest);
    if (count > 4) CHECK(largest * count <= 2 * num_nodes[seed]);
    CHECK(smallest >= std::min<size_t>(kMinClusterNodes, num_nodes[seed]));
    out.push_back(of_clusters);
  }
  return out;
}

// The meshes one beside the other, not connected.
TetMesh SideBySide(const std::vector<TetMesh>& meshes) {
  TetMesh out;
  for (size_t i = 0; i < meshes.size(); ++i) {
    AppendMesh(meshes[i], {0.0, 10.0 * static_cast<double>(i), 0.0}, &out);
  }
  return out;
}

// The same body with its nodes numbered at random.
TetMesh Renumbered(const TetMesh& mesh, std::mt19937* random) {
  std::vector<uint32_t> new_of_old(mesh.nodes.size());
  std::iota(new_of_old.begin(), new_of_old.end(), 0u);
  std::ranges::shuffle(new_of_old, *random);
  TetMesh out = mesh;
  for (size_t i = 0; i < mesh.nodes.size(); ++i) out.nodes[new_of_old[i]] = mesh.nodes[i];
  for (auto& tet : out.tets) {
    for (uint32_t& node : tet) node = new_of_old[node];
  }
  return out;
}

// Tets with nodes of two clusters, by sets.
double ShareOfStraddlers(const TetMesh& mesh, const Clusters& clusters) {
  size_t count = 0;
  for (const auto& tet : mesh.tets) {
    std::set<uint16_t> seen;
    for (const uint32_t node : tet) seen.insert(clusters.of_nodes[node]);
    count += seen.size() > 1 ? 1 : 0;
  }
  return static_cast<double>(count) / static_cast<double>(mesh.tets.size());
}

TEST_CASE("The number of clusters goes by the nodes") {
  const std::pair<uint32_t, uint32_t> expected[] = {
      {4, 1},    {23, 1},   {24, 2},    {95, 7},    {96, 8},     {215, 8},    {216, 9},
      {287, 11}, {288, 12}, {4991, 12}, {4992, 13}, {12287, 31}, {12288, 32}, {UINT32_MAX, 32}};
  for (const auto& [num_nodes, count] : expected) {
    INFO(num_nodes << " nodes");
    CHECK(AutoClusters(num_nodes) == count);
  }
}

TEST_CASE("Zero clusters are none") {
  const Clusters none = ClustersOf(TetBox(4, 2, 2, 0.1), 0);
  CHECK(none.count == 0);
  CHECK(none.of_nodes.empty());
  CHECK(StraddlingShare(TetBox(4, 2, 2, 0.1).tets, none.of_nodes) == 0.0);
}

TEST_CASE("A body of one component has as many clusters as asked for") {
  const TetMesh mesh = TetBox(20, 8, 8, 0.1, 0.05);  // 1701 nodes
  for (const uint32_t count : {1u, 2u, 3u, 4u, 5u, 8u, 13u, 16u, 32u, 64u, 100u}) {
    INFO(count << " clusters");
    const Clusters clusters = ClustersOf(mesh, count);
    CHECK(clusters.count == count);
    CheckPromises(mesh, clusters);
    CHECK(StraddlingShare(mesh.tets, clusters.of_nodes) == ShareOfStraddlers(mesh, clusters));
  }
  CHECK(ClustersOf(mesh, {}).count == 12);
}

TEST_CASE("Boxes of any size and numbering keep the promises") {
  const uint32_t seed = 7;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto between = [&](uint32_t low, uint32_t high) {
    return low + static_cast<uint32_t>(random() % (high - low + 1));
  };
  for (int repeat = 0; repeat < 60; ++repeat) {
    std::vector<TetMesh> boxes;
    const uint32_t num_boxes = between(1, 4);
    for (uint32_t i = 0; i < num_boxes; ++i) {
      boxes.push_back(TetBox(between(1, 12), between(1, 4), between(1, 3), 0.1, 0.09, random()));
    }
    const TetMesh mesh = Renumbered(SideBySide(boxes), &random);
    const std::optional<uint32_t> count =
        repeat % 3 == 0 ? std::nullopt : std::optional(between(1, 60));
    INFO("repeat " << repeat << ", " << mesh.nodes.size() << " nodes, " << boxes.size()
                   << " boxes, " << count.value_or(0) << " clusters");
    const Clusters clusters = ClustersOf(mesh, count);
    CHECK(CheckPromises(mesh, clusters).size() == boxes.size());
    if (count) CHECK(clusters.count <= std::max<size_t>(*count, boxes.size()));
    const Clusters again = ClustersOf(mesh, count);
    CHECK(again.of_nodes == clusters.of_nodes);
    TetMesh shuffled = mesh;
    std::ranges::shuffle(shuffled.tets, random);
    CHECK(ClustersOf(shuffled, count).of_nodes == clusters.of_nodes);
  }
}

TEST_CASE("Components share the clusters by their nodes, at least one each") {
  const TetMesh large = TetBox(20, 5, 5, 0.1);  // 756 nodes
  const TetMesh half = TetBox(9, 5, 5, 0.1);    // 360 nodes
  const TetMesh tet = plush::test::SingleTet(0.1), mesh = SideBySide({large, half, tet});
  const auto counts = [&](std::optional<uint32_t> count) {
    const auto sizes = CheckPromises(mesh, ClustersOf(mesh, count));
    std::vector<size_t> out;
    for (const auto& component : sizes) out.push_back(component.size());
    return out;
  };
  CHECK(counts(1) == std::vector<size_t>{1, 1, 1});
  CHECK(counts(3) == std::vector<size_t>{1, 1, 1});
  CHECK(counts(4) == std::vector<size_t>{2, 1, 1});
  CHECK(counts(10) == std::vector<size_t>{6, 3, 1});
  CHECK(counts(19) == std::vector<size_t>{12, 6, 1});
  CHECK(counts({}) == std::vector<size_t>{12, 12, 1});
}

TEST_CASE("By size a body has 32 clusters, or one per component if these are more") {
  const TetMesh box = TetBox(9, 5, 5, 0.1);  // 12 clusters alone
  CHECK(ClustersOf(SideBySide(std::vector(2, box)), {}).count == 24);
  CHECK(ClustersOf(SideBySide(std::vector(3, box)), {}).count == 32);
  const TetMesh tet = plush::test::SingleTet(0.1);
  for (const uint32_t count : {33u, 40u, 256u}) {
    const TetMesh mesh = SideBySide(std::vector(count, tet));
    CHECK(ClustersOf(mesh, {}).count == count);
    CHECK(ClustersOf(mesh, 2).count == count);
    CHECK(ShareOfStraddlers(mesh, ClustersOf(mesh, {})) == 0.0);
  }
  CHECK(ClustersOf(SideBySide(std::vector(257, tet)), {}).count == 0);
}

TEST_CASE("Clusters of too few nodes join others") {
  // Tets that share one node and nothing else: whatever is cut off has three nodes.
  TetMesh star;
  star.nodes.push_back({});
  for (uint32_t i = 0; i < 20; ++i) {
    const Vec3d foot = {1.0 + i, 0.0, 0.0};
    for (const Vec3d& step : {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}}) {
      star.nodes.push_back(foot + step);
    }
    star.tets.push_back({0, 3 * i + 1, 3 * i + 2, 3 * i + 3});
  }
  const Clusters clusters = ClustersOf(star, 7);
  CheckPromises(star, clusters);
  CHECK(clusters.count == 1);
}

TEST_CASE("A long bar is cut across") {
  const TetMesh bar = TetBox(64, 2, 2, 0.1);
  const Clusters clusters = ClustersOf(bar, 8);
  CheckPromises(bar, clusters);
  // Seven cuts, each through one layer of cubes or two.
  CHECK(ShareOfStraddlers(bar, clusters) <= 14.0 / 64.0);
  for (const auto& [cluster, nodes] : NodesByCluster(clusters)) {
    double low = 100.0, high = 0.0;
    for (const uint32_t node : nodes) {
      low = std::min(low, bar.nodes[node].x);
      high = std::max(high, bar.nodes[node].x);
    }
    CHECK(high - low < 1.5 * 6.4 / 8);
  }
}

TEST_CASE("Few tets of an armadillo straddle clusters") {
  // Shares with clusters by k-means on positions were 0.16, 0.29 and 0.42 with 4k tets.
  const std::pair<const char*, std::array<double, 3>> models[] = {{"arm_4k", {0.17, 0.28, 0.42}},
                                                                  {"arm_16k", {0.09, 0.14, 0.22}}};
  for (const auto& [name, most] : models) {
    const std::string path = TestModelOrSkip(std::string("tets/") + name + ".node");
    if (path.empty()) return;
    const auto source = ReadTetFile(path);
    REQUIRE(source.ok());
    const TetMesh& mesh = source.value().mesh;
    for (size_t i = 0; i < 3; ++i) {
      const uint32_t count = 8u << i;
      const Clusters clusters = ClustersOf(mesh, count);
      CHECK(clusters.count == count);
      CheckPromises(mesh, clusters);
      const double share = StraddlingShare(mesh.tets, clusters.of_nodes);
      std::printf("%s: %u clusters, %.1f%% of the tets straddle them\n", name, count,
                  100.0 * share);
      CHECK(share <= most[i]);
    }
  }
}

}  // namespace clusters_test
