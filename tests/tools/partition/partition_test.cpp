// SPDX-License-Identifier: MIT
// Collision surfaces of models and random solids: equal to the source, closed if it is closed, in
// discs inside single tets.
// - PLUSH_TEST_FULL=1 takes 300 random solids.
// - PLUSH_SOLID_SEED=n takes only the solid of that seed.
#include "partition/partition.h"

#include "plush/asset.h"

#include "bake/bake.h"
#include "base/aligned_bytes.h"
#include "skip.h"
#include "sweep.h"
#include "tools/cage/random_solids.h"
#include "tools/partition/partition_fixtures.h"
#include "tools/procedural_meshes.h"
#include "tools/test_models.h"
#include "tools/validate/damage.h"
#include "validate/validate.h"

#include <catch2/catch.hpp>
#include <tbb/global_control.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

using namespace plush::tools;
using namespace plush::tests;

namespace partition_test {

ImportedModel ModelOf(const SurfaceMesh& mesh) {
  return ImportedModel{.surface = mesh, .format = "test"};
}

// Bakes, and has the validator check every invariant of the file.
BakeResult BakeSound(const ImportedModel& model, const BakeSettings& settings = {}) {
  FindingList findings;
  auto baked = Bake(model, settings, &findings);
  if (!baked.ok()) FAIL(baked.error().message);
  FindingList faults;
  ValidateAsset(baked.value().bytes, &faults);
  INFO(Text(faults) << Text(findings));
  CHECK(faults.all().empty());
  CHECK_FALSE(findings.Has("CDG_OUTSIDE"));
  CHECK(baked.value().summary.collision_triangles > 0);
  return std::move(baked.value());
}

CageSettings SettingsOf(uint32_t seed) {
  CageSettings settings = {.target_tets = 50 + 37 * (seed % 29)};
  if (seed % 5 == 0) settings.lattice = LatticeKind::kCube5;
  if (seed % 7 == 0) settings.fit = FitMethod::kNone;
  return settings;
}

TEST_CASE("Collision surfaces of random solids are those of the solids", "[long]") {
  const char* only = std::getenv("PLUSH_SOLID_SEED");
  const uint32_t first = only != nullptr ? static_cast<uint32_t>(std::atoi(only)) : 1;
  const uint32_t count = only != nullptr ? 1 : SweepCount(20u, 300u);
  for (uint32_t seed = first; seed < first + count; ++seed) {
    const SurfaceMesh mesh = RandomSolid(seed);
    const Partitioned out = PartitionOf(mesh, SettingsOf(seed));
    INFO("seed " << seed << ", " << mesh.triangles.size() << " triangles, "
                 << out.cage.mesh.tets.size() << " tets; set PLUSH_SOLID_SEED for it alone");
    CHECK(FaultsOf(out) == "");
    BakeSound(ModelOf(mesh), {.cage = SettingsOf(seed)});
  }
  std::printf("collision surfaces of random solids: seeds %u to %u\n", first, first + count - 1);
}

TEST_CASE("Collision surfaces of the test models are those of the models", "[long]") {
  const std::string path = TestModelOrSkip("README.md");
  if (path.empty()) return;
  SweepCells files;
  for (const std::string& file : MeshesBelow(std::filesystem::path(path).parent_path().string())) {
    if (!files.TakesNext()) continue;
    const ImportedModel model = ImportOrFail(file);
    const Partitioned out = PartitionOf(model.surface);
    INFO(file);
    CHECK(FaultsOf(out) == "");
    BakeSound(model);
  }
}

TEST_CASE("Surfaces in the lattice's own planes are cut", "[long]") {
  // Without a fit, the clearance places the lattice's nodes; these boxes have faces, edges and
  // corners in the planes of many of its tets.
  for (const LatticeKind lattice : {LatticeKind::kBcc, LatticeKind::kCube5}) {
    for (const uint32_t n : {1u, 2u, 8u, 16u}) {
      CageSettings settings = {.lattice = lattice, .cell_m = 0.25, .fit = FitMethod::kNone};
      const Partitioned out = PartitionOf(MakeGridBox({0, 0, 0}, {2, 1, 1}, n), settings);
      INFO("grid of " << n);
      CHECK(FaultsOf(out) == "");
    }
  }
}

TEST_CASE("Broken surfaces are cut as they are", "[long]") {
  SurfaceMesh half_flipped = MakeSphere(1.0, 12, 18);
  FlipTriangles(&half_flipped, 0, half_flipped.triangles.size() / 2);
  const std::vector<std::pair<const char*, SurfaceMesh>> cases = {
      {"open box", MakeOpenBox({0, 0, 0}, {1, 1, 1})},
      {"overlapping boxes", MakeOverlappingBoxes()},
      {"nested shells", MakeNestedShells(false, true)},
      {"Moebius strip", MakeMoebiusStrip(1.0, 0.4, 40)},
      {"half flipped", half_flipped},
      {"soup", MakeTriangleSoup(60, 0.3, 5)},
      {"small beside large",
       Joined(MakeBox({0, 0, 0}, {1, 1, 1}), MakeSphere(0.01, 8, 12, {1.5, 0.5, 0.5}))}};
  for (const auto& [name, mesh] : cases) {
    INFO(name);
    CHECK(FaultsOf(PartitionOf(mesh)) == "");
    BakeSound(ModelOf(mesh));
  }
}

TEST_CASE("A surface that leaves its tets gives no collision surface, with places") {
  Partitioned out = PartitionOf(MakeSphere(1.0, 20, 30));
  for (Vec3d& p : out.solid.points) p = p * 1.5;
  FindingList findings;
  const Partition partition =
      PartitionSurface(out.solid, out.cage.mesh, out.cage.tet_of_point, &findings);
  CHECK(partition.data.tets.empty());
  REQUIRE(findings.Has("CDG_OUTSIDE"));
  CHECK_FALSE(findings.all()[0].places.empty());
}

TEST_CASE("Tets that end at the surface take their boundary") {
  FindingList findings;
  const BakeResult baked = BakeSound(ModelFromTets([] {
    TetMesh mesh = {.nodes = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}}};
    mesh.tets = {{0, 1, 2, 3}, {1, 4, 2, 3}};
    return mesh;
  }()));
  CHECK(baked.summary.collision_triangles == 6);
  CHECK(baked.summary.collision_patches == 2);
  CHECK(baked.summary.crossings == 0);
}

}  // namespace partition_test
