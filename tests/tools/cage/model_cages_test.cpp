// SPDX-License-Identifier: MIT
// Cages of real models, clean and dirty, in the folder PLUSH_TEST_MODELS.
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
