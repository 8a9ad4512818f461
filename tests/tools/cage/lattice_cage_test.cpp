// SPDX-License-Identifier: MIT
// Whole cages of sound and broken surfaces: enclosure, counts, fits, repeatability.
#include "cage/lattice_cage.h"

#include "embed/embedding.h"
#include "enclosure/enclosure.h"
#include "lattice/cage_boundary.h"
#include "mesh/self_intersection.h"
#include "solid/solid_volume.h"
#include "sweep.h"
#include "tools/cage/cage_fixtures.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>
#include <tbb/global_control.h>

#include <algorithm>
#include <cstdio>
#include <string>

using namespace plush::tools;
using namespace plush::tests;

namespace lattice_cage_test {

struct Named {
  const char* name;
  SurfaceMesh mesh;
};

SurfaceMesh SingleTriangle() {
  SurfaceMesh mesh = {.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}};
  mesh.triangles = {{0, 1, 2}};
  CompleteMesh(&mesh);
  return mesh;
}

SurfaceMesh FlatGrid() {
  SurfaceMesh mesh = MakeGridBox({0, 0, 0}, {2, 1, 1}, 4);
  mesh.triangles.resize(32);  // the first face
  mesh.parts.clear();
  CompleteMesh(&mesh);
  return mesh;
}

std::vector<Named> AllShapes() {
  SurfaceMesh half_flipped = MakeSphere(1.0, 12, 18);
  FlipTriangles(&half_flipped, 0, half_flipped.triangles.size() / 2);
  SurfaceMesh back = MakeSphere(1.0, 12, 18);
  FlipTriangles(&back, 0, back.triangles.size());
  return {{"sphere", MakeSphere(1.0, 24, 36)},
          {"torus", MakeTorus(1.0, 0.3, 48, 24)},
          {"box", MakeBox({0, 0, 0}, {1, 2, 3})},
          {"grid box", MakeGridBox({-1, -1, -1}, {1, 1, 1}, 8)},
          {"open box", MakeOpenBox({0, 0, 0}, {1, 1, 1})},
          {"overlapping boxes", MakeOverlappingBoxes()},
          {"shells", MakeNestedShells(false, true)},
          {"two fingers", MakeTwoFingers(0.25, 0.06)},
          {"Moebius strip", MakeMoebiusStrip(1.0, 0.4, 48)},
          {"soup", MakeTriangleSoup(50, 0.3, 9)},
          {"half-flipped sphere", half_flipped},
          {"double-sided sphere", Joined(MakeSphere(1.0, 12, 18), back)},
          {"single triangle", SingleTriangle()},
          {"flat grid", FlatGrid()}};
}

// Points on the triangles, including corners and edges.
std::vector<Vec3d> SurfacePoints(const SolidSurface& surface) {
  std::vector<Vec3d> points;
  for (const auto& [a, b, c] : surface.triangles) {
    constexpr int kSteps = 4;
    for (int i = 0; i <= kSteps; ++i) {
      for (int j = 0; i + j <= kSteps; ++j) {
        points.push_back(
            (surface.points[a] * (kSteps - i - j) + surface.points[b] * i + surface.points[c] * j) /
            static_cast<double>(kSteps));
      }
    }
  }
  return points;
}

bool AreSinglePrecision(const std::vector<Vec3d>& nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [](const Vec3d& p) {
    const auto same = [](double x) { return static_cast<double>(static_cast<float>(x)) == x; };
    return same(p.x) && same(p.y) && same(p.z);
  });
}

