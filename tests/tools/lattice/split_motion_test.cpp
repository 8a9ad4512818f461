// SPDX-License-Identifier: MIT
// The purpose of splitting: limbs that are close to each other move independently.
#include "plush/asset.h"
#include "plush/world.h"

#include "bake/bake.h"
#include "shapes/shape_asset.h"
#include "tools/cage/cage_fixtures.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace plush::tests;

namespace split_motion_test {

constexpr double kCell = 0.3;
constexpr double kGap = 0.3 * kCell;
constexpr float kStep = 0.01f;

// A baked body, opened with all checks.
class Body {
 public:
  Body(const SurfaceMesh& mesh, const plush::tools::BakeSettings& settings) {
    plush::tools::ImportedModel model = {.surface = mesh};
    plush::tools::FindingList findings;
    const auto baked = plush::tools::Bake(model, settings, &findings);
    if (!baked.ok()) FAIL(baked.error().message);
    summary_ = baked.value().summary;
    storage_.resize(baked.value().bytes.size() + plush::kAssetAlignment);
    REQUIRE(asset_.Open(plush::CopyAligned(baked.value().bytes, storage_)).ok());
  }
  const plush::Asset& asset() const { return asset_; }
  const plush::tools::BakeSummary& summary() const { return summary_; }

  // Nodes of the tets that carry a vertex for which `is_in` holds.
  template <class IsIn>
  std::vector<uint32_t> NodesAt(IsIn is_in) const {
    const auto& visual = asset_.visual();
    const auto& tets = asset_.simulation().tets;
    std::vector<bool> found(asset_.simulation().nodes.size(), false);
    for (size_t v = 0; v < visual.positions.size(); ++v) {
      if (!is_in(visual.positions[v])) continue;
      const plush::Tet& tet = tets[visual.tet_ids[v]];
      for (const uint32_t node : {tet.a, tet.b, tet.c, tet.d}) found[node] = true;
    }
    std::vector<uint32_t> nodes;
    for (uint32_t n = 0; n < found.size(); ++n) {
      if (found[n]) nodes.push_back(n);
    }
    return nodes;
  }

