// SPDX-License-Identifier: MIT
// Predicates against whole-number arithmetic and a brute-force search for separating axes.
#include "mesh/exact_predicates.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>
#include <vector>

namespace exact_predicates_test {

using plush::tools::Cross;
using plush::tools::Dot;
using plush::tools::Orient2dSign;
using plush::tools::Orient3dSign;
using plush::tools::Triangle3;
using plush::tools::Vec3d;

// Small whole numbers: the tests' own double arithmetic is exact, and every degenerate case (shared
// points, collinear, coplanar, flat triangles) is frequent.
class SmallIntegers {
 public:
  explicit SmallIntegers(uint32_t seed) : random_(seed) {}
  Vec3d Point(int range) {
    std::uniform_int_distribution<int> pick(-range, range);
    return {double(pick(random_)), double(pick(random_)), double(pick(random_))};
  }
  Triangle3 Triangle(int range) { return {Point(range), Point(range), Point(range)}; }

 private:
  std::mt19937 random_;
};

int SignOf(double x) { return (x > 0.0) - (x < 0.0); }

bool StrictlySeparated(const Vec3d& axis, const std::vector<Vec3d>& a,
                       const std::vector<Vec3d>& b) {
  double a_low = INFINITY, a_high = -INFINITY, b_low = INFINITY, b_high = -INFINITY;
  for (const Vec3d& p : a) {
    a_low = std::min(a_low, Dot(axis, p));
    a_high = std::max(a_high, Dot(axis, p));
  }
  for (const Vec3d& p : b) {
    b_low = std::min(b_low, Dot(axis, p));
    b_high = std::max(b_high, Dot(axis, p));
  }
  return a_high < b_low || b_high < a_low;
}

// Two convex hulls of a few points are disjoint if and only if one of these axes separates them.
// The axes include every facet normal of their Minkowski difference, in any dimension.
bool HullsIntersectByBruteForce(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b) {
  std::vector<Vec3d> directions;
  std::vector<Vec3d> edges;
  for (const auto& hull : {a, b}) {
    for (size_t i = 0; i < hull.size(); ++i) edges.push_back(hull[(i + 1) % hull.size()] - hull[i]);
  }
  directions = edges;
  for (const Vec3d& p : a) {
    for (const Vec3d& q : b) directions.push_back(p - q);
  }
  const size_t count = directions.size();
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < i; ++j) directions.push_back(Cross(directions[i], directions[j]));
  }
  for (const Vec3d& axis : directions) {
    if (StrictlySeparated(axis, a, b)) return false;
    for (const Vec3d& edge : edges) {
      if (StrictlySeparated(Cross(axis, edge), a, b)) return false;
    }
  }
  return true;
}

bool HasArea(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const Vec3d n = Cross(b - a, c - a);
  return Dot(n, n) > 0.0;
}

TEST_CASE("Orientation signs are those of exact whole-number arithmetic") {
  SmallIntegers numbers(1);
  int zeros = 0;
  for (int i = 0; i < 5000; ++i) {
    const Vec3d a = numbers.Point(3), b = numbers.Point(3), c = numbers.Point(3),
                d = numbers.Point(3);
    REQUIRE(Orient3dSign(a, b, c, d) == SignOf(plush::tools::SixVolume(a, b, c, d)));
    for (int axis = 0; axis < 3; ++axis) {
      REQUIRE(Orient2dSign(a, b, c, axis) == SignOf(Cross(b - a, c - a)[axis]));
    }
    zeros += Orient3dSign(a, b, c, d) == 0 ? 1 : 0;
  }
  CHECK(zeros > 100);
}

TEST_CASE("Orientation signs stay consistent a rounding away from degenerate") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  int nonzero = 0;
  for (int i = 0; i < 2000; ++i) {
    const Vec3d a = {unit(random), unit(random), unit(random)};
    const Vec3d b = {unit(random), unit(random), unit(random)};
    const Vec3d c = {unit(random), unit(random), unit(random)};
    // In the plane up to the rounding of this sum: the last bits decide the sign.
    const Vec3d d = a + (b - a) * 0.3 + (c - a) * 0.4;
    const int sign = Orient3dSign(a, b, c, d);
    REQUIRE(Orient3dSign(b, c, a, d) == sign);
    REQUIRE(Orient3dSign(b, a, c, d) == -sign);
    REQUIRE(Orient3dSign(a, b, d, c) == -sign);
    REQUIRE(Orient3dSign(c, d, a, b) == sign);
    nonzero += sign != 0 ? 1 : 0;
  }
  CHECK(nonzero > 1000);
  // One unit in the last place away from a plane through whole numbers.
  const Vec3d off = {0.5, 0.5, std::nextafter(0.0, 1.0)};
  CHECK(Orient3dSign({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, off) == 1);
  // Sizes whose products overflow or underflow.
  CHECK(Orient3dSign({0, 0, 0}, {1e200, 0, 0}, {0, 1e200, 0}, {0, 0, 1e-300}) == 1);
  CHECK(Orient3dSign({0, 0, 0}, {1e-200, 0, 0}, {0, 1e-200, 0}, {0, 0, -1e-300}) == -1);
}