void CheckStrict(const Solid& solid, const LatticeCage& cage, double guard) {
  CHECK(LeastSixVolume(cage.mesh) > 0.0);
  CHECK(AreSinglePrecision(cage.mesh.nodes));
  CHECK(LeastDihedral(cage.mesh) >= guard - 1e-5);
  const CageFaces faces = FindCageFaces(cage.mesh);
  CHECK(FindEscapes(cage.mesh, faces, solid.surface.points, solid.surface.triangles,
                    cage.tet_of_point)
            .empty());
  const BoundaryDefects defects = FindBoundaryDefects(faces);
  CHECK(cage.num_pinched == defects.edges.size() + defects.nodes.size());
  CHECK(cage.num_pinched == 0);
  CHECK(cage.num_branches == faces.branches.size());
  CHECK_FALSE(solid.findings.Has("CAGE_NOT_FITTED"));
  if (cage.num_split_tets + cage.num_split_nodes > 0) return;
  std::vector<std::array<uint32_t, 3>> boundary;
  for (const CageFace& face : faces.boundary) boundary.push_back(face.nodes);
  CHECK(FindSelfIntersections(cage.mesh.nodes, boundary).pairs.empty());
}

TEST_CASE("The cage strictly contains the surface, whatever its defects", "[long]") {
  SweepCells cells;
  for (const auto& [name, mesh] : AllShapes()) {
    for (const uint32_t target : {5u, 60u, 450u}) {
      for (const LatticeKind kind : {LatticeKind::kBcc, LatticeKind::kCube5}) {
        if (!cells.TakesNext()) continue;
        INFO(name << ", " << target << " tets, " << (kind == LatticeKind::kBcc ? "bcc" : "cube5"));
        Solid solid(mesh);
        const LatticeCage cage = CageOf(&solid, {.lattice = kind, .target_tets = target});
        CheckStrict(solid, cage, 20.0);
        // Independent of the proof: each point lies in a tet.
        const Embedding embedding = EmbedPoints(SurfacePoints(solid.surface), cage.mesh);
        CHECK(embedding.num_outside == 0);
        CHECK(embedding.max_error_m < 1e-6);
      }
    }
  }
}

TEST_CASE("Every fit method keeps the cage strict", "[long]") {
  SweepCells cells;
  for (const auto& [name, mesh] : AllShapes()) {
    for (const FitMethod fit : {FitMethod::kSnug, FitMethod::kOdt, FitMethod::kNone}) {
      for (const double guard : {0.0, 40.0}) {
        if (!cells.TakesNext()) continue;
        INFO(name << ", fit " << static_cast<int>(fit) << ", guard " << guard);
        Solid solid(mesh);
        const LatticeCage cage =
            CageOf(&solid, {.target_tets = 200, .fit = fit, .min_dihedral_deg = guard});
        CheckStrict(solid, cage, guard);
      }
    }
  }
}

TEST_CASE("Every node belongs to a tet and, without copies, no two nodes coincide") {
  Solid solid(MakeTorus(1.0, 0.3, 48, 24));
  const LatticeCage cage = CageOf(&solid, {});
  std::vector<bool> used(cage.mesh.nodes.size(), false);
  for (const auto& tet : cage.mesh.tets) {
    for (const uint32_t node : tet) used[node] = true;
  }
  CHECK(std::find(used.begin(), used.end(), false) == used.end());
  std::vector<std::array<double, 3>> places;
  for (const Vec3d& node : cage.mesh.nodes) places.push_back({node.x, node.y, node.z});
  std::sort(places.begin(), places.end());
  CHECK(cage.num_split_nodes == 0);
  CHECK(std::adjacent_find(places.begin(), places.end()) == places.end());
  CHECK(NumComponents(cage.mesh) == 1);
}

TEST_CASE("No tet is external: each touches the surface or lies inside") {
  Solid solid(MakeNestedShells(false, true));
  const LatticeCage cage = CageOf(&solid, {.cell_m = 0.1, .fit = FitMethod::kNone});
  for (const auto& tet : cage.mesh.tets) {
    double nearest = 1e9, farthest = 0.0;
    for (const uint32_t node : tet) {
      nearest = std::min(nearest, Length(cage.mesh.nodes[node]));
      farthest = std::max(farthest, Length(cage.mesh.nodes[node]));
    }
    CHECK(nearest < 1.01);
    CHECK(farthest > 0.47);  // the inner shell, a polyhedron within radius 0.5
  }
  CHECK(cage.cell_m == 0.1);
}

