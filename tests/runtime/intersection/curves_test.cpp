// SPDX-License-Identifier: MIT
// Intersection curves of random solids. Small integers make most poses degenerate. The reference
// really moves one body, in integers of 128 bits.
#include "intersection/curves.h"

#include "runtime/intersection/closed_curves.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <set>
#include <span>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace curves_test {

__extension__ using Wide = __int128;
using WidePoint = std::array<Wide, 3>;

struct Solid {
  std::vector<Vec3> positions;
  std::vector<std::array<uint32_t, 3>> triangles;

  PlacedTriangle Placed(uint32_t t) const {
    PlacedTriangle placed = {t, {}, {}};
    for (uint32_t k = 0; k < 3; ++k) {
      placed.corners[k] = positions[triangles[t][k]];
      placed.edges[k] = 3 * t + k;
      for (uint32_t u = 0; u < t; ++u)
        for (uint32_t l = 0; l < 3; ++l)
          if (triangles[u][l] == triangles[t][(k + 1) % 3] &&
              triangles[u][(l + 1) % 3] == triangles[t][k])
            placed.edges[k] = 3 * u + l;
    }
    return placed;
  }
};

// A box of n x n quads per side, with corners moved at random in whole units. Closed whatever the
// positions are.
Solid Box(int n, int size, int jitter, std::mt19937* random) {
  Solid solid;
  std::vector<std::array<int, 3>> cells;
  const auto vertex = [&](const std::array<int, 3>& cell) {
    const auto found = std::find(cells.begin(), cells.end(), cell);
    if (found != cells.end()) return uint32_t(found - cells.begin());
    cells.push_back(cell);
    const auto at = [&](int i) {
      return float(i * size + (jitter ? int((*random)() % (2 * jitter + 1)) - jitter : 0));
    };
    const float x = at(cell[0]), y = at(cell[1]), z = at(cell[2]);
    solid.positions.push_back({x, y, z});
    return uint32_t(cells.size() - 1);
  };
  for (int axis = 0; axis < 3; ++axis)
    for (int side = 0; side <= n; side += n)
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
          uint32_t q[4];
          for (int k = 0; k < 4; ++k) {
            std::array<int, 3> cell;
            cell[axis] = side;
            cell[(axis + 1) % 3] = i + (k == 1 || k == 2);
            cell[(axis + 2) % 3] = j + (k >= 2);
            q[k] = vertex(cell);
          }
          if (side == 0) std::swap(q[1], q[3]);
          solid.triangles.push_back({q[0], q[1], q[2]});
          solid.triangles.push_back({q[0], q[2], q[3]});
        }
  return solid;
}

// Splits an edge of some triangles at one end or in the middle: adds triangles without area.
void AddFlatTriangles(int count, std::mt19937* random, Solid* solid) {
  for (int i = 0; i < count; ++i) {
    const uint32_t t = (*random)() % uint32_t(solid->triangles.size());
    const auto [a, b, c] = solid->triangles[t];
    const uint32_t m = uint32_t(solid->positions.size());
    solid->positions.push_back(solid->positions[i % 2 ? a : b]);
    solid->triangles[t] = {a, m, c};
    solid->triangles.push_back({m, b, c});
    solid->triangles.push_back({a, b, m});
  }
}

std::vector<TrianglePair> AllPairs(const Solid& moved, const Solid& fixed) {
  std::vector<PlacedTriangle> of_moved, of_fixed;
  for (uint32_t t = 0; t < moved.triangles.size(); ++t) of_moved.push_back(moved.Placed(t));
  for (uint32_t t = 0; t < fixed.triangles.size(); ++t) of_fixed.push_back(fixed.Placed(t));
  std::vector<TrianglePair> pairs;
  Segment segment;
  for (const PlacedTriangle& a : of_moved)
    for (const PlacedTriangle& b : of_fixed)
      if (Intersect(a.corners, b.corners, &segment)) pairs.push_back(MakePair(a, b, segment));
  return pairs;
}

// Positions times 2^30; the moved body's are shifted by (2^20, 2^10, 1): e = 2^-10.
std::vector<WidePoint> WidePositions(const Solid& solid, bool moved) {
  std::vector<WidePoint> wide;
  for (const Vec3& p : solid.positions) {
    const Wide one = Wide(1) << 30;
    wide.push_back({Wide(p.x) * one, Wide(p.y) * one, Wide(p.z) * one});
    if (moved) wide.back()[0] += 1 << 20, wide.back()[1] += 1 << 10, wide.back()[2] += 1;
  }
  return wide;
}

int WideOrient(const WidePoint& a, const WidePoint& b, const WidePoint& c, const WidePoint& d) {
  WidePoint u, v, w;
  for (int k = 0; k < 3; ++k) u[k] = b[k] - a[k], v[k] = c[k] - a[k], w[k] = d[k] - a[k];
  const Wide det = (u[1] * v[2] - u[2] * v[1]) * w[0] + (u[2] * v[0] - u[0] * v[2]) * w[1] +
                   (u[0] * v[1] - u[1] * v[0]) * w[2];
  return det > 0 ? 1 : det < 0 ? -1 : 0;
}

// Whether edge pq pierces the triangle; nothing pierces one without area.
bool Pierces(const WidePoint& p, const WidePoint& q, const std::array<WidePoint, 3>& t) {
  if (WideOrient(t[0], t[1], t[2], p) * WideOrient(t[0], t[1], t[2], q) >= 0) return false;
  const int first = WideOrient(p, q, t[0], t[1]);
  return first != 0 && first == WideOrient(p, q, t[1], t[2]) &&
         first == WideOrient(p, q, t[2], t[0]);
}

