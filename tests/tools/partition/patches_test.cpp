// SPDX-License-Identifier: MIT
// Euler characteristics of known surfaces, and their division into discs.
#include "partition/patches.h"

#include "mesh/topology.h"
#include "tools/partition/partition_fixtures.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace plush::tools;
using namespace plush::tests;

namespace patches_test {

// The mesh inside one tet.
CutSurface InOneTet(const SurfaceMesh& mesh) {
  CutSurface surface = {.points = mesh.positions};
  surface.triangles = mesh.triangles;
  surface.tets.assign(mesh.triangles.size(), 0);
  surface.opposite = PairHalfEdges(mesh.positions, mesh.triangles);
  return surface;
}

// An open band: a torus cut along two circles.
SurfaceMesh Band(uint32_t segments) {
  SurfaceMesh mesh = MakeTorus(1.0, 0.2, segments, 8);
  std::erase_if(mesh.triangles, [&mesh](const auto& t) {
    Vec3d middle;
    for (const uint32_t p : t) middle += mesh.positions[p] / 3.0;
    return Length(Vec3d{middle.x, 0.0, middle.z}) < 1.0;
  });
  return mesh;
}

std::vector<std::vector<uint32_t>> TrianglesOf(const SurfacePatches& patches) {
  std::vector<std::vector<uint32_t>> triangles(patches.tets.size());
  for (uint32_t t = 0; t < patches.of_triangle.size(); ++t) {
    triangles[patches.of_triangle[t]].push_back(t);
  }
  return triangles;
}

void CheckDiscs(const CutSurface& surface, const SurfacePatches& patches) {
  const auto triangles = TrianglesOf(patches);
  for (uint32_t p = 0; p < triangles.size(); ++p) {
    INFO("patch " << p << " of " << triangles.size());
    REQUIRE_FALSE(triangles[p].empty());
    CHECK(EulerCharacteristic(surface, triangles[p], patches.of_triangle, p) == 1);
  }
}

TEST_CASE("Euler characteristics of known surfaces") {
  CHECK(EulerOf(InOneTet(MakeSphere(1.0, 8, 12))) == 2);
  CHECK(EulerOf(InOneTet(MakeTorus(1.0, 0.3, 12, 8))) == 0);
  CHECK(EulerOf(InOneTet(MakeOpenBox({0, 0, 0}, {1, 1, 1}))) == 1);
  CHECK(EulerOf(InOneTet(Band(12))) == 0);
  CHECK(EulerOf(InOneTet(Joined(MakeBox({0, 0, 0}, {1, 1, 1}), MakeBox({3, 0, 0}, {4, 1, 1})))) ==
        4);
}

TEST_CASE("Surfaces that are not discs are cut into few discs") {
  const std::vector<std::pair<SurfaceMesh, size_t>> cases = {{MakeOpenBox({0, 0, 0}, {1, 1, 1}), 1},
                                                             {MakeSphere(1.0, 8, 12), 2},
                                                             {Band(24), 4},
                                                             {MakeTorus(1.0, 0.3, 24, 12), 6}};
  for (const auto& [mesh, most] : cases) {
    const CutSurface surface = InOneTet(mesh);
    const SurfacePatches patches = FindPatches(surface);
    CHECK(patches.num_cut == (most == 1 ? 0 : 1));
    CHECK(patches.tets.size() <= most);
    CheckDiscs(surface, patches);
  }
}

TEST_CASE("Patches end at tet borders and are ordered by tet") {
  CutSurface surface = InOneTet(MakeGridBox({0, 0, 0}, {1, 1, 1}, 6));
  for (uint32_t t = 0; t < surface.triangles.size(); ++t) {
    const Vec3d& p = surface.points[surface.triangles[t][0]];
    surface.tets[t] = p.x < 0.5 ? 7 : (p.y < 0.5 ? 3 : 5);
  }
  const SurfacePatches patches = FindPatches(surface);
  CheckDiscs(surface, patches);
  CHECK(std::is_sorted(patches.tets.begin(), patches.tets.end()));
  for (uint32_t t = 0; t < surface.triangles.size(); ++t) {
    CHECK(patches.tets[patches.of_triangle[t]] == surface.tets[t]);
  }
}

TEST_CASE("A soup of triangles has one disc per triangle") {
  const CutSurface surface = InOneTet(MakeTriangleSoup(50, 0.1, 3));
  CHECK(FindPatches(surface).tets.size() == 50);
}

}  // namespace patches_test
