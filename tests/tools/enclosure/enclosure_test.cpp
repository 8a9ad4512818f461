// SPDX-License-Identifier: MIT
// The proof of enclosure against sampled points, in sound, holed and duplicated cages.
#include "enclosure/enclosure.h"

#include "enclosure/cage_proof.h"
#include "mesh/exact_predicates.h"
#include "shapes/tet_shapes.h"
#include "tools/cage/cage_fixtures.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>

using namespace plush::tools;
using namespace plush::tests;

namespace enclosure_test {

using Triangle = std::array<uint32_t, 3>;

uint32_t TetOf(const TetMesh& mesh, const Vec3d& point) {
  const TetSides sides(mesh);
  for (uint32_t t = 0; t < mesh.tets.size(); ++t) {
    if (sides.Contains(t, point)) return t;
  }
  return kNoTet;
}

std::vector<uint32_t> TetsOf(const TetMesh& mesh, const std::vector<Vec3d>& points) {
  std::vector<uint32_t> tets;
  for (const Vec3d& point : points) tets.push_back(TetOf(mesh, point));
  return tets;
}

// A box of tets without the tets whose centre lies in the hole from `low` to `high`.
TetMesh BoxWithHole(uint32_t n, const Vec3d& low, const Vec3d& high, uint32_t seed) {
  TetMesh mesh = plush::test::TetBox(n, n, n, 1.0 / n, 0.09, seed);
  const auto in_hole = [&](const std::array<uint32_t, 4>& tet) {
    Vec3d centre;
    for (const uint32_t node : tet) centre += mesh.nodes[node] * 0.25;
    return Max(low, centre) == centre && Min(high, centre) == centre;
  };
  mesh.tets.erase(std::remove_if(mesh.tets.begin(), mesh.tets.end(), in_hole), mesh.tets.end());
  return mesh;
}

// The reference: a direct test, valid for a cage whose tets do not overlap.
bool IsStrictlyInside(const TetMesh& mesh, const CageFaces& faces,
                      const std::array<Vec3d, 3>& triangle) {
  if (TetOf(mesh, triangle[0]) == kNoTet) return false;
  return std::none_of(faces.boundary.begin(), faces.boundary.end(), [&](const CageFace& face) {
    const auto& [a, b, c] = face.nodes;
    return TrianglesIntersect(triangle, {mesh.nodes[a], mesh.nodes[b], mesh.nodes[c]});
  });
}

TEST_CASE("Random triangles escape a cage with a hole where they meet its boundary") {
  for (const uint32_t seed : {75u, 76u, 77u}) {
    INFO("seed " << seed);
    const TetMesh mesh = BoxWithHole(5, {0.3, 0.3, -1}, {0.7, 2, 0.6}, seed);
    const CageFaces faces = FindCageFaces(mesh);
    RandomNumbers random(seed);
    std::vector<Vec3d> points;
    std::vector<Triangle> triangles;
    for (uint32_t i = 0; i < 1500; ++i) {
      const double size = i % 3 == 0 ? 1.0 : 0.15;
      const Vec3d first = random.Point({-0.05, -0.05, -0.05}, {1.05, 1.05, 1.05});
      points.push_back(first);
      points.push_back(first + random.Direction() * size * random.In(0.1, 1.0));
      points.push_back(first + random.Direction() * size * random.In(0.1, 1.0));
      triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
    }
    const std::vector<uint32_t> tets = TetsOf(mesh, points);
    const auto escapes = FindEscapes(mesh, faces, points, triangles, tets);
    CHECK(std::is_sorted(escapes.begin(), escapes.end()));
    std::vector<uint32_t> expected;
    size_t passing = 0;  // triangles with all corners inside that pass through the hole
    for (uint32_t t = 0; t < triangles.size(); ++t) {
      const auto& [a, b, c] = triangles[t];
      if (IsStrictlyInside(mesh, faces, {points[a], points[b], points[c]})) continue;
      expected.push_back(t);
      passing += tets[a] != kNoTet && tets[b] != kNoTet && tets[c] != kNoTet ? 1 : 0;
    }
    CHECK(escapes == expected);
    CHECK(expected.size() < triangles.size() - 300);
    CHECK(passing > 5);
  }
}

TEST_CASE("A triangle declared inside has every sample inside") {
  const uint32_t seed = 78;
  INFO("seed " << seed);
  const TetMesh mesh = BoxWithHole(4, {0.2, 0.2, -1}, {0.8, 2, 0.5}, seed);
  const CageFaces faces = FindCageFaces(mesh);
  RandomNumbers random(seed);
  int held = 0;
  for (int i = 0; i < 400; ++i) {
    std::vector<Vec3d> points;
    for (int k = 0; k < 3; ++k) points.push_back(random.Point({0, 0, 0}, {1, 1, 1}));
    const std::vector<Triangle> one = {{0, 1, 2}};
    if (!FindEscapes(mesh, faces, points, one, TetsOf(mesh, points)).empty()) continue;
    ++held;
    for (int a = 0; a <= 12; ++a) {
      for (int b = 0; a + b <= 12; ++b) {
        const Vec3d p = (points[0] * a + points[1] * b + points[2] * (12 - a - b)) / 12.0;
        CHECK(TetOf(mesh, p) != kNoTet);
      }
    }
  }
  CHECK(held > 20);
}

TEST_CASE("An intact surface is enclosed, and one vertex pushed out takes its triangles along") {
  const TetMesh mesh = plush::test::TetBox(4, 4, 4, 0.25, 0.05, 6);
  const CageFaces faces = FindCageFaces(mesh);
  SurfaceMesh ball = MakeSphere(0.4, 12, 18, {0.5, 0.5, 0.5});
  const std::vector<uint32_t> tets = TetsOf(mesh, ball.positions);
  CHECK(FindEscapes(mesh, faces, ball.positions, ball.triangles, tets).empty());

  std::vector<Vec3d> pushed = ball.positions;
  const uint32_t vertex = 77;
  pushed[vertex] = {0.5, 0.5, 1.2};
  std::vector<uint32_t> expected;
  for (uint32_t t = 0; t < ball.triangles.size(); ++t) {
    const auto& triangle = ball.triangles[t];
    if (std::find(triangle.begin(), triangle.end(), vertex) != triangle.end()) {
      expected.push_back(t);
    }
  }
  CHECK(FindEscapes(mesh, faces, pushed, ball.triangles, TetsOf(mesh, pushed)) == expected);

  // A vertex with a wrong tet, or with none, makes the same triangles escape.
  for (const uint32_t wrong : {(tets[vertex] + 40) % 320u, kNoTet, 320u}) {
    std::vector<uint32_t> wrong_tets = tets;
    wrong_tets[vertex] = wrong;
    CHECK(FindEscapes(mesh, faces, ball.positions, ball.triangles, wrong_tets) == expected);
  }
}

TEST_CASE("A point on the boundary is not strictly inside") {
  const TetMesh mesh = plush::test::SingleTet(1.0);
  const CageFaces faces = FindCageFaces(mesh);
  const std::vector<Triangle> one = {{0, 1, 2}};
  const std::vector<uint32_t> tets = {0, 0, 0};
  const std::vector<Vec3d> inside = {
      {0.125, 0.125, 0.125}, {0.25, 0.125, 0.125}, {0.125, 0.25, 0.125}};
  CHECK(FindEscapes(mesh, faces, inside, one, tets).empty());
  std::vector<Vec3d> touching = inside;
  touching[0] = {0.125, 0.125, 0.0};
  CHECK(FindEscapes(mesh, faces, touching, one, tets) == std::vector<uint32_t>{0});
}

TEST_CASE("Two copies of one place do not hold each other's surface") {
  // Two tets with equal corners but no common node.
  TetMesh mesh = plush::test::SingleTet(1.0);
  const std::vector<Vec3d> nodes = mesh.nodes;
  mesh.nodes.insert(mesh.nodes.end(), nodes.begin(), nodes.end());
  mesh.tets.push_back(
      {4 + mesh.tets[0][0], 4 + mesh.tets[0][1], 4 + mesh.tets[0][2], 4 + mesh.tets[0][3]});
  const CageFaces faces = FindCageFaces(mesh);
  const std::vector<Vec3d> points = {
      {0.125, 0.125, 0.125}, {0.25, 0.125, 0.125}, {0.125, 0.25, 0.125}};
  const std::vector<Triangle> one = {{0, 1, 2}};
  CHECK(FindEscapes(mesh, faces, points, one, std::vector<uint32_t>{1, 1, 1}).empty());
  CHECK(FindEscapes(mesh, faces, points, one, std::vector<uint32_t>{0, 1, 1}).size() == 1);
}

// A column of `count` + 1 stems of one cell each, and between them twice two cells in one place:
// two strands, which differ in the nodes of their middle plane.
struct Ladder {
  TetMesh mesh;
  std::vector<uint32_t> strand_of_tet;  // 2 s or 2 s + 1 above stem s; kNoTet: a stem

