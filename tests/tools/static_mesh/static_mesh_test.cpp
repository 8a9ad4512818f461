// SPDX-License-Identifier: MIT
// Welding, links, order and bounds of static meshes.
#include "static_mesh/static_mesh.h"

#include "static_mesh/leaf_order.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <vector>

using namespace plush;
using namespace plush::tools;
using namespace plush::tests;

namespace static_mesh_test {

using Point = std::array<float, 3>;
using Corners = std::array<Point, 3>;

Point PointOf(const Vec3& p) { return {p.x, p.y, p.z}; }

// Corners of a triangle, its least one first, in the same turn.
Corners Turned(Corners x) {
  std::rotate(x.begin(), std::min_element(x.begin(), x.end()), x.end());
  return x;
}

std::multiset<Corners> TrianglesOf(const StaticMeshData& mesh) {
  std::multiset<Corners> triangles;
  for (const StaticTriangle& t : mesh.triangles) {
    triangles.insert(
        Turned({PointOf(mesh.positions[t.vertices[0]]), PointOf(mesh.positions[t.vertices[1]]),
                PointOf(mesh.positions[t.vertices[2]])}));
  }
  return triangles;
}

std::multiset<Corners> TrianglesOf(const SurfaceMesh& mesh) {
  std::multiset<Corners> triangles;
  for (const auto& t : mesh.triangles) {
    Corners x;
    for (size_t k = 0; k < 3; ++k) {
      const Vec3d& p = mesh.positions[t[k]];
      x[k] = {static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z)};
    }
    triangles.insert(Turned(x));
  }
  return triangles;
}

size_t NumLinks(const StaticMeshData& mesh) {
  size_t links = 0;
  for (const StaticTriangle& t : mesh.triangles) {
    links += static_cast<size_t>(
        std::count_if(t.neighbours, t.neighbours + 3, [](uint32_t n) { return n != kNoTriangle; }));
  }
  return links;
}

// Triangles that follow each other fill a leaf or a full sub-tree: their bounds, from the file's
// tree, hold their vertices, and touch the cells of the extreme ones.
void CheckTree(const StaticMeshData& mesh) {
  const StaticGrid grid = StaticGrid::Over(mesh.low, mesh.high);
  const StaticLevels levels = StaticLevels::For(mesh.triangles.size());
  REQUIRE(mesh.tree.size() == levels.num_nodes());
  for (uint32_t level = 0; level < levels.count; ++level) {
    size_t below = kStaticLeafTriangles;  // triangles of a full child
    for (uint32_t i = level + 1; i < levels.count; ++i) below *= kStaticChildren;
    for (uint32_t n = levels.begin[level]; n < levels.begin[level + 1]; ++n) {
      for (uint32_t c = 0; c < kStaticChildren; ++c) {
        const size_t begin = below * (kStaticChildren * (n - levels.begin[level]) + c);
        CAPTURE(level, n, c);
        for (int axis = 0; axis < 3; ++axis) {
          uint16_t least = UINT16_MAX, greatest = 0;
          for (size_t t = begin; t < std::min(begin + below, mesh.triangles.size()); ++t) {
            for (const uint32_t v : mesh.triangles[t].vertices) {
              const auto k = static_cast<size_t>(axis);
              const uint16_t cell = StaticGrid::CellOf(
                  PointOf(mesh.positions[v])[k], PointOf(mesh.low)[k], grid.cells_per_metre[axis]);
              least = std::min(least, cell);
              greatest = std::max(greatest, cell);
            }
          }
          const bool exists = begin < mesh.triangles.size();
          REQUIRE(mesh.tree[n].low[axis][c] == (exists ? least : UINT16_MAX));
          REQUIRE(mesh.tree[n].flipped_high[axis][c] ==
                  (exists ? UINT16_MAX - greatest : UINT16_MAX));
        }
      }
    }
  }
}

TEST_CASE("A static mesh has the triangles of its source") {
  const auto count = GENERATE(1u, 4u, 5u, 16u, 17u, 100u, 1025u);
  const SurfaceMesh soup = MakeTriangleSoup(count, 0.2, count);
  const StaticMeshData mesh = MakeStaticMesh(soup);
  CHECK(TrianglesOf(mesh) == TrianglesOf(soup));
  CHECK(mesh.open_edges == 3 * size_t{count});
  CHECK_FALSE(mesh.is_closed);
  CheckTree(mesh);
  std::vector<uint32_t> sources = mesh.source_triangles;
  std::sort(sources.begin(), sources.end());
  for (uint32_t t = 0; t < count; ++t) REQUIRE(sources[t] == t);
}

TEST_CASE("A closed static mesh is linked everywhere, also from separate corners") {
  const SurfaceMesh torus = MakeTorus(1.0, 0.3, 20, 10);
  const StaticMeshData mesh = MakeStaticMesh(GENERATE(false, true) ? torus : Exploded(torus));
  CHECK(mesh.positions.size() == 200);
  CHECK(mesh.triangles.size() == 400);
  CHECK(mesh.is_closed);
  CHECK(mesh.open_edges == 0);
  CHECK(NumLinks(mesh) == 1200);
  CheckTree(mesh);
}

