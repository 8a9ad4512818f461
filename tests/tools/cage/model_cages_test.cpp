// SPDX-License-Identifier: MIT
// Cages of real models, clean and dirty, in the folder PLUSH_TEST_MODELS.
#include "cage/mass_points.h"
#include "enclosure/enclosure.h"
#include "import/import.h"
#include "lattice/cage_boundary.h"
#include "skip.h"
#include "solid/solid_volume.h"
#include "tools/cage/cage_fixtures.h"
#include "tools/paths.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

using namespace plush::tools;
using namespace plush::tests;

namespace model_cages_test {

// Diagonal of a second moment about `centre`: that of the other two axes is an inertia.
struct SecondMoment {
  Vec3d squares;
  void Add(const Vec3d& arm, double volume) {
    squares += Vec3d{arm.x * arm.x, arm.y * arm.y, arm.z * arm.z} * volume;
  }
};

// Masses of nodes have the solid's centre and nearly its inertia.
void CheckMasses(const Solid& solid, const LatticeCage& cage) {
  if (!solid.surface.closed || cage.is_shell || cage.solid.overlap > 0.0) return;
  const MassPoints points =
      SpreadSolid(solid.surface, solid.inside, cage.mesh, cage.tet_of_point, cage.solid);
  const Vec3d centre = cage.solid.moment / cage.solid.volume;
  const auto corners = CornerVolumes(points, cage.mesh.tets.size());
  Vec3d moment;
  SecondMoment of_nodes;
  for (size_t t = 0; t < corners.size(); ++t) {
    for (size_t k = 0; k < 4; ++k) {
      const Vec3d arm = cage.mesh.nodes[cage.mesh.tets[t][k]] - centre;
      moment += arm * corners[t][k];
      of_nodes.Add(arm, corners[t][k]);
    }
  }
  CHECK(Length(moment) / cage.solid.volume < 1e-9 * solid.diagonal);
  SecondMoment of_solid;  // of tets to the centre: V / 20 (sum x_i x_i + sum x_i sum x_i)
  for (size_t t = 0; t < solid.surface.triangles.size(); ++t) {
    const auto [a, b, c] = solid.surface.CornersOf(t);
    const double volume = SixVolume(centre, a, b, c) / 6.0;
    for (const Vec3d& x : {a - centre, b - centre, c - centre, a + b + c - 3.0 * centre}) {
      of_solid.Add(x, volume / 20.0);
    }
  }
  for (int axis = 0; axis < 3; ++axis) {
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    const double ratio =
        (of_nodes.squares[u] + of_nodes.squares[v]) / (of_solid.squares[u] + of_solid.squares[v]);
    std::printf("inertia %.3f ", ratio);
    CHECK(ratio > 1.0);
    CHECK(ratio < 1.2);
  }
}

void CheckModel(const std::string& name, LatticeKind kind) {
  const std::string path = TestModelOrSkip(name);
  if (path.empty()) return;
  FindingList findings;
  ImportSettings import;
  import.helper = std::filesystem::path(plush::tests::kPlushProgram).parent_path() / "plush-import";
  const auto model = ImportModel(path, import, &findings);
  if (!model.ok()) FAIL(model.error().message);
  Solid solid(model.value().surface);
  const auto start = std::chrono::steady_clock::now();
  const LatticeCage cage = CageOf(&solid, {.lattice = kind});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;

  INFO(name << ", " << (kind == LatticeKind::kBcc ? "bcc" : "cube5"));
  const CageFaces faces = FindCageFaces(cage.mesh);
  CHECK(FindEscapes(cage.mesh, faces, solid.surface.points, solid.surface.triangles,
                    cage.tet_of_point)
            .empty());
  CHECK(LeastSixVolume(cage.mesh) > 0.0);
  CHECK(LeastDihedral(cage.mesh) >= 20.0 - 1e-5);
  CHECK(cage.num_pinched == 0);
  CheckMasses(solid, cage);
  CHECK_FALSE(solid.findings.Has("CAGE_NOT_FITTED"));
  CHECK(cage.mesh.tets.size() <= 450);
  CHECK(cage.mesh.tets.size() > 427);

  std::printf(
      "%-20s %-5s %4zu tets, volume %6.3f, angle %5.2f, split %3u, shared %3u, branches %3u, "
      "parts %2u, fits %u, %.2f s:",
      name.c_str(), kind == LatticeKind::kBcc ? "bcc" : "cube5", cage.mesh.tets.size(),
      CageVolume(cage.mesh) / cage.solid.volume, LeastDihedral(cage.mesh), cage.num_split_tets,
      cage.num_shared, cage.num_branches, NumComponents(cage.mesh), cage.num_fits, took.count());
  for (const Finding& finding : solid.findings.all()) {
    std::printf(" %s(%llu)", finding.code.c_str(), static_cast<unsigned long long>(finding.count));
  }
  std::printf("\n");
}

TEST_CASE("Clean models get strict cages", "[long]") {
  for (const char* name :
       {"armadillo_1k.obj", "armadillo_5k.obj", "armadillo_10k.obj", "armadillo_86k.obj",
        "horse_1k.obj", "horse_5k.obj", "horse_10k.obj", "horse_97k.obj", "cheburashka_13k.obj"}) {
    CheckModel(name, LatticeKind::kBcc);
    if (FullTests()) CheckModel(name, LatticeKind::kCube5);
  }
}

TEST_CASE("Dirty models get strict cages, with findings", "[long]") {
  for (const char* name : {"dirty/beetle.obj", "dirty/bunny.off", "dirty/camelhead.off",
                           "dirty/cow.obj", "dirty/spider.obj", "dirty/teapot.obj"}) {
    CheckModel(name, LatticeKind::kBcc);
    CheckModel(name, LatticeKind::kCube5);
  }
}

}  // namespace model_cages_test
