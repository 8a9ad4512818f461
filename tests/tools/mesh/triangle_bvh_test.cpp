// SPDX-License-Identifier: MIT
#include "mesh/triangle_bvh.h"

#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <random>

using plush::tools::Box3;
using plush::tools::TriangleBvh;

TEST_CASE("Box queries find what a scan over all boxes finds") {
  for (const uint32_t count : {0u, 1u, 4u, 5u, 333u}) {
    const auto soup = plush::tests::MakeTriangleSoup(count, 0.2, 11 + count);
    const TriangleBvh bvh(soup.positions, soup.triangles);
    const auto queries = plush::tests::MakeTriangleSoup(50, 0.3, 5);
    std::vector<uint32_t> found;
    for (uint32_t q = 0; q < 50; ++q) {
      Box3 box;
      for (const uint32_t v : queries.triangles[q]) box.Add(queries.positions[v]);
      for (const uint32_t first : {0u, count / 2}) {
        std::vector<uint32_t> expected;
        for (uint32_t t = first; t < count; ++t) {
          if (bvh.box(t).Overlaps(box)) expected.push_back(t);
        }
        bvh.FindOverlaps(box, first, &found);
        REQUIRE(found == expected);
      }
    }
  }
}

TEST_CASE("A tree of triangles at one place is as deep as any") {
  auto soup = plush::tests::MakeTriangleSoup(1, 0.2, 1);
  soup.triangles.assign(10000, {0, 1, 2});
  const TriangleBvh bvh(soup.positions, soup.triangles);
  std::vector<uint32_t> found;
  bvh.FindOverlaps(bvh.box(0), 1, &found);
  CHECK(found.size() == 9999);
}

using namespace plush::tools;

TEST_CASE("An order by halves has every number once and the nearer ones together") {
  std::mt19937 random(3);
  std::vector<Vec3d> centres;
  for (int i = 0; i < 1000; ++i) {
    centres.push_back({4.0 * random() * 0x1p-32, random() * 0x1p-32, random() * 0x1p-32});
  }
  const std::vector<uint32_t> order = OrderByHalves(centres);
  std::vector<uint32_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  std::vector<uint32_t> all(centres.size());
  std::iota(all.begin(), all.end(), 0u);
  CHECK(sorted == all);
  // The box is longest along x, so the first half lies before the second along x.
  double last = 0.0, first = 4.0;
  for (size_t i = 0; i < 500; ++i) last = std::max(last, centres[order[i]].x);
  for (size_t i = 500; i < 1000; ++i) first = std::min(first, centres[order[i]].x);
  CHECK(last <= first);
  CHECK(OrderByHalves(centres) == order);
  CHECK(OrderByHalves({}).empty());
  CHECK(OrderByHalves(std::vector<Vec3d>(100)).size() == 100);
}
