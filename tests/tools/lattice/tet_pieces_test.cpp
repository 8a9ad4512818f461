// SPDX-License-Identifier: MIT
// Pieces of surfaces in one tet: sheets, strands, tubes, cavities, overlaps.
#include "lattice/tet_pieces.h"

#include "solid/triangle_tet_overlap.h"
#include "tools/cage/cage_fixtures.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <optional>

using namespace plush::tools;
using namespace plush::tests;

namespace tet_pieces_test {

using Tet = std::array<Vec3d, 4>;

// The tet in which most tests look for pieces.
const Tet kTet = {Vec3d{0, 0, 0}, Vec3d{3, 0, 0}, Vec3d{0, 3, 0}, Vec3d{0, 0, 3}};

struct Found {
  std::vector<uint32_t> triangles;
  TetPieces pieces;
};

Found PiecesIn(const Solid& solid, const Tet& tet, bool join_parts = false) {
  constexpr double kClearance = 1e-3;
  Found found;
  for (uint32_t t = 0; t < solid.surface.triangles.size(); ++t) {
    const auto& [a, b, c] = solid.surface.triangles[t];
    if (TriangleMayTouchTet(
            {solid.surface.points[a], solid.surface.points[b], solid.surface.points[c]}, tet,
            kClearance)) {
      found.triangles.push_back(t);
    }
  }
  std::array<bool, 4> corners;
  for (size_t i = 0; i < 4; ++i) corners[i] = solid.inside.IsInside(tet[i]);
  PieceFinder finder(solid.surface, solid.links, solid.inside, kClearance, join_parts);
  found.pieces = finder.Find(tet, found.triangles, corners);
  REQUIRE(found.pieces.of_triangle.size() == found.triangles.size());
  for (size_t i = 0; i < 4; ++i) CHECK((found.pieces.of_corner[i] != kNoPiece) == corners[i]);
  return found;
}

int CountIn(const SurfaceMesh& mesh, bool join_parts = false, const Tet& tet = kTet) {
  return PiecesIn(Solid(mesh), tet, join_parts).pieces.count;
}

// A tube of n segments along y: an outer wall, an inner wall, and rings at both ends.
SurfaceMesh MakeTube(const Vec3d& base, double inner, double outer, double length, uint32_t n) {
  SurfaceMesh mesh;
  for (uint32_t i = 0; i < n; ++i) {
    const double turn = 2.0 * 3.14159265358979323846 * i / n;
    const Vec3d out = {std::cos(turn), 0.0, std::sin(turn)};
    mesh.positions.push_back(base + out * outer);
    mesh.positions.push_back(base + out * outer + Vec3d{0, length, 0});
    mesh.positions.push_back(base + out * inner + Vec3d{0, length, 0});
    mesh.positions.push_back(base + out * inner);
  }
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t next = (i + 1) % n;
    for (uint32_t side = 0; side < 4; ++side) {
      const uint32_t a = 4 * i + side, b = 4 * i + (side + 1) % 4, c = 4 * next + (side + 1) % 4;
      const uint32_t d = 4 * next + side;
      mesh.triangles.push_back({a, b, c});
      mesh.triangles.push_back({a, c, d});
    }
  }
  CompleteMesh(&mesh);
  return mesh;
}

// A square sheet without thickness across the tet, at this x.
SurfaceMesh MakeSheet(double x) {
  SurfaceMesh mesh = {.positions = {{x, -5, -5}, {x, 5, -5}, {x, 5, 5}, {x, -5, 5}}};
  mesh.triangles = {{0, 1, 2}, {0, 2, 3}};
  CompleteMesh(&mesh);
  return mesh;
}

TEST_CASE("One sheet, one surface, one slab make one piece") {
  CHECK(CountIn(MakeSheet(0.5)) == 1);
  CHECK(CountIn(MakeBox({0.5, -5, -5}, {9, 5, 5})) == 1);    // one side of the box is in the tet
  CHECK(CountIn(MakeBox({0.5, -5, -5}, {0.6, 5, 5})) == 1);  // two sides, joined only outside it
  CHECK(CountIn(MakeBox({0.2, 0.2, 0.2}, {0.4, 0.4, 0.4})) == 1);
  CHECK(CountIn(MakeSphere(9.0, 12, 18, {0, 9.5, 0})) == 1);
}

TEST_CASE("Separate strands are separate pieces") {
  const SurfaceMesh two =
      Joined(MakeBox({0.2, -5, 0.2}, {0.5, 5, 0.5}), MakeBox({0.8, -5, 0.2}, {1.1, 5, 0.5}));
  CHECK(CountIn(two) == 2);
  const SurfaceMesh three = Joined(two, MakeBox({0.2, -5, 0.8}, {0.5, 5, 1.1}));
  CHECK(CountIn(three) == 3);
  CHECK(CountIn(MakeTwoFingers(0.2, 0.1), false,
                {Vec3d{0.2, 0.7, 0.1}, Vec3d{0.9, 0.7, 0.1}, Vec3d{0.5, 1.2, 0.1},
                 Vec3d{0.5, 0.8, 0.35}}) == 2);
  // The fingers are one piece if the palm lies in the tet too.
  CHECK(CountIn(MakeTwoFingers(0.2, 0.1), false,
                {Vec3d{-1, -1, -1}, Vec3d{5, -1, -1}, Vec3d{-1, 5, -1}, Vec3d{-1, -1, 5}}) == 1);
  // Two open sheets enclose nothing.
  CHECK(CountIn(Joined(MakeSheet(0.4), MakeSheet(0.8))) == 2);
}

