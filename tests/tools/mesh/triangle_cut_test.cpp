// SPDX-License-Identifier: MIT
// A triangle's parts in the tets of a lattice add up to the triangle, even if corners, edges and
// planes of both coincide.
#include "mesh/triangle_cut.h"

#include "shapes/tet_shapes.h"

#include <catch2/catch.hpp>

#include <random>

using namespace plush::tools;

namespace triangle_cut_test {

using Triangle = std::array<Vec3d, 3>;

// Position of a corner of the part, in plain double precision.
Vec3d PlaceOf(const Triangle& triangle, const TetCorners& tet, const CutCorner& corner) {
  const auto between = [](const Vec3d& a, const Vec3d& b, double at_a, double at_b) {
    return at_a == at_b ? (a + b) * 0.5 : a + (b - a) * (at_a / (at_a - at_b));
  };
  if (corner.kind == CutCorner::Kind::kCorner) return triangle[corner.first];
  if (corner.kind == CutCorner::Kind::kEdgeFace) {
    std::array<Vec3d, 3> face;
    size_t count = 0;
    for (size_t i = 0; i < 4; ++i) {
      if (i != corner.second) face[count++] = tet[i];
    }
    const Vec3d& a = triangle[corner.first];
    const Vec3d& b = triangle[(corner.first + 1) % 3];
    return between(a, b, SixVolume(face[0], face[1], face[2], a),
                   SixVolume(face[0], face[1], face[2], b));
  }
  const Vec3d& a = tet[corner.first];
  const Vec3d& b = tet[corner.second];
  return between(a, b, SixVolume(triangle[0], triangle[1], triangle[2], a),
                 SixVolume(triangle[0], triangle[1], triangle[2], b));
}

// Signed area of the part, seen along the triangle's normal.
double AreaOf(const Triangle& triangle, const TetCorners& tet, const TriangleCut& cut) {
  const Vec3d normal = Cross(triangle[1] - triangle[0], triangle[2] - triangle[0]);
  Vec3d sum;
  const Vec3d first = PlaceOf(triangle, tet, cut.corners[0]);
  for (uint8_t i = 1; i + 1 < cut.count; ++i) {
    sum += Cross(PlaceOf(triangle, tet, cut.corners[i]) - first,
                 PlaceOf(triangle, tet, cut.corners[i + 1]) - first);
  }
  return 0.5 * Dot(sum, normal) / Length(normal);
}

// Cuts by every tet of the mesh. Every part turns as the triangle does, and the areas sum to its
// area.
void CheckParts(const Triangle& triangle, const TetMesh& mesh) {
  double sum = 0.0;
  for (const auto& [a, b, c, d] : mesh.tets) {
    const TetCorners tet = {mesh.nodes[a], mesh.nodes[b], mesh.nodes[c], mesh.nodes[d]};
    const std::optional<TriangleCut> cut = CutTriangle(triangle, tet);
    REQUIRE(cut.has_value());
    if (cut->count == 0) continue;
    const double area = AreaOf(triangle, tet, *cut);
    CHECK(area > -1e-12);
    sum += area;
  }
  const double area = 0.5 * Length(Cross(triangle[1] - triangle[0], triangle[2] - triangle[0]));
  CHECK(std::abs(sum - area) < 1e-11);
}

TEST_CASE("Parts of random triangles make up the triangles") {
  const TetMesh mesh = plush::test::TetBox(3, 3, 3, 1.0, 0.09, 5);
  std::mt19937 random(11);
  std::uniform_real_distribution<double> in(0.2, 2.8);
  for (int i = 0; i < 2000; ++i) {
    const Triangle triangle = {Vec3d{in(random), in(random), in(random)},
                               Vec3d{in(random), in(random), in(random)},
                               Vec3d{in(random), in(random), in(random)}};
    CheckParts(triangle, mesh);
  }
}

TEST_CASE("Parts make up triangles that share corners, edges and planes with the lattice") {
  const TetMesh mesh = plush::test::TetBox(3, 3, 3, 1.0);
  std::mt19937 random(12);
  // Half units: nodes, midpoints of edges and faces, and everything parallel to them.
  std::uniform_int_distribution<int> in(1, 5);
  int cut = 0;
  while (cut < 3000) {
    Triangle triangle;
    for (Vec3d& p : triangle) p = Vec3d{0.5 * in(random), 0.5 * in(random), 0.5 * in(random)};
    if (Length(Cross(triangle[1] - triangle[0], triangle[2] - triangle[0])) == 0.0) continue;
    CheckParts(triangle, mesh);
    ++cut;
  }
}

TEST_CASE("A triangle in a tet stays whole and one outside leaves nothing") {
  const TetCorners tet = {Vec3d{0, 0, 0}, Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}};
  const auto whole =
      CutTriangle({Vec3d{0.1, 0.1, 0.1}, Vec3d{0.3, 0.1, 0.1}, Vec3d{0.1, 0.3, 0.2}}, tet);
  REQUIRE(whole.has_value());
  CHECK(whole->IsWhole());
  const auto nothing = CutTriangle({Vec3d{1, 1, 1}, Vec3d{2, 1, 1}, Vec3d{1, 2, 1}}, tet);
  REQUIRE(nothing.has_value());
  CHECK(nothing->count == 0);
}

TEST_CASE("A plane through a tet leaves its section, counter-clockwise") {
  const TetCorners tet = {Vec3d{0, 0, 0}, Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}};
  for (const double sign : {1.0, -1.0}) {
    const Triangle triangle = {Vec3d{-9, -9 * sign, 0.25}, Vec3d{9, -9 * sign, 0.25},
                               Vec3d{0, 9 * sign, 0.25}};
    const auto cut = CutTriangle(triangle, tet);
    REQUIRE(cut.has_value());
    CHECK(cut->count == 3);
    CHECK(AreaOf(triangle, tet, *cut) == Approx(0.5 * 0.75 * 0.75));
  }
}

}  // namespace triangle_cut_test