  explicit Ladder(uint32_t count, uint32_t seed) {
    const TetMesh column = plush::test::TetBox(1, 1, 3 * count + 1, 1.0, 0.1, seed);
    mesh.nodes = column.nodes;
    for (const auto& tet : column.tets) {
      double z = 0.0;
      for (const uint32_t node : tet) z += 0.25 * column.nodes[node].z;
      const auto cell = static_cast<uint32_t>(z);
      Add(tet, cell % 3 == 0 ? kNoTet : cell / 3 * 2);
      if (cell % 3 != 0) Add(Copied(tet, 3.0 * (cell / 3) + 2.0), cell / 3 * 2 + 1);
    }
  }

  // Removes one of the tets of a strand that the triangle meets.
  void Break(uint32_t strand, const Triangle3& triangle, RandomNumbers* random) {
    std::vector<size_t> met;
    for (size_t t = 0; t < mesh.tets.size(); ++t) {
      if (strand_of_tet[t] != strand) continue;
      for (size_t corner = 0; corner < 4; ++corner) {
        const auto [a, b, c] = FaceOf(mesh.tets[t], corner);
        if (!TrianglesIntersect(triangle, {mesh.nodes[a], mesh.nodes[b], mesh.nodes[c]})) continue;
        met.push_back(t);
        break;
      }
    }
    const size_t broken =
        met[static_cast<size_t>(random->Whole(0, static_cast<int>(met.size()) - 1))];
    mesh.tets.erase(mesh.tets.begin() + static_cast<std::ptrdiff_t>(broken));
    strand_of_tet.erase(strand_of_tet.begin() + static_cast<std::ptrdiff_t>(broken));
  }

