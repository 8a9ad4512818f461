// SPDX-License-Identifier: MIT
#include "mesh/self_intersection.h"

#include "mesh/exact_predicates.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <set>

namespace self_intersection_test {

using plush::tools::FindSelfIntersections;
using plush::tools::SelfIntersections;
using plush::tools::Triangle3;
using plush::tools::TrianglePair;
using plush::tools::Vec3d;
using Triangle = std::array<uint32_t, 3>;

// Finds all pairs without a common corner, without the tree.
std::vector<TrianglePair> AllPairs(const plush::tools::SurfaceMesh& mesh) {
  const auto corners = [&mesh](uint32_t t) {
    const Triangle& i = mesh.triangles[t];
    return Triangle3{mesh.positions[i[0]], mesh.positions[i[1]], mesh.positions[i[2]]};
  };
  std::vector<TrianglePair> pairs;
  for (uint32_t a = 0; a < mesh.triangles.size(); ++a) {
    for (uint32_t b = a + 1; b < mesh.triangles.size(); ++b) {
      std::set<uint32_t> all(mesh.triangles[a].begin(), mesh.triangles[a].end());
      all.insert(mesh.triangles[b].begin(), mesh.triangles[b].end());
      if (all.size() == 6 && plush::tools::TrianglesIntersect(corners(a), corners(b))) {
        pairs.push_back({a, b, {}});
      }
    }
  }
  return pairs;
}

size_t CountPairs(const std::vector<Vec3d>& points, const std::vector<Triangle>& triangles) {
  return FindSelfIntersections(points, triangles).pairs.size();
}

TEST_CASE("The tree finds the pairs of random soups that all-pairs tests find") {
  size_t total = 0;
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const auto soup = plush::tests::MakeTriangleSoup(150, 0.1 + 0.02 * seed, seed);
    const SelfIntersections found = FindSelfIntersections(soup.positions, soup.triangles);
    CHECK(found.complete);
    CHECK(found.pairs == AllPairs(soup));
    total += found.pairs.size();
  }
  CHECK(total > 500);
}

TEST_CASE("Sound meshes have no self-intersections, overlapping ones have") {
  using plush::tests::MakeSphere;
  const auto pairs_of = [](const plush::tools::SurfaceMesh& mesh) {
    return FindSelfIntersections(mesh.positions, mesh.triangles).pairs;
  };
  CHECK(pairs_of(MakeSphere(1.0, 20, 30)).empty());
  CHECK(pairs_of(plush::tests::MakeBox({0, 0, 0}, {1, 2, 3})).empty());
  CHECK(pairs_of(plush::tests::MakeTorus(1.0, 0.3, 24, 12)).empty());
  CHECK(pairs_of(plush::tests::MakeNestedShells(false, true)).empty());
  const auto boxes = plush::tests::MakeOverlappingBoxes();
  CHECK(pairs_of(boxes) == AllPairs(boxes));
  CHECK_FALSE(pairs_of(boxes).empty());
  const auto fat_torus = plush::tests::MakeTorus(1.0, 1.2, 24, 12);  // intersects itself
  CHECK_FALSE(pairs_of(fat_torus).empty());
}

TEST_CASE("Neighbours count only if they meet beyond what they share") {
  const Triangle first = {0, 1, 2};
  const std::vector<Vec3d> edge_out = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
  CHECK(CountPairs(edge_out, {first, {1, 0, 3}}) == 0);
  const std::vector<Vec3d> edge_folded = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.5, 0.1, 0}};
  CHECK(CountPairs(edge_folded, {first, {1, 0, 3}}) == 1);
  const std::vector<Vec3d> corner_out = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 1}};
  CHECK(CountPairs(corner_out, {first, {3, 4, 0}}) == 0);
  const std::vector<Vec3d> corner_through = {
      {0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.3, 0.3, 1}, {0.3, 0.3, -1}};
  CHECK(CountPairs(corner_through, {first, {3, 4, 0}}) == 1);
  const std::vector<Vec3d> corner_flat = {
      {0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.5, 0.6, 0}, {0.6, 0.5, 0}};
  CHECK(CountPairs(corner_flat, {first, {3, 4, 0}}) == 1);
  CHECK(CountPairs(edge_out, {first, {0, 2, 1}}) == 0);  // the same corners: a duplicate
}

TEST_CASE("A hostile soup ends at a bound and says so") {
  // Every triangle crosses every other: n (n - 1) / 2 pairs.
  const auto soup = plush::tests::MakeTriangleSoup(3000, 50.0, 4);
  const SelfIntersections found = FindSelfIntersections(soup.positions, soup.triangles);
  CHECK_FALSE(found.complete);
  CHECK(found.pairs.size() <= 100000);
  CHECK(found.pairs.size() > 1000);
}

}  // namespace self_intersection_test
