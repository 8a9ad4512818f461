// SPDX-License-Identifier: MIT
// Fitted cages against their guarantees: clearance by brute force, angles, volume, orientation.
#include "fit/cage_fit.h"

#include "fit/tet_quality.h"
#include "lattice/tet_neighbourhood.h"
#include "solid/solid_volume.h"
#include "tools/cage/cage_fixtures.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace plush::tools;
using namespace plush::tests;

namespace {

struct Shape {
  const char* name;
  SurfaceMesh mesh;
  double cell;
};

// Shapes thick enough for their cells: no tet has a copy.
std::vector<Shape> UnsplitShapes() {
  return {{"sphere", MakeSphere(1.0, 24, 36), 0.4},
          {"torus", MakeTorus(1.0, 0.4, 48, 24), 0.35},
          {"box", MakeBox({0, 0, 0}, {1, 2, 3}), 0.55},
          {"overlapping boxes", MakeOverlappingBoxes(), 0.3}};
}

FitSettings SettingsFor(const Solid& solid, FitMethod method, double cell) {
  FitSettings settings;
  settings.method = method;
  settings.clearance_m = 1e-3 * solid.diagonal;
  settings.cell_m = cell;
  settings.solid_volume_m3 = std::abs(SignedVolume(solid.surface));
  return settings;
}

// Least distance between a boundary face and a triangle of the surface [m].
double LeastClearance(const Solid& solid, const SplitCage& cage) {
  const CageFaces faces = FindCageFaces(cage.mesh);
  double least = INFINITY;
  for (const CageFace& face : faces.boundary) {
    const auto& [a, b, c] = face.nodes;
    const std::array<Vec3d, 3> corners = {cage.mesh.nodes[a], cage.mesh.nodes[b],
                                          cage.mesh.nodes[c]};
    Box3 box;
    for (const Vec3d& p : corners) box.Add(p);
    for (const auto& [p, q, r] : solid.surface.triangles) {
      const std::array<Vec3d, 3> triangle = {solid.surface.points[p], solid.surface.points[q],
                                             solid.surface.points[r]};
      Box3 other;
      for (const Vec3d& point : triangle) other.Add(point);
      const Vec3d apart = Max(other.low - box.high, box.low - other.high);
      if (std::max({apart.x, apart.y, apart.z}) > least) continue;
      least = std::min(least, TriangleDistance(corners, triangle));
    }
  }
  return least;
}

}  // namespace

TEST_CASE("A fitted boundary keeps its clearance from the surface, by brute force") {
  for (const LatticeKind kind : {LatticeKind::kBcc, LatticeKind::kCube5}) {
    for (const auto& [name, mesh, cell] : UnsplitShapes()) {
      for (const FitMethod method : {FitMethod::kSnug, FitMethod::kOdt}) {
        for (const double clearance : {1e-3, 5e-3}) {
          INFO(name << ", method " << static_cast<int>(method) << ", clearance " << clearance);
          const Solid solid(mesh);
          FitSettings settings = SettingsFor(solid, method, cell);
          settings.clearance_m = clearance * solid.diagonal;
          SplitCage cage = SplitOf(solid, LatticeAround(solid, kind, cell), settings.clearance_m);
          REQUIRE(cage.num_split_tets == 0);
          const double before = LeastClearance(solid, cage);
          FitCage(solid.surface, solid.inside, settings, &cage);
          const double least = LeastClearance(solid, cage);
          CHECK(before >= settings.clearance_m * (1.0 - 1e-6));
          CHECK(least >= settings.clearance_m * (1.0 - 1e-6));
          // The default method pulls the boundary close to the surface.
          if (method == FitMethod::kSnug) CHECK(least < 3.0 * settings.clearance_m);
        }
      }
    }
  }
}

TEST_CASE("Fits keep the guard, never invert, and the default never grows") {
  for (const LatticeKind kind : {LatticeKind::kBcc, LatticeKind::kCube5}) {
    std::vector<Shape> shapes = UnsplitShapes();
    shapes.push_back({"two fingers", MakeTwoFingers(0.25, 0.09), 0.3});
    shapes.push_back({"soup", MakeTriangleSoup(50, 0.3, 9), 0.2});
    shapes.push_back({"strip", MakeMoebiusStrip(1.0, 0.4, 48), 0.3});
    for (const auto& [name, mesh, cell] : shapes) {
      for (const FitMethod method : {FitMethod::kSnug, FitMethod::kOdt}) {
        for (const double guard : {5.0, 20.0, 45.0}) {
          INFO(name << ", method " << static_cast<int>(method) << ", guard " << guard);
          const Solid solid(mesh);
          FitSettings settings = SettingsFor(solid, method, cell);
          settings.min_dihedral_deg = guard;
          settings.solid_volume_m3 = std::max(settings.solid_volume_m3, 0.01);
          SplitCage cage = SplitOf(solid, LatticeAround(solid, kind, cell), settings.clearance_m);
          const double before = CageVolume(cage.mesh);
          const uint32_t passes = FitCage(solid.surface, solid.inside, settings, &cage);
          CHECK(passes > 0);
          CHECK(LeastSixVolume(cage.mesh) > 0.0);
          CHECK(LeastDihedral(cage.mesh) >= guard - 1e-5);
          if (method == FitMethod::kSnug) {
            CHECK(CageVolume(cage.mesh) <= before);
          }
          CHECK(FindCageCrossings(cage, FindCageFaces(cage.mesh), cell).empty());
        }
      }
    }
  }
}

TEST_CASE("FitMethod::kNone does not move the lattice, other methods do not move frozen nodes") {
  const Solid solid(MakeTorus(1.0, 0.4, 48, 24));
  const double cell = 0.35;
  const Lattice lattice = LatticeAround(solid, LatticeKind::kBcc, cell);
  FitSettings settings = SettingsFor(solid, FitMethod::kNone, cell);
  const SplitCage before = SplitOf(solid, lattice, settings.clearance_m);
  SplitCage cage = before;
  FitCage(solid.surface, solid.inside, settings, &cage);
  CHECK(cage.mesh.nodes == before.mesh.nodes);
  CHECK(cage.mesh.tets == before.mesh.tets);

  settings.method = FitMethod::kSnug;
  for (uint32_t node = 0; node < before.mesh.nodes.size(); node += 2) {
    settings.frozen.push_back(before.node_ids[node]);
  }
  FitCage(solid.surface, solid.inside, settings, &cage);
  size_t moved = 0;
  for (size_t node = 0; node < cage.mesh.nodes.size(); ++node) {
    const bool is_frozen =
        std::binary_search(settings.frozen.begin(), settings.frozen.end(), cage.node_ids[node]);
    const bool stayed = cage.mesh.nodes[node] == cage.rest_nodes[node];
    if (is_frozen) CHECK(stayed);
    moved += stayed ? 0 : 1;
  }
  CHECK(moved > 20);
}

TEST_CASE("The paper's descent rounds the tets of the boundary") {
  const Solid solid(MakeSphere(1.0, 24, 36));
  const double cell = 0.4;
  const FitSettings settings = SettingsFor(solid, FitMethod::kOdt, cell);
  SplitCage cage =
      SplitOf(solid, LatticeAround(solid, LatticeKind::kBcc, cell), settings.clearance_m);
  const uint32_t passes = FitCage(solid.surface, solid.inside, settings, &cage);
  CHECK(passes <= 10);
  size_t moved = 0;
  for (size_t node = 0; node < cage.mesh.nodes.size(); ++node) {
    moved += cage.mesh.nodes[node] == cage.rest_nodes[node] ? 0 : 1;
  }
  CHECK(moved > 10);
}
