// SPDX-License-Identifier: MIT
// Bakes with a simplified collision surface: the rest of the file stays, the file is valid, and
// findings say what could not be done.
#include "bake/collision_surface.h"

#include "plush/asset.h"
#include "plush/format/cdg_records.h"
#include "plush/format/tet_block.h"

#include "bake/bake.h"
#include "base/aligned_bytes.h"
#include "shapes/tet_shapes.h"
#include "tools/procedural_meshes.h"
#include "validate/validate.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cstring>

namespace plush::tests::collision_surface_test {
namespace {

using tools::BakeSettings;
using tools::FindingList;
using tools::ImportedModel;

ImportedModel ModelOf(const SurfaceMesh& mesh) {
  return ImportedModel{.surface = mesh, .format = "test"};
}

ImportedModel Embedded(const SurfaceMesh& mesh) {
  ImportedModel model = tools::ModelFromTets(test::TetBox(4, 4, 4, 0.25, 0.09, 3));
  model.surface = mesh;
  model.embed_hash = 1;  // as the import sets it
  model.format = "test";
  return model;
}

BakeSettings Simplified(uint32_t triangles, double distance = 0.01) {
  return BakeSettings{.simplify = {triangles, distance}};
}

struct Baked {
  explicit Baked(const ImportedModel& model, const BakeSettings& settings = {})
      : bytes(Bytes(model, settings)) {
    REQUIRE(asset.Open(bytes.bytes()).ok());
    FindingList faults;
    tools::ValidateAsset(bytes.bytes(), &faults);
    for (const auto& fault : faults.all()) UNSCOPED_INFO(fault.code << ": " << fault.message);
    CHECK(faults.all().empty());
  }

  std::vector<std::byte> Bytes(const ImportedModel& model, const BakeSettings& settings) {
    auto baked = tools::Bake(model, settings, &findings);
    if (!baked.ok()) FAIL(baked.error().message);
    summary = baked.value().summary;
    return std::move(baked.value().bytes);
  }