 private:
  void Add(const std::array<uint32_t, 4>& tet, uint32_t strand) {
    mesh.tets.push_back(tet);
    strand_of_tet.push_back(strand);
  }
  std::array<uint32_t, 4> Copied(std::array<uint32_t, 4> tet, double middle) {
    for (uint32_t& node : tet) {
      if (std::abs(mesh.nodes[node].z - middle) > 0.3) continue;
      const auto [at, is_new] = copies_.emplace(node, static_cast<uint32_t>(mesh.nodes.size()));
      if (is_new) mesh.nodes.push_back(Vec3d{mesh.nodes[node]});
      node = at->second;
    }
    return tet;
  }
  std::map<uint32_t, uint32_t> copies_;
};

TEST_CASE("A triangle through many branches is held if each has a strand that holds it") {
  constexpr uint32_t kCount = 8;
  int held = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    INFO("seed " << seed);
    RandomNumbers random(seed);
    Ladder ladder(kCount, seed);
    const Triangle3 triangle = {random.Point({0.2, 0.2, 0.3}, {0.8, 0.8, 0.4}),
                                random.Point({0.2, 0.2, 0.5}, {0.8, 0.8, 0.7}),
                                random.Point({0.2, 0.2, 24.3}, {0.8, 0.8, 24.7})};
    bool expected = true;
    for (uint32_t s = 0; s < kCount; ++s) {
      const int broken = random.Whole(0, 24);  // neither, mostly; one strand, or both
      const bool first = broken % 3 == 1 || broken == 0, second = broken % 3 == 2 || broken == 0;
      if (first) ladder.Break(2 * s, triangle, &random);
      if (second) ladder.Break(2 * s + 1, triangle, &random);
      expected = expected && !(first && second);
    }
    const CageFaces faces = FindCageFaces(ladder.mesh);
    const std::vector<uint32_t> tets = TetsOf(ladder.mesh, {triangle.begin(), triangle.end()});
    const EnclosureTest test(ladder.mesh, faces);
    CHECK(test.Holds(triangle, {tets[0], tets[1], tets[2]}) == expected);
    CHECK_FALSE(test.HoldsInOneStrand(triangle, {tets[0], tets[1], tets[2]}));
    held += expected ? 1 : 0;
  }
  CHECK(held > 10);
  CHECK(held < 50);
}