 private:
  std::vector<std::byte> storage_;
  plush::Asset asset_;
  plush::tools::BakeSummary summary_;
};

// Splits every triangle into four, `times` times, so that there are vertices all along the fingers.
SurfaceMesh Refined(SurfaceMesh mesh, int times) {
  for (; times > 0; --times) {
    SurfaceMesh finer;
    for (const auto& [a, b, c] : mesh.triangles) {
      const Vec3d p = mesh.positions[a], q = mesh.positions[b], r = mesh.positions[c];
      const Vec3d pq = (p + q) * 0.5, qr = (q + r) * 0.5, rp = (r + p) * 0.5;
      for (const auto& triangle : {std::array{p, pq, rp}, std::array{pq, q, qr},
                                   std::array{rp, qr, r}, std::array{pq, qr, rp}}) {
        const auto first = static_cast<uint32_t>(finer.positions.size());
        finer.positions.insert(finer.positions.end(), triangle.begin(), triangle.end());
        finer.triangles.push_back({first, first + 1, first + 2});
      }
    }
    mesh = std::move(finer);
  }
  CompleteMesh(&mesh);
  return mesh;
}

Body TwoFingers(plush::tools::LatticeKind lattice) {
  plush::tools::BakeSettings settings = {.cage = {.lattice = lattice, .cell_m = kCell},
                                         .material = {.young = 1.0e5}};
  // Pins the palm: all nodes of the tets that hold some of it.
  settings.pins_json = R"({"regions": [{"name": "palm", "box": [[-1, -1, -1], [2, 0.301, 1]]}]})";
  return Body(Refined(MakeTwoFingers(0.25, kGap), 3), settings);
}

std::vector<plush::Vec3> PositionsOf(const plush::World& world, plush::BodyId id, size_t count) {
  std::vector<plush::Vec3> positions(count);
  REQUIRE(world.NodePositions(id, 1.0f, positions).ok());
  return positions;
}

double Distance(const plush::Vec3& a, const plush::Vec3& b) {
  return std::sqrt(double{a.x - b.x} * (a.x - b.x) + double{a.y - b.y} * (a.y - b.y) +
                   double{a.z - b.z} * (a.z - b.z));
}

TEST_CASE("One finger pulled by half its length leaves its neighbour on a pinned palm at rest") {
  for (const auto lattice : {plush::tools::LatticeKind::kBcc, plush::tools::LatticeKind::kCube5}) {
    const Body body = TwoFingers(lattice);
    CHECK(body.summary().components == 1);
    CHECK(body.summary().split_nodes > 5);
    const auto palm = plush::test::NodesOfRegion(body.asset(), "palm");
    REQUIRE_FALSE(palm.empty());
    std::vector<uint32_t> pinned(palm.begin(), palm.end());
    const plush::SimulationView& sim = body.asset().simulation();
    const size_t num_nodes = sim.nodes.size();
    const auto right = body.NodesAt([](const plush::Vec3& p) { return p.y > 0.301 && p.x > 0.5; });
    const auto left = body.NodesAt([](const plush::Vec3& p) { return p.y > 0.301 && p.x < 0.5; });
    const auto tip = body.NodesAt([](const plush::Vec3& p) { return p.y > 1.1 && p.x > 0.5; });
    // The fingers share no nodes except at the palm, within an edge; these are pinned, too.
    for (const uint32_t n : right) {
      if (!std::binary_search(left.begin(), left.end(), n)) continue;
      CHECK(sim.nodes[n].y < 0.301f + sim.median_edge);
      pinned.push_back(n);
    }
    std::sort(pinned.begin(), pinned.end());
    pinned.erase(std::unique(pinned.begin(), pinned.end()), pinned.end());

    plush::World world({.gravity = {}});
    plush::BodyId id;
    REQUIRE(world.AddBody(body.asset(), {.pinned_nodes = pinned}, &id).ok());
    const auto rest = PositionsOf(world, id, num_nodes);
    double largest_right = 0.0, largest_left = 0.0;
    auto moved = rest;
    for (int i = 1; i <= 50; ++i) {
      // Moves the tip by half the finger's length, sideways and up, in 25 steps; then holds it.
      moved = PositionsOf(world, id, num_nodes);
      for (const uint32_t n : tip) {
        const float pull = 0.5f * static_cast<float>(std::min(i, 25)) / 25.0f;
        moved[n] = {rest[n].x + 0.6f * pull, rest[n].y + 0.8f * pull, rest[n].z};
      }
      REQUIRE(world.SetNodePositions(id, moved).ok());
      for (const uint32_t n : right) {
        largest_right = std::max(largest_right, Distance(moved[n], rest[n]));
      }
      REQUIRE(world.Step(kStep).ok());
      const auto now = PositionsOf(world, id, num_nodes);
      for (const uint32_t n : left) {
        largest_left = std::max(largest_left, Distance(now[n], rest[n]));
      }
    }
    CHECK(largest_right == Approx(0.5).epsilon(0.01));
    // Clusters end at the pinned nodes of the palm, which alone connect the fingers.
    CHECK(largest_left < 1e-5 * largest_right);
  }
}

TEST_CASE("On a free palm both fingers go along") {
  const Body body = TwoFingers(plush::tools::LatticeKind::kBcc);
  const size_t num_nodes = body.asset().simulation().nodes.size();
  const auto left = body.NodesAt([](const plush::Vec3& p) { return p.y > 1.1 && p.x < 0.5; });
  const auto tip = body.NodesAt([](const plush::Vec3& p) { return p.y > 1.1 && p.x > 0.5; });
  plush::World world({.gravity = {}});
  plush::BodyId id;
  REQUIRE(world.AddBody(body.asset(), {}, &id).ok());
  const auto rest = PositionsOf(world, id, num_nodes);
  for (int i = 1; i <= 100; ++i) {
    auto moved = PositionsOf(world, id, num_nodes);
    for (const uint32_t n : tip) {
      moved[n] = {rest[n].x, rest[n].y + 0.5f * static_cast<float>(std::min(i, 25)) / 25.0f,
                  rest[n].z};
    }
    REQUIRE(world.SetNodePositions(id, moved).ok());
    REQUIRE(world.Step(kStep).ok());
  }
  const auto now = PositionsOf(world, id, num_nodes);
  for (const uint32_t n : left) CHECK(Distance(now[n], rest[n]) > 0.05);
}

}  // namespace split_motion_test