std::set<std::array<uint32_t, 2>> ReferencePairs(const Solid& moved, const Solid& fixed) {
  const std::vector<WidePoint> a = WidePositions(moved, true), b = WidePositions(fixed, false);
  std::set<std::array<uint32_t, 2>> pairs;
  for (uint32_t i = 0; i < moved.triangles.size(); ++i)
    for (uint32_t j = 0; j < fixed.triangles.size(); ++j) {
      const auto &s = moved.triangles[i], &t = fixed.triangles[j];
      const std::array<WidePoint, 3> at_s = {a[s[0]], a[s[1]], a[s[2]]};
      const std::array<WidePoint, 3> at_t = {b[t[0]], b[t[1]], b[t[2]]};
      int piercings = 0;
      for (int k = 0; k < 3; ++k)
        piercings += int(Pierces(at_s[k], at_s[(k + 1) % 3], at_t)) +
                     int(Pierces(at_t[k], at_t[(k + 1) % 3], at_s));
      REQUIRE((piercings == 0 || piercings == 2));
      if (piercings == 2) pairs.insert({i, j});
    }
  return pairs;
}

TEST_CASE("Curves of degenerate poses close, and pairs equal those of a body that moved") {
  const uint32_t most = tests::SweepCount(400u, 10000u);
  size_t with_pairs = 0;
  for (uint32_t seed = 1; seed <= most; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    Solid moved = Box(2, 2, seed % 3 == 0 ? 1 : 0, &random);
    Solid fixed = seed % 5 == 0 ? moved : Box(2, 2, seed % 4 == 0 ? 1 : 0, &random);
    if (seed % 5 != 0)  // else identical copies
      for (Vec3& p : fixed.positions) {
        p.x += float(seed / 2 % 4), p.y += float(seed / 8 % 3) - 1.0f;
        p.z += float(seed / 24 % 3) - 1.0f;
      }
    if (seed % 2 == 0) {
      AddFlatTriangles(4, &random, &moved);
      AddFlatTriangles(4, &random, &fixed);
    }
    const std::vector<TrianglePair> pairs = AllPairs(moved, fixed);
    std::set<std::array<uint32_t, 2>> found;
    for (const TrianglePair& pair : pairs) found.insert({pair.moved, pair.fixed});
    REQUIRE(found == ReferencePairs(moved, fixed));
    RequireClosed(pairs, CurvesOf(pairs));
    with_pairs += !pairs.empty();
  }
  CHECK(with_pairs > most / 2);
}

TEST_CASE("Curves of random floats close") {
  const uint32_t most = tests::SweepCount(300u, 10000u);
  for (uint32_t seed = 1; seed <= most; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    Solid moved = Box(3, 2, 1, &random), fixed = Box(3, 2, 1, &random);
    for (Solid* solid : {&moved, &fixed})
      for (Vec3& p : solid->positions) p = {p.x + float(random()) * 0x1p-33f, p.y * 0.3f, p.z / 7};
    const std::vector<TrianglePair> pairs = AllPairs(moved, fixed);
    RequireClosed(pairs, CurvesOf(pairs));
  }
}

TEST_CASE("The curve of a box's corner has the right length, area and direction") {
  std::mt19937 random(1);
  Solid moved = Box(1, 4, 0, &random), fixed = Box(1, 8, 0, &random);
  // The bottom of `moved`, 4 x 4, sinks into the top of `fixed`.
  for (Vec3& p : moved.positions) p.x += 1.5f, p.y += 2.25f, p.z += 7.0f;
  const std::vector<TrianglePair> pairs = AllPairs(moved, fixed);
  const Curves found = CurvesOf(pairs);
  RequireClosed(pairs, found);
  REQUIRE(found.curves.size() == 1);
  CHECK(found.curves[0].length == Approx(16.0));
  CHECK(found.curves[0].area[0] == Approx(0.0).margin(1e-5));
  CHECK(found.curves[0].area[1] == Approx(0.0).margin(1e-5));
  // Along normal(moved) x normal(fixed): clockwise as seen from the top, -z.
  CHECK(found.curves[0].area[2] == Approx(-16.0));

  std::vector<Joint> few(MostJoints(pairs.size()) - 1);
  std::vector<uint32_t> next(pairs.size()), order(pairs.size());
  std::vector<uint8_t> has_previous(pairs.size());
  Curve curve;
  const auto count = [&](std::span<Curve> curves) {
    return FindCurves(pairs, {few, next, order, has_previous}, curves);
  };
  CHECK(count({&curve, 1}) == kNoPair);
  few.resize(MostJoints(pairs.size()));
  CHECK(count({&curve, 1}) == 1);
  CHECK(count({}) == kNoPair);

  // Without one of the top's two triangles the curve is an arc along the other.
  Solid open = fixed;
  const auto on_top = [&](const std::array<uint32_t, 3>& t) {
    return std::all_of(t.begin(), t.end(), [&](uint32_t v) { return open.positions[v].z == 8.0f; });
  };
  open.triangles.erase(std::find_if(open.triangles.begin(), open.triangles.end(), on_top));
  const Curves arcs = CurvesOf(AllPairs(moved, open));
  REQUIRE(arcs.curves.size() == 1);
  CHECK_FALSE(arcs.curves[0].closed);
  CHECK(arcs.curves[0].length > 4.0);
  CHECK(arcs.curves[0].length < 12.0);
}

}  // namespace curves_test
