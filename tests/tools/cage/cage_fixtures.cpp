// SPDX-License-Identifier: MIT
// Makes solids and cages as the bake does, and measures them by direct formulas.
#include "tools/cage/cage_fixtures.h"

#include "mesh/disjoint_sets.h"
#include "mesh/exact_predicates.h"
#include "mesh/tet_mesh.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

namespace plush::tests {

using namespace tools;

Solid::Solid(const SurfaceMesh& mesh)
    : surface(MakeSolidSurface(mesh, &findings)),
      inside(surface),
      links(MakeSurfaceLinks(surface)),
      diagonal(Length(BoxOf(surface).Extent())) {}

Lattice LatticeAround(const Solid& solid, LatticeKind kind, double cell) {
  const Box3 box = BoxOf(solid.surface);
  auto lattice = Lattice::Make(kind, box.low, box.high, cell, CentredShift(kind));
  if (!lattice.ok()) FAIL(lattice.error().message);
  return std::move(lattice.value());
}

SplitCage SplitOf(const Solid& solid, const Lattice& lattice, double clearance, bool join_parts) {
  const auto contacts = FindContacts(lattice, solid.surface, clearance);
  if (!contacts.ok()) FAIL(contacts.error().message);
  auto cage = SplitLattice(lattice, solid.surface, solid.links, solid.inside, contacts.value(),
                           clearance, join_parts);
  if (!cage.ok()) FAIL(cage.error().message);
  return std::move(cage.value());
}

LatticeCage CageOf(Solid* solid, const CageSettings& settings) {
  auto cage = BuildLatticeCage(solid->surface, solid->inside, settings, &solid->findings);
  if (!cage.ok()) FAIL(cage.error().message);
  return std::move(cage.value());
}

double LeastSixVolume(const TetMesh& mesh) {
  double least = INFINITY;
  for (size_t t = 0; t < mesh.tets.size(); ++t) {
    const auto [a, b, c, d] = CornersOf(mesh, t);
    least = std::min(least, SixVolume(a, b, c, d));
  }
  return least;
}

std::array<double, 6> AnglesOf(const std::array<Vec3d, 4>& tet) {
  constexpr double kDegrees = 57.295779513082320877;
  std::array<double, 6> angles = {};
  size_t count = 0;
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = i + 1; j < 4; ++j) {
      size_t k = 0;
      while (k == i || k == j) ++k;
      const size_t l = 6 - i - j - k;
      // Projects both other edges at corner i onto the plane perpendicular to this one.
      const Vec3d edge = (tet[j] - tet[i]) / Length(tet[j] - tet[i]);
      Vec3d a = tet[k] - tet[i], b = tet[l] - tet[i];
      a = a - edge * Dot(a, edge);
      b = b - edge * Dot(b, edge);
      angles[count++] = std::atan2(Length(Cross(a, b)), Dot(a, b)) * kDegrees;
    }
  }
  return angles;
}

double LeastDihedral(const TetMesh& mesh) {
  double least = 180.0;
  for (size_t t = 0; t < mesh.tets.size(); ++t) {
    const auto angles = AnglesOf(CornersOf(mesh, t));
    least = std::min(least, *std::min_element(angles.begin(), angles.end()));
  }
  return least;
}

uint32_t NumComponents(const TetMesh& mesh) {
  DisjointSets sets(static_cast<uint32_t>(mesh.nodes.size()));
  auto count = static_cast<uint32_t>(mesh.nodes.size());
  for (const auto& tet : mesh.tets) {
    for (const uint32_t node : tet) count -= sets.Join(tet[0], node) ? 1 : 0;
  }
  return count;
}

namespace {

double SegmentDistance(const Vec3d& p, const Vec3d& q, const Vec3d& a, const Vec3d& b) {
  const Vec3d u = q - p, v = b - a, w = p - a;
  const double uu = Dot(u, u), uv = Dot(u, v), vv = Dot(v, v), determinant = uu * vv - uv * uv;
  double s = determinant > 1e-14 * uu * vv ? (uv * Dot(v, w) - vv * Dot(u, w)) / determinant : 0.0;
  double t = 0.0;
  // Clamping each in turn, twice, suffices: the distance is convex.
  for (int i = 0; i < 2; ++i) {
    s = std::clamp(s, 0.0, 1.0);
    t = std::clamp((uv * s + Dot(v, w)) / vv, 0.0, 1.0);
    s = (uv * t - Dot(u, w)) / uu;
  }
  s = std::clamp(s, 0.0, 1.0);
  return Length(w + u * s - v * t);
}

}  // namespace

double TriangleDistance(const std::array<Vec3d, 3>& a, const std::array<Vec3d, 3>& b) {
  if (TrianglesIntersect(a, b)) return 0.0;
  double least = INFINITY;
  for (size_t i = 0; i < 3; ++i) {
    least = std::min({least, Length(a[i] - ClosestPointOnTriangle(a[i], b[0], b[1], b[2])),
                      Length(b[i] - ClosestPointOnTriangle(b[i], a[0], a[1], a[2]))});
    for (size_t j = 0; j < 3; ++j) {
      least = std::min(least, SegmentDistance(a[i], a[(i + 1) % 3], b[j], b[(j + 1) % 3]));
    }
  }
  return least;
}

bool AreSame(const LatticeCage& a, const LatticeCage& b) {
  return a.mesh.nodes == b.mesh.nodes && a.mesh.tets == b.mesh.tets &&
         a.tet_of_point == b.tet_of_point;
}

namespace {

// A prism over a counter-clockwise outline in the xy plane, which the given triangles fill.
SurfaceMesh MakePrism(const std::vector<std::array<double, 2>>& outline,
                      const std::vector<std::array<uint32_t, 3>>& filling, double depth) {
  SurfaceMesh mesh;
  const auto n = static_cast<uint32_t>(outline.size());
  for (const double z : {0.0, depth}) {
    for (const auto& [x, y] : outline) mesh.positions.push_back({x, y, z});
  }
  for (const auto& [a, b, c] : filling) {
    mesh.triangles.push_back({a, c, b});
    mesh.triangles.push_back({n + a, n + b, n + c});
  }
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t j = (i + 1) % n;
    mesh.triangles.push_back({i, j, n + j});
    mesh.triangles.push_back({i, n + j, n + i});
  }
  CompleteMesh(&mesh);
  return mesh;
}

}  // namespace

SurfaceMesh MakeTwoFingers(double width, double gap) {
  const double left = 0.5 - 0.5 * gap, right = 0.5 + 0.5 * gap;
  return MakePrism({{0.0, 0.0},
                    {1.0, 0.0},
                    {1.0, 0.3},
                    {right + width, 0.3},
                    {right + width, 1.3},
                    {right, 1.3},
                    {right, 0.3},
                    {left, 0.3},
                    {left, 1.3},
                    {left - width, 1.3},
                    {left - width, 0.3},
                    {0.0, 0.3}},
                   {{3, 4, 5},
                    {3, 5, 6},
                    {7, 8, 9},
                    {7, 9, 10},
                    {1, 2, 3},
                    {1, 3, 6},
                    {1, 6, 7},
                    {0, 1, 7},
                    {0, 7, 10},
                    {0, 10, 11}},
                   0.4);
}

Vec3d RandomNumbers::Direction() {
  for (;;) {
    const Vec3d v = Point({-1, -1, -1}, {1, 1, 1});
    const double length = Length(v);
    if (length > 0.1 && length <= 1.0) return v / length;
  }
}

}  // namespace plush::tests
