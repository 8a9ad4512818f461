// SPDX-License-Identifier: MIT
// Contacts of lattice tets and triangles against the distance of every pair.
#include "lattice/lattice_contacts.h"

#include "solid/triangle_tet_overlap.h"
#include "tools/cage/cage_fixtures.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

using namespace plush::tools;
using namespace plush::tests;

namespace lattice_contacts_test {

using Pairs = std::set<std::pair<uint32_t, uint32_t>>;  // tet, triangle

std::array<Vec3d, 3> TriangleOf(const SolidSurface& surface, uint32_t t) {
  const auto& [a, b, c] = surface.triangles[t];
  return {surface.points[a], surface.points[b], surface.points[c]};
}

// A plane through a face of a tet; its normal has unit length and points inwards.
struct Plane {
  Vec3d point;
  Vec3d normal;
  double Height(const Vec3d& p) const { return Dot(normal, p - point); }
};

std::array<Plane, 4> PlanesOf(const std::array<Vec3d, 4>& tet) {
  std::array<Plane, 4> planes;
  for (size_t i = 0; i < 4; ++i) {
    const Vec3d& a = tet[(i + 1) % 4];
    Vec3d normal = Cross(tet[(i + 2) % 4] - a, tet[(i + 3) % 4] - a);
    normal = normal / Length(normal);
    planes[i] = {a, Dot(normal, tet[i] - a) > 0.0 ? normal : -normal};
  }
  return planes;
}

// Whether a part of the triangle lies at least `depth` inside all four planes: clips it by each.
bool ReachesInto(const std::array<Vec3d, 3>& triangle, const std::array<Plane, 4>& planes,
                 double depth) {
  std::vector<Vec3d> polygon(triangle.begin(), triangle.end());
  for (const Plane& plane : planes) {
    std::vector<Vec3d> inside;
    for (size_t i = 0; i < polygon.size(); ++i) {
      const Vec3d& p = polygon[i];
      const Vec3d& q = polygon[(i + 1) % polygon.size()];
      const double hp = plane.Height(p) - depth, hq = plane.Height(q) - depth;
      if (hp >= 0.0) inside.push_back(p);
      if ((hp >= 0.0) != (hq >= 0.0)) inside.push_back(p + (q - p) * (hp / (hp - hq)));
    }
    polygon = std::move(inside);
  }
  return !polygon.empty();
}

double PointToSegment(const Vec3d& p, const Vec3d& a, const Vec3d& b) {
  const double t = Dot(p - a, b - a) / std::max(LengthSquared(b - a), 1e-300);
  return Length(p - (a + (b - a) * std::clamp(t, 0.0, 1.0)));
}

double PointToTriangle(const Vec3d& p, const std::array<Vec3d, 3>& t) {
  const Vec3d normal = Cross(t[1] - t[0], t[2] - t[0]);
  bool is_above = LengthSquared(normal) > 0.0;
  double least = INFINITY;
  for (size_t i = 0; i < 3; ++i) {
    const Vec3d& a = t[i];
    const Vec3d& b = t[(i + 1) % 3];
    is_above = is_above && Dot(Cross(normal, b - a), p - a) >= 0.0;
    least = std::min(least, PointToSegment(p, a, b));
  }
  return is_above ? std::min(least, std::abs(Dot(normal, p - t[0])) / Length(normal)) : least;
}

double SegmentToSegment(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d) {
  double least = std::min({PointToSegment(a, c, d), PointToSegment(b, c, d),
                           PointToSegment(c, a, b), PointToSegment(d, a, b)});
  // Where the connection is perpendicular to both.
  const Vec3d u = b - a, v = d - c;
  const double det = LengthSquared(u) * LengthSquared(v) - Dot(u, v) * Dot(u, v);
  if (det > 0.0) {
    const double s = (Dot(c - a, u) * LengthSquared(v) - Dot(c - a, v) * Dot(u, v)) / det;
    const double r = (Dot(c - a, u) * Dot(u, v) - Dot(c - a, v) * LengthSquared(u)) / det;
    if (s >= 0.0 && s <= 1.0 && r >= 0.0 && r <= 1.0) {
      least = std::min(least, Length(a + u * s - c - v * r));
    }
  }
  return least;
}

// The distance, from all pairs of corners and faces and of edges.
double DistanceFromTet(const std::array<Vec3d, 3>& triangle, const std::array<Vec3d, 4>& tet,
                       const std::array<Plane, 4>& planes) {
  if (ReachesInto(triangle, planes, 0.0)) return 0.0;
  double least = INFINITY;
  for (size_t i = 0; i < 4; ++i) {
    least = std::min(least, PointToTriangle(tet[i], triangle));
    const std::array<Vec3d, 3> face = {tet[(i + 1) % 4], tet[(i + 2) % 4], tet[(i + 3) % 4]};
    for (const Vec3d& corner : triangle) least = std::min(least, PointToTriangle(corner, face));
    for (size_t j = 0; j < i; ++j) {
      for (size_t k = 0; k < 3; ++k) {
        least =
            std::min(least, SegmentToSegment(tet[i], tet[j], triangle[k], triangle[(k + 1) % 3]));
      }
    }
  }
  return least;
}

// How many times the clearance a pair may be apart that no axis separates.
// - The axes separate all pairs except those that come nearest at a corner of the tet, or along an
//   edge.
// - There, the three planes at the corner separate a pair unless the triangle comes nearer than
//   |w| times the clearance, where w solves Dot(normal, w) = 1 for the three normals: moved
//   outwards by the clearance, the planes meet there. The normals lie in a cap about w of cosine 1
//   / |w|. A direction between them lies as near to one of them, and the axes of triangle and tet
//   together divide that range further.
double LargestReach(const std::array<Plane, 4>& planes) {
  double reach = 1.0;
  for (size_t i = 0; i < 4; ++i) {
    const Vec3d& a = planes[(i + 1) % 4].normal;
    const Vec3d& b = planes[(i + 2) % 4].normal;
    const Vec3d& c = planes[(i + 3) % 4].normal;
    const Vec3d w = (Cross(b, c) + Cross(c, a) + Cross(a, b)) / Dot(a, Cross(b, c));
    reach = std::max(reach, Length(w));
  }
  return reach;
}

// How a pair must be classified for a clearance. The reference does not decide pairs between both.
enum class Nearness { kNear, kUndecided, kFar };

Nearness NearnessOf(const std::array<Vec3d, 3>& triangle, const std::array<Vec3d, 4>& tet,
                    double clearance) {
  const std::array<Plane, 4> planes = PlanesOf(tet);
  double size = 0.0;
  Vec3d low = tet[0], high = tet[0];
  for (const Vec3d& p : tet) {
    size = std::max(size, Length(p - tet[0]));
    low = Min(low, p);
    high = Max(high, p);
  }
  const double margin = 1e-9 * size;  // far above the rounding of this reference
  const double far = LargestReach(planes) * clearance + margin;
  const Vec3d apart = Max(low - Max(Max(triangle[0], triangle[1]), triangle[2]),
                          Min(Min(triangle[0], triangle[1]), triangle[2]) - high);
  if (std::max({apart.x, apart.y, apart.z}) > far) return Nearness::kFar;
  if (ReachesInto(triangle, planes, margin)) return Nearness::kNear;
  const double distance = DistanceFromTet(triangle, tet, planes);
  if (distance > far) return Nearness::kFar;
  return distance < clearance - margin ? Nearness::kNear : Nearness::kUndecided;
}

TEST_CASE("Contacts are all near pairs, as found by testing every tet with every triangle",
          "[long]") {
  for (const LatticeKind kind : {LatticeKind::kBcc, LatticeKind::kCube5}) {
    const std::pair<SurfaceMesh, double> shapes[] = {{MakeSphere(1.0, 8, 12), 0.45},
                                                     {MakeBox({0, 0, 0}, {1, 2, 3}), 0.6},
                                                     {MakeTriangleSoup(40, 0.5, 3), 0.25}};
    for (const auto& [mesh, cell] : shapes) {
      const Solid solid(mesh);
      const Lattice lattice = LatticeAround(solid, kind, cell);
      for (const double clearance : {0.0, 0.05 * cell}) {
        const auto result = FindContacts(lattice, solid.surface, clearance);
        REQUIRE(result.ok());
        const LatticeContacts& contacts = result.value();
        CHECK(std::is_sorted(contacts.tets.begin(), contacts.tets.end()));
        REQUIRE(contacts.starts.size() == contacts.tets.size() + 1);
        Pairs found;
        for (size_t i = 0; i < contacts.tets.size(); ++i) {
          const auto triangles = contacts.TrianglesOf(i);
          CHECK(std::is_sorted(triangles.begin(), triangles.end()));
          CHECK_FALSE(triangles.empty());
          for (const uint32_t t : triangles) CHECK(found.emplace(contacts.tets[i], t).second);
        }
        // The tets that exist are those that are a neighbour of another one.
        std::set<uint32_t> tets;
        for (uint32_t t = 0; t < lattice.num_tets(); ++t) {
          for (uint32_t face = 0; face < 4; ++face) tets.insert(lattice.Neighbour(t, face));
        }
        tets.erase(kNoTet);
        Pairs expected;
        size_t missed = 0, near = 0;
        for (const uint32_t tet : tets) {
          const auto corners = lattice.TetCorners(tet);
          for (uint32_t t = 0; t < solid.surface.triangles.size(); ++t) {
            const auto triangle = TriangleOf(solid.surface, t);
            const Nearness nearness = NearnessOf(triangle, corners, clearance);
            if (nearness == Nearness::kFar) continue;
            if (nearness == Nearness::kNear) {
              ++near;
              missed += found.contains({tet, t}) ? 0 : 1;
            } else if (!TriangleMayTouchTet(triangle, corners, clearance)) {
              continue;
            }
            expected.emplace(tet, t);
          }
        }
        CAPTURE(cell, clearance, near, expected.size(), found.size());
        CHECK(missed == 0);
        // The tet at each triangle's first corner is near.
        if (clearance > 0.0) CHECK(near >= solid.surface.triangles.size());
        // Nothing else is found. `expected` may hold more pairs: beyond corners, separating axes
        // underestimate the distance.
        const bool within =
            std::includes(expected.begin(), expected.end(), found.begin(), found.end());
        CHECK(within);
        CHECK(found.size() > 0.97 * expected.size());
        if (clearance == 0.0) CHECK(found.size() == expected.size());
      }
    }
  }
}

TEST_CASE("A triangle across the whole lattice is followed through all its tets") {
  SurfaceMesh mesh = {.positions = {{0, 0, 0}, {7, 0.3, 0.1}, {0.2, 6, 7}}};
  mesh.triangles = {{0, 1, 2}};
  CompleteMesh(&mesh);
  const Solid solid(mesh);
  const Lattice lattice = LatticeAround(solid, LatticeKind::kBcc, 0.4);
  const auto contacts = FindContacts(lattice, solid.surface, 1e-3);
  REQUIRE(contacts.ok());
  const auto& tets = contacts.value().tets;
  const std::set<uint32_t> found(tets.begin(), tets.end());
  size_t near = 0, undecided = 0, missed = 0, wrong = 0;
  for (uint32_t t = 0; t < lattice.num_tets(); ++t) {
    bool exists = false;
    for (uint32_t face = 0; face < 4; ++face) {
      const uint32_t other = lattice.Neighbour(t, face);
      exists = exists || (other != kNoTet && [&] {
                 for (uint32_t f = 0; f < 4; ++f) {
                   if (lattice.Neighbour(other, f) == t) return true;
                 }
                 return false;
               }());
    }
    if (!exists) continue;
    const auto triangle = TriangleOf(solid.surface, 0);
    const auto corners = lattice.TetCorners(t);
    const Nearness nearness = NearnessOf(triangle, corners, 1e-3);
    const bool is_expected =
        nearness == Nearness::kNear ||
        (nearness == Nearness::kUndecided && TriangleMayTouchTet(triangle, corners, 1e-3));
    near += nearness == Nearness::kNear ? 1 : 0;
    undecided += nearness == Nearness::kUndecided ? 1 : 0;
    missed += is_expected && !found.contains(t) ? 1 : 0;
    wrong += !is_expected && found.contains(t) ? 1 : 0;
  }
  CAPTURE(near, undecided, found.size());
  CHECK(missed == 0);
  CHECK(wrong == 0);
  // A plane meets 0.33 m / 0.0053 m^3 = 62 tets per square metre, their mean width over their
  // volume, and the triangle has 32 m^2.
  CHECK(near > 1000);
  CHECK(undecided < near / 20);
}

}  // namespace lattice_contacts_test