TEST_CASE("A cage that lost a tet is refused, with places") {
  Solid solid(MakeTorus(1.0, 0.3, 48, 24));
  const Lattice lattice = LatticeAround(solid, LatticeKind::kBcc, 0.4);
  SplitCage cage = SplitOf(solid, lattice, 1e-3);
  const CageProof whole = ProveCage(solid.surface, cage, 0.4);
  CHECK(whole.holds());
  CHECK(RefuseEscapes(solid.surface, whole, &solid.findings).ok());
  CHECK(solid.findings.all().empty());
  const auto most =
      std::max_element(cage.triangles.begin(), cage.triangles.end(),
                       [](const auto& a, const auto& b) { return a.size() < b.size(); });
  const auto lost = most - cage.triangles.begin();
  cage.triangles.erase(most);
  cage.mesh.tets.erase(cage.mesh.tets.begin() + lost);
  cage.lattice_tet.erase(cage.lattice_tet.begin() + lost);
  const CageProof proof = ProveCage(solid.surface, cage, 0.4);
  CHECK_FALSE(proof.holds());
  const auto refused = RefuseEscapes(solid.surface, proof, &solid.findings);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().exit_code == ExitCode::kInvalidInput);
  REQUIRE(solid.findings.all().size() == 1);
  const Finding& finding = solid.findings.all()[0];
  CHECK(finding.code == refused.error().finding_code);
  CHECK(finding.code == "CAGE_NOT_ENCLOSED");
  CHECK(finding.count == proof.escapes.size());
  REQUIRE(finding.places.size() == std::min(kMaxPlaces, proof.escapes.size()));
  for (size_t i = 0; i < finding.places.size(); ++i) {
    CHECK(finding.places[i].triangle == solid.surface.source_triangle[proof.escapes[i]]);
  }
}

TEST_CASE("A triangle that meets a branch is held, but not in one strand") {
  // A trunk below the plane z = 0 and two strands above it, in one place.
  TetMesh mesh = {.nodes = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 1}, {0, 0, -1}}};
  mesh.tets = {{0, 1, 2, 3}, {0, 1, 2, 4}, {0, 2, 1, 5}};
  const CageFaces faces = FindCageFaces(mesh);
  REQUIRE(faces.branches.size() == 1);
  const EnclosureTest test(mesh, faces);
  const Triangle3 above = {Vec3d{0.1, 0.1, 0.1}, Vec3d{0.2, 0.1, 0.1}, Vec3d{0.1, 0.2, 0.1}};
  Triangle3 below = above;
  for (Vec3d& p : below) p.z = -p.z;
  for (const Triangle& tets : {Triangle{0, 0, 0}, Triangle{1, 1, 1}}) {
    CHECK(test.Holds(above, tets));
    CHECK(test.HoldsInOneStrand(above, tets));
  }
  CHECK(test.HoldsInOneStrand(below, {2, 2, 2}));
  CHECK_FALSE(test.Holds(above, {0, 0, 1}));
  CHECK_FALSE(test.HoldsInOneStrand(above, {0, 0, 1}));
  // Two corners in the trunk, or one.
  const Triangle3 one_above = {above[0], below[1], below[2]};
  const Triangle3 two_above = {above[0], above[1], below[2]};
  CHECK(test.Holds(one_above, {0, 2, 2}));
  CHECK(test.Holds(two_above, {1, 1, 2}));
  CHECK_FALSE(test.HoldsInOneStrand(one_above, {0, 2, 2}));
  CHECK_FALSE(test.HoldsInOneStrand(two_above, {1, 1, 2}));
  // A corner in the face of the branch.
  const Triangle3 touching = {above[0], above[1], Vec3d{0.125, 0.25, 0}};
  CHECK(test.Holds(touching, {0, 0, 0}));
  CHECK_FALSE(test.HoldsInOneStrand(touching, {0, 0, 0}));
}

}  // namespace enclosure_test