TEST_CASE("Parts within a tet are joined on demand, strands of one part are not") {
  const SurfaceMesh two =
      Joined(MakeBox({0.2, -5, 0.2}, {0.5, 5, 0.5}), MakeBox({0.8, -5, 0.2}, {1.1, 5, 0.5}));
  CHECK(CountIn(two, true) == 1);
  CHECK(CountIn(MakeTwoFingers(0.2, 0.1), true,
                {Vec3d{0.2, 0.7, 0.1}, Vec3d{0.9, 0.7, 0.1}, Vec3d{0.5, 1.2, 0.1},
                 Vec3d{0.5, 0.8, 0.35}}) == 2);
}

TEST_CASE("Walls of one piece of material belong together") {
  CHECK(CountIn(MakeTube({0.6, -5, 0.6}, 0.2, 0.5, 10, 24)) == 1);
  CHECK(CountIn(MakeTube({0.6, 0.1, 0.6}, 0.2, 0.5, 0.5, 24)) == 1);
  CHECK(CountIn(MakeNestedShells(false, true), false,
                {Vec3d{-3, -3, -3}, Vec3d{9, -3, -3}, Vec3d{-3, 9, -3}, Vec3d{-3, -3, 9}}) == 1);
  // A ball in the cavity touches nothing: it is a second piece.
  const SurfaceMesh ball = MakeSphere(0.3, 12, 18);
  CHECK(CountIn(Joined(MakeNestedShells(false, true), ball), false,
                {Vec3d{-3, -3, -3}, Vec3d{9, -3, -3}, Vec3d{-3, 9, -3}, Vec3d{-3, -3, 9}}) == 2);
}

TEST_CASE("Parts that overlap are one piece") {
  CHECK(CountIn(Joined(MakeBox({0.2, -5, 0.2}, {0.5, 5, 0.5}),
                       MakeBox({0.4, -5, 0.3}, {0.9, 5, 0.6}))) == 1);
  // One sphere inside the other, without a cavity: material everywhere.
  CHECK(CountIn(MakeNestedShells(false, false), false,
                {Vec3d{-3, -3, -3}, Vec3d{9, -3, -3}, Vec3d{-3, 9, -3}, Vec3d{-3, -3, 9}}) == 1);
}

// Where a ray first meets one of the triangles, and the triangle's index in the list.
std::optional<std::pair<double, size_t>> FirstHit(const SolidSurface& surface,
                                                  const std::vector<uint32_t>& triangles,
                                                  const Vec3d& from, const Vec3d& along) {
  std::optional<std::pair<double, size_t>> first;
  for (size_t i = 0; i < triangles.size(); ++i) {
    const auto& [p, q, r] = surface.triangles[triangles[i]];
    const Vec3d a = surface.points[p], u = surface.points[q] - a, v = surface.points[r] - a;
    const double determinant = Dot(u, Cross(along, v));
    if (std::abs(determinant) < 1e-14) continue;
    const double s = Dot(from - a, Cross(along, v)) / determinant;
    const double t = Dot(along, Cross(from - a, u)) / determinant;
    const double at = Dot(v, Cross(from - a, u)) / determinant;
    if (s < 0.0 || t < 0.0 || s + t > 1.0 || at <= 0.0) continue;
    if (!first || at < first->first) first = {at, i};
  }
  return first;
}

bool LiesIn(const Vec3d& p, const Tet& tet) {
  const auto& [a, b, c, d] = tet;
  return SixVolume(p, b, c, d) >= 0.0 && SixVolume(a, p, c, d) >= 0.0 &&
         SixVolume(a, b, p, d) >= 0.0 && SixVolume(a, b, c, p) >= 0.0;
}

TEST_CASE("Both ends of a straight way through material within a tet are of one piece") {
  constexpr uint32_t kSeed = 72;
  RandomNumbers random(kSeed);
  int ways = 0, several = 0;
  const SurfaceMesh shapes[] = {MakeTorus(1.0, 0.25, 32, 16), MakeTwoFingers(0.2, 0.06),
                                MakeNestedShells(false, true), MakeOverlappingBoxes()};
  for (const SurfaceMesh& mesh : shapes) {
    const Solid solid(mesh);
    const Box3 box = BoxOf(solid.surface);
    for (int i = 0; i < 60; ++i) {
      Tet tet;
      for (Vec3d& corner : tet) corner = random.Point(box.low, box.high);
      if (SixVolume(tet[0], tet[1], tet[2], tet[3]) < 0.0) std::swap(tet[0], tet[1]);
      const Found found = PiecesIn(solid, tet);
      if (found.triangles.empty()) continue;
      several += found.pieces.count > 1 ? 1 : 0;
      for (int k = 0; k < 200; ++k) {
        Vec3d from = tet[0];
        for (int leg = 1; leg < 4; ++leg) from += (tet[leg] - from) * random.In(0.0, 1.0);
        if (!LiesIn(from, tet) || !solid.inside.IsInside(from)) continue;
        const Vec3d along = random.Direction();
        const auto ahead = FirstHit(solid.surface, found.triangles, from, along);
        const auto behind = FirstHit(solid.surface, found.triangles, from, -along);
        if (!ahead || !behind) continue;
        if (!LiesIn(from + along * ahead->first, tet) ||
            !LiesIn(from - along * behind->first, tet)) {
          continue;
        }
        ++ways;
        INFO("seed " << kSeed << ", tet " << i);
        CHECK(found.pieces.of_triangle[ahead->second] == found.pieces.of_triangle[behind->second]);
      }
    }
  }
  CHECK(ways > 200);
  CHECK(several > 10);
}

}  // namespace tet_pieces_test
