// SPDX-License-Identifier: MIT
// Candidate pairs include every pair of triangles that intersect.
#include "collision/candidate_pairs.h"

#include "mesh/exact_predicates.h"
#include "runtime/collision/surface_fixtures.h"
#include "skip.h"

#include <catch2/catch.hpp>

#include <array>
#include <cstdio>
#include <set>
#include <utility>

using namespace plush;
using namespace plush::test;
using plush::tests::FullTests;

namespace candidate_pairs_test {

using Triangle = std::array<Eigen::Vector3d, 3>;

// Exact, so that rounding does not decide.
bool Intersect(const Triangle& a, const Triangle& b) {
  const auto corners = [](const Triangle& t) {
    tools::Triangle3 x;
    for (size_t k = 0; k < 3; ++k) x[k] = {t[k].x(), t[k].y(), t[k].z()};
    return x;
  };
  return tools::TrianglesIntersect(corners(a), corners(b));
}

std::vector<Triangle> Triangles(const SurfaceBody& body, const Eigen::Vector3d& origin) {
  std::vector<Triangle> triangles(body.surface().num_triangles());
  for (uint32_t i = 0; i < triangles.size(); ++i) {
    for (int k = 0; k < 3; ++k) {
      triangles[i][static_cast<size_t>(k)] = ToEigen(body.CornerPosition(i, k)) + origin;
    }
  }
  return triangles;
}

bool BoxesOverlap(const Triangle& a, const Triangle& b) {
  for (int i = 0; i < 3; ++i) {
    if (std::max({a[0][i], a[1][i], a[2][i]}) < std::min({b[0][i], b[1][i], b[2][i]})) return false;
    if (std::max({b[0][i], b[1][i], b[2][i]}) < std::min({a[0][i], a[1][i], a[2][i]})) return false;
  }
  return true;
}

using Pairs = std::set<std::pair<uint32_t, uint32_t>>;

struct Collected {
  Pairs pairs;
  const SurfaceBody* bodies[2];
  size_t repeated = 0, misplaced = 0;
};

Collected Collect(const SurfaceBody& a, const Eigen::Vector3d& origin_a, const SurfaceBody& b,
                  const Eigen::Vector3d& origin_b, uint32_t at_once) {
  Collected collected;
  collected.bodies[0] = &a;
  collected.bodies[1] = &b;
  const CollisionBody view_a = a.view(), view_b = b.view();
  const bool finished = ForCandidatePairs(
      {view_a, {origin_a.x(), origin_a.y(), origin_a.z()}},
      {view_b, {origin_b.x(), origin_b.y(), origin_b.z()}}, at_once, &collected,
      [](void* user, const CandidatePair& pair) {
        auto* c = static_cast<Collected*>(user);
        c->repeated += c->pairs.insert({pair.triangles[0], pair.triangles[1]}).second ? 0u : 1u;
        for (size_t side = 0; side < 2; ++side) {
          const SurfaceBody& body = *c->bodies[side];
          c->misplaced += pair.patches[side] != body.PatchOf(pair.triangles[side]) ||
                                  pair.tets[side] != body.TetOf(pair.triangles[side])
                              ? 1u
                              : 0u;
        }
        return true;
      });
  REQUIRE(finished);
  return collected;
}

TEST_CASE("Every pair of triangles that intersect is a candidate") {
  const int scenes = FullTests() ? 400 : 60;
  const uint32_t seed = 51;
  CAPTURE(seed);
  Random random(seed);
  SurfaceBody a(TetBox(2, 1, 1, 0.1, 0.08, 2), {.parts = 4, .num_shells = 2});
  SurfaceBody b(TetBox(1, 1, 2, 0.1, 0.08, 3),
                {.parts = 4, .num_shells = 2, .record = tools::TriangleRecord::kWide});
  size_t intersecting = 0, missed = 0, repeated = 0, misplaced = 0;
  for (int i = 0; i < scenes; ++i) {
    const auto num_kinds = static_cast<uint32_t>(Deformation::kTiny);
    a.Move(Deform(a.shape().rest(), static_cast<Deformation>(random.Below(num_kinds)), &random));
    b.Move(Deform(b.shape().rest(), static_cast<Deformation>(random.Below(num_kinds)), &random));
    const Eigen::Vector3d origin_a = random.Vector(i % 3 == 0 ? 1e4 : 0.0);
    const Eigen::Vector3d origin_b = origin_a + random.Vector(0.1);
    const Collected found = Collect(a, origin_a, b, origin_b, i % 2 == 0 ? kPairedAtOnce : 1);
    // Subtract positions first, so that far origins do not blur the result.
    const auto of_a = Triangles(a, Eigen::Vector3d::Zero());
    const auto of_b = Triangles(b, origin_b - origin_a);
    for (uint32_t s = 0; s < of_a.size(); ++s) {
      for (uint32_t t = 0; t < of_b.size(); ++t) {
        if (!BoxesOverlap(of_a[s], of_b[t]) || !Intersect(of_a[s], of_b[t])) continue;
        ++intersecting;
        missed += found.pairs.count({s, t}) == 0 ? 1u : 0u;
      }
    }
    repeated += found.repeated;
    misplaced += found.misplaced;
  }
  CHECK(missed == 0);
  CHECK(repeated == 0);
  CHECK(misplaced == 0);
  // Compilers evaluate the random numbers of an expression in different orders, so there are 900
  // to 1300 pairs.
  CHECK(intersecting > 500);
}

TEST_CASE("Surfaces that lie in each other within rounding are candidates") {
  // The same skin in two triangulations. Every face of one touches faces of the other, up to the
  // rounding of their vertices.
  Random random(52);
  const tools::TetMesh mesh = TetBox(2, 1, 1, 0.1, 0.08, 2);
  SurfaceBody a(mesh, {.parts = 5, .depth = 0.0, .num_shells = 0});
  SurfaceBody b(mesh, {.parts = 3, .depth = 0.0, .num_shells = 0});
  size_t intersecting = 0, missed = 0;
  for (int i = 0; i < 12; ++i) {
    const std::vector<Vec3> x = Deform(a.shape().rest(), Deformation::kAffine, &random);
    a.Move(x);
    b.Move(x);
    const Eigen::Vector3d here = Eigen::Vector3d::Zero();
    const Collected found = Collect(a, here, b, here, 1);
    const auto of_a = Triangles(a, here);
    const auto of_b = Triangles(b, here);
    for (uint32_t s = 0; s < of_a.size(); ++s) {
      for (uint32_t t = 0; t < of_b.size(); ++t) {
        if (!BoxesOverlap(of_a[s], of_b[t]) || !Intersect(of_a[s], of_b[t])) continue;
        ++intersecting;
        missed += found.pairs.count({s, t}) == 0 ? 1u : 0u;
      }
    }
  }
  CHECK(missed == 0);
  CHECK(intersecting > 1000);
}

TEST_CASE("Bodies apart have no candidates, a smaller threshold has fewer, any can be the last") {
  SurfaceBody a(TetBox(2, 2, 2, 0.1), {.parts = 8, .depth = 0.1, .num_shells = 0});
  SurfaceBody b(TetBox(2, 2, 2, 0.1), {.parts = 8, .depth = 0.1, .num_shells = 0, .seed = 2});
  const Eigen::Vector3d here = Eigen::Vector3d::Zero();
  CHECK(Collect(a, here, b, {0.21, 0.0, 0.0}, kPairedAtOnce).pairs.empty());
  // Side by side, one 1 mm inside the other: candidates are pairs of the faces that meet.
  const Eigen::Vector3d beside = {0.199, 0.013, 0.007};
  const size_t fine = Collect(a, here, b, beside, 1).pairs.size();
  const size_t coarse = Collect(a, here, b, beside, kPairedAtOnce).pairs.size();
  const size_t all = size_t{a.surface().num_triangles()} * b.surface().num_triangles();
  std::printf(
      "Two skins of %u triangles that touch along a side: %zu candidates, %zu in groups of "
      "8, of %zu pairs\n",
      a.surface().num_triangles(), fine, coarse, all);
  CHECK(fine > 0);
  CHECK(fine <= coarse);
  CHECK(coarse < all / 100);
  int left = 3;
  const CollisionBody view_a = a.view(), view_b = b.view();
  CHECK_FALSE(ForCandidatePairs(
      {view_a, {0, 0, 0}}, {view_b, {0.1, 0, 0}}, 8, &left,
      [](void* user, const CandidatePair&) { return --*static_cast<int*>(user) > 0; }));
  CHECK(left == 0);
}

}  // namespace candidate_pairs_test