TEST_CASE("The fit draws the cage in", "[long]") {
  for (const auto& mesh :
       {MakeSphere(1.0, 24, 36), MakeTorus(1.0, 0.3, 48, 24), MakeTwoFingers(0.25, 0.2)}) {
    Solid solid(mesh);
    const double loose = CageVolume(CageOf(&solid, {.fit = FitMethod::kNone}).mesh);
    const double snug = CageVolume(CageOf(&solid, {}).mesh);
    const double wider = CageVolume(CageOf(&solid, {.clearance = 0.02}).mesh);
    CHECK(snug < 0.9 * loose);
    CHECK(snug < wider);
    CHECK(snug > SignedVolume(solid.surface));
  }
}

TEST_CASE("The number of tets is met from below within 5%, or a finding says why not", "[long]") {
  for (const uint32_t target : {20u, 60u, 100u, 450u, 3000u}) {
    Solid solid(MakeSphere(1.0, 24, 36));
    const auto count = static_cast<double>(
        CageOf(&solid, {.target_tets = target, .fit = FitMethod::kNone}).mesh.tets.size());
    INFO(target << " asked, " << count << " made");
    CHECK((count > target) == solid.findings.Has("CAGE_TOO_FEW_TETS"));
    CHECK((count < 0.95 * target) == solid.findings.Has("CAGE_TETS_NOT_REACHED"));
    if (target < 60) continue;  // small counts come in large steps
    CHECK(count <= target);
    CHECK(count > 0.95 * target);
  }
}

TEST_CASE("A cell size is kept to the bit, whatever the number of tets", "[long]") {
  for (const double cell : {0.17, 0.3, 1.0 / 3.0}) {
    Solid solid(MakeSphere(1.0, 24, 36));
    const LatticeCage cage = CageOf(&solid, {.target_tets = 1, .cell_m = cell});
    CHECK(cage.cell_m == cell);
    CHECK(cage.num_lattices == 1);
    CHECK_FALSE(solid.findings.Has("CAGE_TOO_FEW_TETS"));
  }
}

TEST_CASE("Distant parts make separate components, and as many tets as they need") {
  SurfaceMesh mesh = Joined(MakeSphere(0.5, 12, 18), MakeSphere(0.5, 12, 18, {5, 0, 0}));
  mesh = Joined(mesh, MakeSphere(0.5, 12, 18, {0, 5, 0}));
  Solid solid(mesh);
  CHECK(NumComponents(CageOf(&solid, {}).mesh) == 3);
  CHECK_FALSE(solid.findings.Has("CAGE_TOO_FEW_TETS"));
  const LatticeCage least = CageOf(&solid, {.target_tets = 1});
  CHECK(solid.findings.Has("CAGE_TOO_FEW_TETS"));
  CHECK(NumComponents(least.mesh) == 3);
  CHECK(least.mesh.tets.size() >= 3);
  CHECK(least.mesh.tets.size() < 30);
  const LatticeCage joined = CageOf(&solid, {.target_tets = 1, .join_parts = true});
  CHECK(joined.mesh.tets.size() < least.mesh.tets.size());
}