  FindingList findings;
  tools::BakeSummary summary;
  tools::AlignedBytes bytes;
  Asset asset;
};

template <class T>
bool AreSame(std::span<const T> a, std::span<const T> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

}  // namespace

TEST_CASE("A simplified collision surface leaves the rest of the file as it is") {
  const ImportedModel model = ModelOf(MakeTorus(0.5, 0.2, 60, 40));
  const Baked whole(model);
  const Baked simple(model, Simplified(400));
  CHECK(simple.summary.simplified_triangles <= 400);
  CHECK(simple.summary.simplified_triangles >= 398);
  CHECK(simple.summary.simplified_distance_m > 0.0);
  CHECK(whole.summary.simplified_triangles == 0);
  CHECK(simple.asset.collision().num_triangles() < whole.asset.collision().num_triangles() / 2);
  CHECK(simple.asset.collision().source_triangles.size() ==
        simple.asset.collision().num_triangles());
  const VisualView &a = whole.asset.visual(), &b = simple.asset.visual();
  CHECK(AreSame(a.positions, b.positions));
  CHECK(AreSame(a.normals, b.normals));
  CHECK(AreSame(a.indices, b.indices));
  CHECK(AreSame(a.tet_ids, b.tet_ids));
  CHECK(AreSame(a.weights, b.weights));
  CHECK(AreSame(whole.asset.simulation().nodes, simple.asset.simulation().nodes));
  CHECK(AreSame(whole.asset.simulation().masses, simple.asset.simulation().masses));
  CHECK(AreSame(whole.asset.factor().values, simple.asset.factor().values));
  const auto settings = nlohmann::json::parse(simple.asset.settings());
  CHECK(settings["collision_triangles"] == 400);
  CHECK(settings["collision_distance"] == 0.01);
  CHECK_FALSE(nlohmann::json::parse(whole.asset.settings()).contains("collision_triangles"));
}

TEST_CASE("Findings say which number was reached") {
  const Baked tight(ModelOf(MakeSphere(0.5, 24, 36)), Simplified(10, 0.002));
  REQUIRE(tight.findings.Has("CDG_TRIANGLES_NOT_REACHED"));
  CHECK(tight.summary.simplified_triangles > 100);
  for (const auto& finding : tight.findings.all()) {
    if (finding.code != "CDG_TRIANGLES_NOT_REACHED") continue;
    CHECK(finding.count == tight.summary.simplified_triangles);
    CHECK_THAT(finding.message,
               Catch::Matchers::Contains(std::to_string(tight.summary.simplified_triangles)));
  }
  const Baked loose(ModelOf(MakeSphere(0.5, 24, 36)), Simplified(300, 0.03));
  CHECK_FALSE(loose.findings.Has("CDG_TRIANGLES_NOT_REACHED"));
  // A surface that has no more triangles is taken as it is.
  const Baked few(ModelOf(MakeBox({0, 0, 0}, {1, 1, 1})), Simplified(12));
  CHECK(few.summary.simplified_triangles == 0);
  CHECK_FALSE(few.findings.Has("CDG_TRIANGLES_NOT_REACHED"));
}

TEST_CASE("Broken surfaces give valid files with simplified collision surfaces", "[long]") {
  SurfaceMesh half_flipped = MakeSphere(1.0, 12, 18);
  FlipTriangles(&half_flipped, 0, half_flipped.triangles.size() / 2);
  const std::pair<const char*, SurfaceMesh> cases[] = {
      {"overlapping boxes", MakeOverlappingBoxes()},
      {"nested shells", MakeNestedShells(false, true)},
      {"Moebius strip", MakeMoebiusStrip(1.0, 0.4, 40)},
      {"half flipped", half_flipped},
      {"soup", MakeTriangleSoup(60, 0.3, 5)},
      {"open grid", MakeOpenBox({0, 0, 0}, {1, 1, 1})}};
  for (const auto& [name, mesh] : cases) {
    INFO(name);
    const Baked baked(ModelOf(mesh), Simplified(8, 0.03));
    CHECK(baked.summary.collision_triangles > 0);
  }
}

TEST_CASE("A render mesh in the source's tets is simplified there") {
  const ImportedModel model = Embedded(MakeSphere(0.35, 30, 40, {0.5, 0.5, 0.5}));
  const Baked baked(model, Simplified(300, 0.02));
  CHECK(baked.summary.simplified_triangles <= 300);
  CHECK(baked.summary.simplified_triangles > 0);
  CHECK_FALSE(baked.findings.Has("CDG_NOT_SIMPLIFIED"));
}

TEST_CASE("A surface that the tets do not hold is not simplified, and a finding says so") {
  const ImportedModel model = Embedded(MakeSphere(0.3, 20, 30, {0.5, 0.5, 0.85}));
  const Baked baked(model, Simplified(200, 0.02));
  CHECK(baked.findings.Has("CDG_OUTSIDE"));
  CHECK(baked.findings.Has("CDG_NOT_SIMPLIFIED"));
  CHECK(baked.summary.simplified_triangles == 0);
  const Baked plain(model);
  CHECK_FALSE(plain.findings.Has("CDG_NOT_SIMPLIFIED"));
}

TEST_CASE("Tets that end at the surface have no surface to simplify") {
  FindingList findings;
  const auto baked = tools::Bake(tools::ModelFromTets(test::TetBox(4, 4, 4, 0.25, 0.09, 3)),
                                 Simplified(50), &findings);
  REQUIRE_FALSE(baked.ok());
  CHECK(baked.error().exit_code == tools::ExitCode::kUsage);
  CHECK_THAT(baked.error().message, Catch::Matchers::Contains("--collision-triangles"));
}

TEST_CASE("The validator finds a simplified surface that is not where the settings say") {
  // The sphere's copy deviates by more than the distance in the settings.
  const ImportedModel model = ModelOf(MakeSphere(0.5, 24, 36));
  const Baked baked(model, Simplified(60, 0.05));
  std::vector<std::byte> bytes(baked.bytes.bytes().begin(), baked.bytes.bytes().end());
  const std::string told = "\"collision_distance\":0.05";
  const auto* begin = reinterpret_cast<const char*>(bytes.data());
  const size_t at = std::string_view(begin, bytes.size()).find(told);
  REQUIRE(at != std::string_view::npos);
  std::memcpy(bytes.data() + at, "\"collision_distance\":0.00", told.size());
  FindingList faults;
  tools::ValidateAsset(tools::AlignedBytes(bytes).bytes(), &faults);
  CHECK(faults.Has("FILE_COLLISION"));
}

}  // namespace plush::tests::collision_surface_test
