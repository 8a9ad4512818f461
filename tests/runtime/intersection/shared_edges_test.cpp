// SPDX-License-Identifier: MIT
// Two triangles of different patches that have exactly two edges in common: the two sides of a fin
// without thickness.
#include "bake/asset_writer.h"
#include "collision/surface_records.h"
#include "intersection/winding.h"
#include "partition/collision_layout.h"
#include "partition/patches.h"
#include "runtime/intersection/closed_curves.h"
#include "runtime/intersection/found_contacts.h"
#include "skip.h"

#include <catch2/catch.hpp>
#include <tbb/global_control.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace shared_edges_test {

// Two tets with a common face in the plane z = 0.
tools::TetMesh TwoTets() {
  tools::TetMesh mesh;
  mesh.nodes = {
      {0.0, 0.0, 0.0}, {0.1, 0.0, 0.0}, {0.0, 0.1, 0.0}, {0.03, 0.03, 0.1}, {0.03, 0.03, -0.1}};
  mesh.tets = {{0, 1, 2, 3}, {0, 2, 1, 4}};
  return mesh;
}

// A solid of two tetrahedra, one in each tet of the cage, over a triangle ACD of the face between
// them; and a fin ABC in that face, whose sides are in one tet each. They have AB and BC in common;
// at CA, each goes on in the solid's side in its tet. `turns`: which corner of either side of the
// fin comes first.
SurfaceBody WithFin(uint32_t turns) {
  tools::AssetContent content = ContentOf(TwoTets());
  tools::TetMesh cage;  // with the file's numbering
  for (const Vec3& p : content.rest.nodes) cage.nodes.push_back({p.x, p.y, p.z});
  for (const Tet& tet : content.rest.tets) cage.tets.push_back({tet.a, tet.b, tet.c, tet.d});
  const auto node_at = [&](double x, double y, double z) {
    uint32_t best = 0;
    const auto distance = [&](uint32_t i) {
      const auto& p = cage.nodes[i];
      return (Eigen::Vector3d(p.x, p.y, p.z) - Eigen::Vector3d(x, y, z)).norm();
    };
    for (uint32_t i = 0; i < cage.nodes.size(); ++i)
      if (distance(i) < distance(best)) best = i;
    return best;
  };
  const uint32_t face[3] = {node_at(0, 0, 0), node_at(0.1, 0, 0), node_at(0, 0.1, 0)};
  const uint32_t tip[2] = {node_at(0.03, 0.03, 0.1), node_at(0.03, 0.03, -0.1)};
  const auto tet_of = [&](uint32_t node) {
    return std::ranges::find(cage.tets[0], node) != cage.tets[0].end() ? 0u : 1u;
  };
  tools::CutSurface surface;
  const auto add_point = [&](const std::map<uint32_t, double>& weights) {
    tools::Carrier carrier;
    tools::Vec3d x = {};
    for (const auto& [node, weight] : weights) {
      carrier.nodes[carrier.count] = node;
      carrier.weights[carrier.count++] = weight;
      x = x + cage.nodes[node] * weight;
    }
    surface.points.push_back(x);
    surface.carriers.push_back(carrier);
    return static_cast<uint32_t>(surface.points.size() - 1);
  };
  const auto in_face = [&](double u, double v, double w) {
    return add_point({{face[0], u}, {face[1], v}, {face[2], w}});
  };
  const auto inside = [&](uint32_t node) {
    return add_point({{face[0], 0.25}, {face[1], 0.25}, {face[2], 0.25}, {node, 0.25}});
  };
  const uint32_t a = in_face(0.5, 0.25, 0.25), b = in_face(0.5, 0.5, 0.0),
                 c = in_face(0.25, 0.5, 0.25), d = in_face(0.25, 0.25, 0.5);
  const uint32_t p = inside(tip[0]), q = inside(tip[1]);
  const auto add = [&](uint32_t half, uint32_t i, uint32_t j, uint32_t k) {
    surface.tets.push_back(tet_of(tip[half]));
    surface.triangles.push_back({i, j, k});
    surface.sources.push_back(0);
  };
  add(0, a, c, p), add(0, c, d, p), add(0, d, a, p);
  add(1, c, a, q), add(1, d, c, q), add(1, a, d, q);
  const auto add_side = [&](uint32_t half, const std::array<uint32_t, 3>& of, uint32_t first) {
    add(half, of[first], of[(first + 1) % 3], of[(first + 2) % 3]);
  };
  add_side(0, {c, a, b}, turns % 3);
  add_side(1, {a, c, b}, turns / 3);
  // Four triangles meet at CA: there, those in the same tet are neighbours.
  const auto from = [&](size_t h) { return surface.triangles[h / 3][h % 3]; };
  const auto to = [&](size_t h) { return surface.triangles[h / 3][(h + 1) % 3]; };
  const size_t count = 3 * surface.triangles.size();
  for (size_t h = 0; h < count; ++h) {
    uint32_t opposite = tools::kNoHalfEdge;
    for (uint32_t other = 0; other < count; ++other) {
      if (from(h) != to(other) || to(h) != from(other)) continue;
      const bool is_same = surface.tets[h / 3] == surface.tets[other / 3];
      if (is_same || opposite == tools::kNoHalfEdge) opposite = other;
    }
    REQUIRE(opposite != tools::kNoHalfEdge);
    surface.opposite.push_back(opposite);
  }
  // TBB is built without the thread sanitizer, which checks the runtime.
  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  content.collision = LayOutCollision(surface, tools::FindPatches(surface), cage, {});
  auto bytes = tools::WriteAsset(content);
  if (!bytes.ok()) FAIL(bytes.error().message);
  return SurfaceBody(std::move(bytes.value()));
}