TEST_CASE("Zeros of either sign are one position with positive bits") {
  SurfaceMesh two;
  two.positions = {{0.0, 0.0, 0.0},    {1.0, 0.0, 0.0},  {0.0, 1.0, 0.0},
                   {-0.0, -0.0, -0.0}, {1.0, -0.0, 0.0}, {0.0, 0.0, 1.0}};
  two.triangles = {{0, 1, 2}, {4, 3, 5}};
  CompleteMesh(&two);
  const StaticMeshData mesh = MakeStaticMesh(two);
  CHECK(mesh.positions.size() == 4);
  CHECK(NumLinks(mesh) == 2);
  for (const Vec3& p : mesh.positions) {
    for (const float x : {p.x, p.y, p.z}) CHECK_FALSE(std::signbit(x));
  }
}

TEST_CASE("Triangles without area are left out, and do not open a closed mesh") {
  SurfaceMesh box = MakeBox({0.0, 0.0, 0.0}, {1.0, 1.0, 1.0});
  // Splits the edge between two triangles of one of them only: a flat triangle closes the slit.
  const auto t = box.triangles[0];
  const auto m = static_cast<uint32_t>(box.positions.size());
  box.positions.push_back(0.5 * box.positions[t[0]] + 0.5 * box.positions[t[1]]);
  box.triangles[0] = {t[0], m, t[2]};
  box.triangles.push_back({m, t[1], t[2]});
  box.triangles.push_back({t[0], t[1], m});
  box.triangles.push_back({t[0], t[0], t[1]});
  CompleteMesh(&box);
  const StaticMeshData mesh = MakeStaticMesh(box);
  CHECK(mesh.triangles.size() == 13);
  CHECK(mesh.is_closed);
  CHECK(mesh.open_edges == 3);  // of the slit
}

TEST_CASE("Triangles that face opposite sides are not linked") {
  SurfaceMesh box = MakeBox({0.0, 0.0, 0.0}, {1.0, 1.0, 1.0});
  FlipTriangles(&box, 3, 1);
  const StaticMeshData mesh = MakeStaticMesh(box);
  CHECK_FALSE(mesh.is_closed);
  CHECK(mesh.open_edges == 6);
}

TEST_CASE("Boxes that share an edge stay closed, each with its own links") {
  const StaticMeshData mesh = MakeStaticMesh(
      Joined(MakeBox({0.0, 0.0, 0.0}, {1.0, 1.0, 1.0}), MakeBox({1.0, 1.0, 0.0}, {2.0, 2.0, 1.0})));
  CHECK(mesh.is_closed);
  CHECK(mesh.open_edges == 0);
  // x + y is at most 2 in one box and at least 2 in the other.
  const auto is_first = [&](const StaticTriangle& t) {
    float sum = 0.0f;
    for (const uint32_t v : t.vertices) sum += mesh.positions[v].x + mesh.positions[v].y;
    return sum < 6.0f;
  };
  for (const StaticTriangle& t : mesh.triangles) {
    for (const uint32_t n : t.neighbours) CHECK(is_first(t) == is_first(mesh.triangles[n]));
  }
}

TEST_CASE("A surface without area makes an empty static mesh") {
  SurfaceMesh flat = {.positions = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {2.0, 0.0, 0.0}}};
  flat.triangles = {{0, 1, 2}};
  CompleteMesh(&flat);
  CHECK(MakeStaticMesh(flat).triangles.empty());
}

TEST_CASE("Cells of a grid grow with coordinates") {
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::uniform_real_distribution<float> value(-1.0f, 1.0f);
    const float reach = std::ldexp(1.0f, static_cast<int>(random() % 60) - 30);
    const float at = std::ldexp(value(random), static_cast<int>(random() % 60) - 30);
    float a = at + reach * value(random), b = at + reach * value(random);
    if (b < a) std::swap(a, b);
    const StaticGrid grid = StaticGrid::Over({a, 0.0f, 0.0f}, {b, 0.0f, 0.0f});
    float x = a + value(random) * (b - a), y = a + value(random) * (b - a);
    if (y < x) std::swap(x, y);
    CAPTURE(a, b, x, y);
    const auto cell = [&](float p) { return StaticGrid::CellOf(p, a, grid.cells_per_metre[0]); };
    REQUIRE(cell(x) <= cell(y));
    REQUIRE(cell(a) == 0);
    REQUIRE(cell(b) <= kLastStaticCell);
    REQUIRE((b == a || cell(b) >= kLastStaticCell - 1));
  }
}

TEST_CASE("Leaves have less surface than the boxes of their triangles together") {
  const StaticMeshData mesh = MakeStaticMesh(MakeSphere(1.0, 50, 100));
  const auto surface = [&](size_t size) {
    double sum = 0.0;
    for (size_t begin = 0; begin < mesh.triangles.size(); begin += size) {
      Vec3d low = {9.0, 9.0, 9.0}, high = -low;
      for (size_t t = begin; t < std::min(begin + size, mesh.triangles.size()); ++t) {
        for (const uint32_t v : mesh.triangles[t].vertices) {
          low = Min(low, ToDouble(mesh.positions[v]));
          high = Max(high, ToDouble(mesh.positions[v]));
        }
      }
      const Vec3d e = high - low;
      sum += 2.0 * (e.x * e.y + e.y * e.z + e.z * e.x);
    }
    return sum;
  };
  CAPTURE(surface(1), surface(4), surface(16));
  CHECK(surface(4) < surface(1));
  CHECK(surface(16) < surface(4));
}

}  // namespace static_mesh_test