TEST_CASE("Small parts far apart are solid, and the finding names a number of tets that fits them",
          "[long]") {
  const SurfaceMesh mesh = MakeTetGrid(5, 0.1);
  Solid solid(mesh);
  const LatticeCage coarse = CageOf(&solid, {.target_tets = 60});
  CHECK_FALSE(coarse.is_shell);
  CHECK_FALSE(solid.findings.Has("CAGE_SHELL"));
  CHECK(coarse.solid.volume == Approx(125 * 0.001 / 6.0).epsilon(1e-12));
  CHECK(coarse.solid.volume < kShellShare * CageVolume(coarse.mesh));
  const auto& all = solid.findings.all();
  const auto finding = std::find_if(all.begin(), all.end(),
                                    [](const Finding& f) { return f.code == "CAGE_TOO_FEW_TETS"; });
  REQUIRE(finding != all.end());
  INFO(finding->message);
  unsigned enough = 0;
  const size_t number = finding->message.find("; ");
  REQUIRE(number != std::string::npos);
  REQUIRE(std::sscanf(finding->message.c_str() + number, "; %u tets would fit", &enough) == 1);
  Solid again(mesh);
  const LatticeCage fine = CageOf(&again, {.target_tets = enough});
  CHECK_FALSE(again.findings.Has("CAGE_TOO_FEW_TETS"));
  CHECK(fine.solid.volume == coarse.solid.volume);
  CHECK(fine.solid.volume >= kShellShare * CageVolume(fine.mesh));
}

TEST_CASE("A thin closed plate is solid, a plate without thickness is a shell") {
  const auto cage_of = [](double thickness) {
    Solid solid(MakeBox({0, 0, 0}, {1, 1, thickness}));
    const LatticeCage cage = CageOf(&solid, {.target_tets = 100});
    CHECK(cage.is_shell == solid.findings.Has("CAGE_SHELL"));
    if (!cage.is_shell) CHECK(cage.solid.volume == Approx(thickness));
    return cage.is_shell;
  };
  CHECK_FALSE(cage_of(0.01));
  CHECK_FALSE(cage_of(1e-4));
  CHECK(cage_of(1e-8));
}

TEST_CASE("Every attempt is listed with its reason") {
  Solid solid(MakeTorus(1.0, 0.3, 48, 24));
  const LatticeCage cage = CageOf(&solid, {.target_tets = 300});
  REQUIRE_FALSE(cage.attempts.empty());
  CHECK(cage.attempts[0].wanted_tets == 300);
  CHECK(std::any_of(cage.attempts.begin(), cage.attempts.end(), [&](const CageAttempt& a) {
    return a.tets == cage.mesh.tets.size() && a.cell_m == cage.cell_m && a.fits == cage.num_fits;
  }));
  for (const CageAttempt& attempt : cage.attempts) {
    CHECK(std::string(attempt.reason) != "");
    CHECK(attempt.tets <= attempt.lattice_tets);
  }
}

TEST_CASE("The same cage comes again, from one thread or two", "[long]") {
  SweepCells shapes;
  for (const auto& [name, mesh] : AllShapes()) {
    if (!shapes.TakesNext()) continue;
    INFO(name);
    LatticeCage cages[3];
    for (size_t i = 0; i < 3; ++i) {
      const tbb::global_control control(tbb::global_control::max_allowed_parallelism,
                                        i == 0 ? 1 : 2);
      Solid solid(mesh);
      cages[i] = CageOf(&solid, {.target_tets = 150});
    }
    CHECK(AreSame(cages[0], cages[1]));
    CHECK(AreSame(cages[1], cages[2]));
  }
}

TEST_CASE("What cannot be caged is refused") {
  FindingList findings;
  const auto empty = BuildLatticeCage({}, InsideTest(SolidSurface{}), {}, &findings);
  REQUIRE_FALSE(empty.ok());
  CHECK(empty.error().exit_code == ExitCode::kInvalidInput);
  CHECK(empty.error().finding_code == "MESH_EMPTY");
  const SolidSurface solid = MakeSolidSurface(MakeSphere(1.0, 12, 18), &findings);
  const auto fine = BuildLatticeCage(solid, InsideTest(solid), {.cell_m = 1e-3}, &findings);
  REQUIRE_FALSE(fine.ok());
  CHECK(fine.error().exit_code == ExitCode::kLimit);
}

}  // namespace lattice_cage_test