// The two sides of the fin.
std::vector<uint32_t> FinOf(const SurfaceBody& body) {
  std::vector<uint32_t> sides;
  for (uint32_t t = 0; t < body.surface().num_triangles(); ++t) {
    std::map<uint32_t, int> neighbours;
    int most = 0;
    for (int k = 0; k < 3; ++k) {
      most = std::max(most, ++neighbours[NeighbourOf(body.surface().triangles[t], k)]);
    }
    REQUIRE(most < 3);
    if (most == 2) sides.push_back(t);
  }
  REQUIRE(sides.size() == 2);
  return sides;
}

using Point = std::array<float, 3>;
Point PointOf(const Vec3& p) { return {p.x, p.y, p.z}; }

TEST_CASE("Each of two edges that two triangles share has one number") {
  for (uint32_t turns = 0; turns < 9; ++turns) {
    CAPTURE(turns);
    const SurfaceBody body = WithFin(turns);
    REQUIRE_FALSE(body.state().is_open);
    REQUIRE(FinOf(body).size() == 2);
    std::map<uint32_t, std::vector<std::pair<Point, Point>>> edges;
    for (uint32_t t = 0; t < body.surface().num_triangles(); ++t) {
      for (int k = 0; k < 3; ++k) {
        edges[EdgeOf(body.surface(), t, k)].push_back(
            {PointOf(body.CornerPosition(t, k)), PointOf(body.CornerPosition(t, (k + 1) % 3))});
      }
    }
    CHECK(edges.size() == 12);
    for (const auto& [number, uses] : edges) {
      REQUIRE(uses.size() == 2);
      CHECK(uses[0] == std::make_pair(uses[1].second, uses[1].first));
    }
  }
}

TEST_CASE("A flood knows which of two shared edges leads from one triangle into the other") {
  const uint32_t seed = 85;
  CAPTURE(seed);
  Random random(seed);
  SurfaceBody other(TetBox(1, 1, 1, 0.04, 0.08, 3), {.parts = 2, .num_shells = 0});
  size_t cut_sides = 0, numbered = 0;
  const int scenes = tests::FullTests() ? 5000 : 100;
  for (uint32_t turns = 0; turns < 9; ++turns) {
    CAPTURE(turns);
    SurfaceBody body = WithFin(turns);
    const std::vector<uint32_t> fin = FinOf(body);
    PairScratch scratch = ScratchFor(body, other);
    for (int scene = 0; scene < scenes; ++scene) {
      CAPTURE(scene);
      body.Move(Deform(body.shape().rest(), Deformation::kGentle, &random));
      other.Move(Deform(other.shape().rest(), Deformation::kGentle, &random));
      const Vec3 corner = body.CornerPosition(fin[0], static_cast<int>(random.Below(3)));
      const Eigen::Vector3d middle = Eigen::Vector3d::Constant(0.02);  // of the other body
      const Vec3 offset = ToVec3(ToEigen(corner) - middle + random.Vector(0.03));
      const bool swapped = scene % 2 == 1;
      const Found found =
          swapped ? Find(other, body, -offset, &scratch) : Find(body, other, offset, &scratch);
      const std::vector<TrianglePair> pairs(scratch.pairs.begin(),
                                            scratch.pairs.begin() + found.count.pairs);
      RequireClosed(pairs, CurvesOf(pairs));
      const CollisionBody view = body.view(), view_other = other.view();
      const PlacedSurface at = {view, swapped ? -offset : Vec3{},
                                swapped ? Surface::kFixed : Surface::kMoved};
      const PlacedSurface at_other = {view_other, swapped ? Vec3{} : offset,
                                      swapped ? Surface::kMoved : Surface::kFixed};
      const FloodScratch& flood = scratch.floods[swapped ? 1 : 0];
      for (uint32_t i = 0; i < flood.num_cuts; ++i) {
        const CutTriangle& cut = flood.cuts[i];
        const Corners corners = at.CornersAt(cut.triangle);
        bool differ = false;
        for (size_t k = 0; k < 3; ++k) {
          REQUIRE(cut.winding[k] == WindingAbout(at_other, corners[k]));
          differ = differ || cut.winding[k] != cut.winding[0];
        }
        const bool is_fin = cut.triangle == fin[0] || cut.triangle == fin[1];
        cut_sides += is_fin;
        numbered += is_fin && differ;
      }
    }
  }
  CAPTURE(cut_sides, numbered);
  CHECK(cut_sides > 200);
  CHECK(numbered > 150);
}

}  // namespace shared_edges_test
