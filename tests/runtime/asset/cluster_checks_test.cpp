// SPDX-License-Identifier: MIT
// Wrong clusters are reported with section, kind and index, and nothing else is reported.
#include "plush/format/asset_check.h"
#include "plush/format/tet_block.h"

#include "plush_generated.h"
#include "runtime/asset/check_subject.h"
#include "shapes/shape_asset.h"
#include "shapes/tet_shapes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>

using plush::Asset;
using plush::CheckKind;
using plush::Status;
using plush::StatusCode;
using plush::Trust;
using plush::test::ExactBuffer;
using plush::test::Failures;
using plush::test::Subject;

namespace cluster_checks_test {

using Simulation = plush::format::Simulation;

template <class T>
void SetField(std::span<std::byte> bytes, flatbuffers::voffset_t field, T value) {
  const auto* table = plush::format::GetAsset(bytes.data())->simulation();
  auto* changed = reinterpret_cast<flatbuffers::Table*>(const_cast<Simulation*>(table));
  REQUIRE(changed->SetField<T>(field, value, T{}));
}

// Two separate boxes. Each is a cluster.
plush::tools::AssetContent TwoBoxes() {
  plush::tools::TetMesh mesh = plush::test::TetBox(2, 1, 1, 0.1);
  const auto half = static_cast<uint32_t>(mesh.nodes.size());
  const plush::tools::TetMesh other = plush::test::TetBox(2, 1, 1, 0.1);
  for (const auto& node : other.nodes) mesh.nodes.push_back(node + plush::tools::Vec3d{1, 0, 0});
  for (const auto& t : other.tets) {
    mesh.tets.push_back({t[0] + half, t[1] + half, t[2] + half, t[3] + half});
  }
  auto content = plush::test::ContentOf(mesh);
  content.rest.clusters = {{}, 2};
  for (const plush::Vec3& node : content.rest.nodes) {
    content.rest.clusters.of_nodes.push_back(node.x > 0.5f ? 1 : 0);
  }
  return content;
}

TEST_CASE("A cluster index that is too large is named") {
  Subject s;
  const auto clusters = s.asset().simulation().clusters;
  REQUIRE(s.asset().simulation().num_clusters == 3);
  s.At(clusters, 5) = GENERATE(uint16_t{3}, uint16_t{65535});
  s.ExpectOnly(CheckKind::kIndex, "simulation.clusters", 5);
}

TEST_CASE("A cluster without a node is named") {
  Subject s;
  const auto clusters = s.asset().simulation().clusters;
  for (size_t i = 0; i < clusters.size(); ++i) {
    if (clusters[i] == 1) s.At(clusters, i) = 0;
  }
  s.ExpectOnly(CheckKind::kCounts, "simulation.clusters", 1);
}

TEST_CASE("The number of clusters is checked at every level of trust") {
  Subject s;
  const uint32_t count = GENERATE(0u, 31u, 257u, UINT32_MAX);
  SetField(s.bytes(), Simulation::VT_NUM_CLUSTERS, count);
  s.ExpectOnly(CheckKind::kCounts, "simulation.num_clusters", 0);
  const Status status = Asset().Open(s.bytes(), Trust::kValidated);
  CHECK(status.code == StatusCode::kCorrupt);
}

TEST_CASE("A number of clusters without clusters is refused") {
  auto content = plush::test::ContentOf(plush::test::TetBox(2, 1, 1, 0.1));
  plush::test::AddClusters(0, &content);
  content.rest.clusters.count = 1;
  CHECK_FALSE(plush::tools::WriteAsset(content).ok());
  content.rest.clusters.count = 0;
  Subject s(plush::tools::WriteAsset(content).value());
  CHECK(s.asset().simulation().clusters.empty());
  CHECK(s.asset().cage().num_clusters == 0);
  SetField(s.bytes(), Simulation::VT_NUM_CLUSTERS, 1u);
  s.ExpectOnly(CheckKind::kCounts, "simulation.num_clusters", 0);
}

TEST_CASE("A cluster with nodes of two components is found") {
  Subject s(plush::tools::WriteAsset(TwoBoxes()).value());
  REQUIRE(s.asset().simulation().components == 2);
  const auto clusters = s.asset().simulation().clusters;
  const size_t node = GENERATE(size_t{0}, size_t{7}, size_t{23});
  s.At(clusters, node) = clusters[node] == 0 ? 1 : 0;
  s.ExpectOnly(CheckKind::kCounts, "simulation.clusters", 0);
}

TEST_CASE("One cluster over two components is found") {
  auto content = TwoBoxes();
  content.rest.clusters.of_nodes.assign(content.rest.nodes.size(), 0);
  content.rest.clusters.count = 1;
  CHECK_FALSE(plush::tools::WriteAsset(content).ok());
}

TEST_CASE("As many clusters as 256 or as nodes are sound") {
  const uint32_t num_cells = GENERATE(1u, 70u);  // 8 and 284 nodes
  auto content = plush::test::ContentOf(plush::test::TetBox(num_cells, 1, 1, 0.1));
  const auto num_nodes = static_cast<uint32_t>(content.rest.nodes.size());
  content.rest.clusters = {{}, std::min(num_nodes, 256u)};
  for (uint32_t i = 0; i < num_nodes; ++i) {
    content.rest.clusters.of_nodes.push_back(
        static_cast<uint16_t>(i % content.rest.clusters.count));
  }
  const ExactBuffer file(plush::tools::WriteAsset(content).value());
  CHECK(Failures(file.bytes()).empty());
}

TEST_CASE("Clusters are not blamed for a wrong number of components or a wrong tet") {
  Subject s;
  SECTION("components") {
    SetField(s.bytes(), Simulation::VT_COMPONENTS, 31u);
    s.ExpectOnly(CheckKind::kRange, "simulation.components", 0);
  }
  SECTION("tet") {
    s.At(s.asset().simulation().tets, 3).b = UINT32_MAX;
    s.ExpectOnly(CheckKind::kIndex, "simulation.tets", 3);
  }
}

}  // namespace cluster_checks_test
