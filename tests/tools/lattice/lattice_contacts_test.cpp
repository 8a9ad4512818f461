// SPDX-License-Identifier: MIT
// Contacts of lattice tets and triangles against a test of every pair.
#include "lattice/lattice_contacts.h"

#include "solid/triangle_tet_overlap.h"
#include "tools/cage/cage_fixtures.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <utility>

using namespace plush::tools;
using namespace plush::tests;

namespace {

using Pairs = std::set<std::pair<uint32_t, uint32_t>>;  // tet, triangle

std::array<Vec3d, 3> TriangleOf(const SolidSurface& surface, uint32_t t) {
  const auto& [a, b, c] = surface.triangles[t];
  return {surface.points[a], surface.points[b], surface.points[c]};
}

bool LiesIn(const Vec3d& p, const std::array<Vec3d, 4>& tet) {
  const auto& [a, b, c, d] = tet;
  return SixVolume(p, b, c, d) >= 0.0 && SixVolume(a, p, c, d) >= 0.0 &&
         SixVolume(a, b, p, d) >= 0.0 && SixVolume(a, b, c, p) >= 0.0;
}

double DistanceFromTet(const std::array<Vec3d, 3>& triangle, const std::array<Vec3d, 4>& tet) {
  if (LiesIn(triangle[0], tet)) return 0.0;
  double least = INFINITY;
  for (size_t i = 0; i < 4; ++i) {
    const auto [a, b, c] = FaceOf({0, 1, 2, 3}, i);
    least = std::min(least, TriangleDistance(triangle, {tet[a], tet[b], tet[c]}));
  }
  return least;
}

}  // namespace

TEST_CASE("Contacts are all near pairs, as found by testing every tet with every triangle") {
  for (const LatticeKind kind : {LatticeKind::kBcc, LatticeKind::kCube5}) {
    const std::pair<SurfaceMesh, double> shapes[] = {{MakeSphere(1.0, 8, 12), 0.45},
                                                     {MakeBox({0, 0, 0}, {1, 2, 3}), 0.6},
                                                     {MakeTriangleSoup(40, 0.5, 3), 0.25}};
    for (const auto& [mesh, cell] : shapes) {
      const Solid solid(mesh);
      const Lattice lattice = LatticeAround(solid, kind, cell);
      for (const double clearance : {0.0, 0.05 * cell}) {
        const LatticeContacts contacts = FindContacts(lattice, solid.surface, clearance);
        CHECK(std::is_sorted(contacts.tets.begin(), contacts.tets.end()));
        REQUIRE(contacts.starts.size() == contacts.tets.size() + 1);
        Pairs found;
        for (size_t i = 0; i < contacts.tets.size(); ++i) {
          const auto triangles = contacts.TrianglesOf(i);
          CHECK(std::is_sorted(triangles.begin(), triangles.end()));
          CHECK_FALSE(triangles.empty());
          for (const uint32_t t : triangles) {
            CHECK(found.emplace(contacts.tets[i], t).second);
          }
        }
        // The tets that exist are those that are a neighbour of another one.
        std::set<uint32_t> tets;
        for (uint32_t t = 0; t < lattice.num_tets(); ++t) {
          for (uint32_t face = 0; face < 4; ++face) tets.insert(lattice.Neighbour(t, face));
        }
        tets.erase(kNoTet);
        Pairs expected;
        size_t missed = 0;
        for (const uint32_t tet : tets) {
          const auto corners = lattice.TetCorners(tet);
          for (uint32_t t = 0; t < solid.surface.triangles.size(); ++t) {
            const auto triangle = TriangleOf(solid.surface, t);
            if (!TriangleMayTouchTet(triangle, corners, clearance)) continue;
            expected.emplace(tet, t);
            if (found.count({tet, t}) == 0 && DistanceFromTet(triangle, corners) <= clearance) {
              ++missed;
            }
          }
        }
        CHECK(missed == 0);
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
  SurfaceMesh mesh;
  mesh.positions = {{0, 0, 0}, {7, 0.3, 0.1}, {0.2, 6, 7}};
  mesh.triangles = {{0, 1, 2}};
  CompleteMesh(&mesh);
  const Solid solid(mesh);
  const Lattice lattice = LatticeAround(solid, LatticeKind::kBcc, 0.4);
  const LatticeContacts contacts = FindContacts(lattice, solid.surface, 1e-3);
  size_t expected = 0;
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
    expected += TriangleMayTouchTet(TriangleOf(solid.surface, 0), lattice.TetCorners(t), 1e-3);
  }
  CHECK(contacts.tets.size() == expected);
  CHECK(expected > 1000);
}