TEST_CASE("Segment and triangle meet exactly if no axis separates them") {
  SmallIntegers numbers(2);
  int hits = 0, flat = 0;
  for (int i = 0; i < 6000; ++i) {
    const int range = 1 + i % 3;
    const Vec3d p = numbers.Point(range), q = numbers.Point(range);
    const Triangle3 t = numbers.Triangle(range);
    const bool expected = HullsIntersectByBruteForce({p, q}, {t[0], t[1], t[2]});
    REQUIRE(plush::tools::SegmentIntersectsTriangle(p, q, t) == expected);
    REQUIRE(plush::tools::SegmentIntersectsTriangle(q, p, {t[1], t[0], t[2]}) == expected);
    REQUIRE(plush::tools::SegmentsIntersect(p, q, t[0], t[1]) ==
            HullsIntersectByBruteForce({p, q}, {t[0], t[1]}));
    hits += expected ? 1 : 0;
    flat += HasArea(t[0], t[1], t[2]) ? 0 : 1;
  }
  CHECK(hits > 500);
  CHECK(hits < 5500);
  CHECK(flat > 100);
}

TEST_CASE("Triangles meet exactly if no axis separates them") {
  SmallIntegers numbers(3);
  int hits = 0;
  for (int i = 0; i < 6000; ++i) {
    const int range = 1 + i % 4;
    const Triangle3 s = numbers.Triangle(range), t = numbers.Triangle(range);
    const bool expected = HullsIntersectByBruteForce({s[0], s[1], s[2]}, {t[0], t[1], t[2]});
    REQUIRE(plush::tools::TrianglesIntersect(s, t) == expected);
    REQUIRE(plush::tools::TrianglesIntersect(t, {s[2], s[1], s[0]}) == expected);
    hits += expected ? 1 : 0;
  }
  CHECK(hits > 500);
  CHECK(hits < 5500);
}

TEST_CASE("Triangles around one vertex meet beyond it if a shortened one still meets the other") {
  SmallIntegers numbers(4);
  int hits = 0, misses = 0;
  for (int i = 0; i < 8000; ++i) {
    const Vec3d v, a = numbers.Point(3), b = numbers.Point(3), c = numbers.Point(3),
                   d = numbers.Point(3);
    if (!HasArea(v, a, b) || !HasArea(v, c, d)) continue;
    // The shared set is convex and contains v. It is larger than v if and only if part of it
    // remains after the tip at v is cut off either triangle, here at 1/1024, a power of two.
    const double cut = 1.0 / 1024.0;
    const bool expected = HullsIntersectByBruteForce({a * cut, b * cut, b, a}, {v, c, d}) &&
                          HullsIntersectByBruteForce({c * cut, d * cut, d, c}, {v, a, b});
    REQUIRE(plush::tools::TrianglesIntersectBeyondVertex(v, a, b, c, d) == expected);
    REQUIRE(plush::tools::TrianglesIntersectBeyondVertex(v, d, c, a, b) == expected);
    (expected ? hits : misses) += 1;
  }
  CHECK(hits > 300);
  CHECK(misses > 300);
}

TEST_CASE("Triangles over one edge meet beyond it only if folded flat") {
  const Vec3d u = {0, 0, 0}, v = {2, 0, 0};
  using plush::tools::TrianglesIntersectBeyondEdge;
  CHECK_FALSE(TrianglesIntersectBeyondEdge(u, v, {1, 1, 0}, {1, -1, 0}));
  CHECK_FALSE(TrianglesIntersectBeyondEdge(u, v, {1, 1, 0}, {1, 1, 1e-300}));
  CHECK(TrianglesIntersectBeyondEdge(u, v, {1, 1, 0}, {1, 2, 0}));
  CHECK(TrianglesIntersectBeyondEdge(u, v, {1, 1, 0}, {-5, 0.001, 0}));
  CHECK(TrianglesIntersectBeyondEdge(u, v, {1, 0, 1}, {-5, 0, 0.001}));
}

TEST_CASE("Collinear points are distinguished from nearly collinear ones") {
  CHECK(plush::tools::AreCollinear({0, 0, 0}, {1, 1, 1}, {2, 2, 2}));
  CHECK(plush::tools::AreCollinear({0, 0, 0}, {0, 0, 0}, {2, 5, 2}));
  CHECK_FALSE(plush::tools::AreCollinear({0, 0, 0}, {1, 1, 1}, {2, 2, std::nextafter(2.0, 3.0)}));
  CHECK_FALSE(plush::tools::AreCollinear({0, 0, 0}, {1e-200, 0, 0}, {0, 1e-200, 0}));
}

}  // namespace exact_predicates_test
