// SPDX-License-Identifier: MIT
// The proof of enclosure from the file alone: baked cages pass, damaged ones do not.
#include "plush/format/tet_block.h"

#include "bake/bake.h"
#include "mesh/tet_mesh.h"
#include "shapes/shape_asset.h"
#include "shapes/tet_shapes.h"
#include "skip.h"
#include "tools/paths.h"
#include "tools/procedural_meshes.h"
#include "tools/validate/damage.h"
#include "validate/surface_checks.h"
#include "validate/validate.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>

namespace plush::tools::enclosure_checks_test {
namespace {

using test::ExactBuffer;
using tests::At;

ImportedModel ModelOf(const SurfaceMesh& surface) {
  return ImportedModel{.surface = surface, .format = "procedural"};
}

ImportedModel Imported(const std::string& path) {
  ImportSettings settings;
  settings.helper =
      std::filesystem::path(plush::tests::kPlushProgram).parent_path() / "plush-import";
  FindingList findings;
  auto model = ImportModel(path, settings, &findings);
  if (!model.ok()) FAIL(model.error().message);
  return std::move(model.value());
}

std::vector<std::byte> Baked(const ImportedModel& model, const BakeSettings& settings = {}) {
  FindingList findings;
  auto baked = Bake(model, settings, &findings);
  if (!baked.ok()) FAIL(baked.error().message);
  return std::move(baked.value().bytes);
}

// A baked and opened ball of 264 triangles with bytes that can be changed.
struct Ball {
  ExactBuffer file{Baked(ModelOf(tests::MakeSphere(0.5, 12, 12)))};
  Asset asset;

  Ball() { REQUIRE(asset.Open(file.bytes()).ok()); }
  size_t num_triangles() const { return asset.visual().indices.size() / 3; }
};

// Triangles with vertex `v` or `w` as a corner, ascending.
std::vector<int64_t> TrianglesAt(const Asset& asset, uint32_t v, uint32_t w) {
  std::vector<int64_t> triangles;
  const auto indices = asset.visual().indices;
  for (size_t i = 0; i < indices.size(); ++i) {
    const auto t = static_cast<int64_t>(i / 3);
    const bool has = indices[i] == v || indices[i] == w;
    if (has && (triangles.empty() || triangles.back() != t)) triangles.push_back(t);
  }
  return triangles;
}

bool IsLower(const Vec3& a, const Vec3& b) { return a.y < b.y; }

void CheckProved(const ImportedModel& model, const BakeSettings& settings = {}) {
  const std::vector<std::byte> bytes = Baked(model, settings);
  FindingList findings;
  const SourceErrors errors = ValidateAgainstSource(bytes, model, &findings);
  for (const Finding& finding : findings.all()) UNSCOPED_INFO(finding.message);
  CHECK(findings.all().empty());
  REQUIRE(errors.enclosed_triangles.has_value());
  CHECK(*errors.enclosed_triangles == model.surface.triangles.size());
}

}  // namespace

TEST_CASE("Procedural surfaces are proved to be enclosed, whatever the lattice and the fit",
          "[long]") {
  const SurfaceMesh torus = tests::MakeTorus(0.5, 0.15, 24, 12);
  for (const LatticeKind lattice : {LatticeKind::kBcc, LatticeKind::kCube5}) {
    for (const FitMethod fit : {FitMethod::kSnug, FitMethod::kOdt, FitMethod::kNone}) {
      CheckProved(ModelOf(torus), {.cage = {.lattice = lattice, .fit = fit}});
    }
  }
  CheckProved(ModelOf(tests::MakeOpenBox({0, 0, 0}, {1, 2, 3})));
  CheckProved(ModelOf(tests::MakeNestedShells(false, true)));
  CheckProved(ModelOf(tests::MakeMoebiusStrip(1.0, 0.3, 40)));
}

TEST_CASE("The sample models are proved to be enclosed", "[long]") {
  for (const char* name : {"bear", "duck", "octopus"}) {
    INFO(name);
    CheckProved(Imported(std::string(plush::tests::kSamplesFolder) + "/models/" + name + ".glb"));
  }
}

TEST_CASE("The armadillo is proved to be enclosed") {
  const std::string path = tests::TestModelOrSkip("armadillo_10k.obj");
  if (!path.empty()) CheckProved(Imported(path));
}

TEST_CASE("Vertices carried by tets elsewhere make their triangles escape") {
  const Ball ball;
  const auto positions = ball.asset.visual().positions;
  const auto [low, high] = std::minmax_element(positions.begin(), positions.end(), IsLower);
  const auto south = static_cast<uint32_t>(low - positions.begin());
  const auto north = static_cast<uint32_t>(high - positions.begin());
  const auto tets = ball.asset.visual().tet_ids;
  std::swap(At(tets, south), At(tets, north));
  const auto expected = TrianglesAt(ball.asset, south, north);
  REQUIRE(expected.size() == 24);
  FindingList findings;
  const size_t proved = CheckEnclosure(ball.asset, &findings);
  REQUIRE(findings.all().size() == 1);
  const Finding& finding = findings.all()[0];
  CHECK(finding.code == "FILE_NOT_ENCLOSED");
  CHECK(finding.severity == Severity::kError);
  CHECK(finding.count == 24);
  CHECK(proved == ball.num_triangles() - 24);
  REQUIRE(finding.places.size() == kMaxPlaces);
  for (size_t i = 0; i < kMaxPlaces; ++i) CHECK(finding.places[i].triangle == expected[i]);
}

TEST_CASE("A node moved through the surface lets triangles escape") {
  const Ball ball;
  const auto nodes = ball.asset.simulation().nodes;
  const auto at = std::max_element(nodes.begin(), nodes.end(), IsLower);
  REQUIRE(at->y > 0.5f);
  Vec3& node = At(nodes, static_cast<size_t>(at - nodes.begin()));
  node.y = 0.48f;
  FindingList findings;
  const size_t proved = CheckEnclosure(ball.asset, &findings);
  CHECK(proved > ball.num_triangles() / 2);
  REQUIRE(findings.Has("FILE_NOT_ENCLOSED"));
  CHECK(findings.all()[0].count == ball.num_triangles() - proved);
  CHECK(findings.all()[0].places[0].triangle >= 0);
}

TEST_CASE("Tets that are flat or inside out enclose nothing") {
  const auto findings_after = [](const std::function<void(std::span<const Vec3>)>& change) {
    const Ball ball;
    change(ball.asset.simulation().nodes);
    FindingList findings;
    CHECK(CheckEnclosure(ball.asset, &findings) == 0);
    REQUIRE(findings.all().size() == 1);
    CHECK(findings.all()[0].code == "FILE_NOT_ENCLOSED");
    CHECK(findings.all()[0].count == ball.num_triangles());
    CHECK(findings.all()[0].places[0].element >= 0);
  };
  findings_after([](std::span<const Vec3> nodes) { At(nodes, 0).y += 3.0f; });
  findings_after([](std::span<const Vec3> nodes) {
    for (size_t i = 0; i < nodes.size(); ++i) At(nodes, i) = {0.1f, 0.2f, 0.3f};
  });
  findings_after([](std::span<const Vec3> nodes) {
    for (size_t i = 0; i < nodes.size(); ++i) At(nodes, i).x *= -1.0f;
  });
}

TEST_CASE("A vertex moved out of the cage is found") {
  const Ball ball;
  At(ball.asset.visual().positions, 7).x += 10.0f;
  FindingList findings;
  CheckEnclosure(ball.asset, &findings);
  REQUIRE(findings.Has("FILE_NOT_ENCLOSED"));
  CHECK(findings.all()[0].count == TrianglesAt(ball.asset, 7, 7).size());
}

TEST_CASE("The check of enclosure leaves files with structural faults to the other checks",
          "[long]") {
  const std::vector<void (*)(const Asset&)> damages = {
      [](const Asset& a) { At(a.simulation().tets, 3).b = 1u << 20; },
      [](const Asset& a) { At(a.simulation().nodes, 0).x = std::nanf(""); },
      [](const Asset& a) { At(a.visual().tet_ids, 0) = 1u << 20; },
      [](const Asset& a) { At(a.visual().indices, 0) = 1u << 20; },
      [](const Asset& a) { At(a.visual().positions, 0).x = HUGE_VALF; },
  };
  for (const auto damage : damages) {
    const Ball ball;
    damage(ball.asset);
    FindingList findings;
    CHECK(CheckEnclosure(ball.asset, &findings) == 0);
    CHECK(findings.all().empty());
  }
}

TEST_CASE("Tets that end at the surface need not enclose it") {
  const TetMesh bar = test::TetBox(3, 2, 2, 0.1);
  const ImportedModel model = ModelFromTets(bar);
  FindingList findings;
  const SourceErrors errors = ValidateAgainstSource(Baked(model), model, &findings);
  CHECK(findings.all().empty());
  CHECK_FALSE(errors.enclosed_triangles.has_value());
}

TEST_CASE("A boundary that touches itself along an edge or at a node is found") {
  const auto findings_of = [](const TetMesh& mesh) {
    const ExactBuffer file(test::AssetBytesOf(mesh));
    Asset asset;
    REQUIRE(asset.Open(file.bytes()).ok());
    FindingList findings;
    CheckEnclosure(asset, &findings);
    return findings;
  };
  TetMesh mesh = test::SingleTet();
  CHECK_FALSE(findings_of(mesh).Has("CAGE_PINCHED"));
  mesh.nodes.insert(mesh.nodes.end(), {{-1, 0, 0}, {0, -1, 0}});
  mesh.tets.push_back({0, 4, 5, 3});
  CHECK(findings_of(mesh).Has("CAGE_PINCHED"));  // along the edge (0, 3)
  mesh.nodes.push_back({0, 0, -1});
  mesh.tets[1] = {0, 5, 4, 6};
  const FindingList at_node = findings_of(mesh);
  REQUIRE(at_node.Has("CAGE_PINCHED"));
  CHECK(at_node.all().back().severity == Severity::kWarning);
  CHECK(at_node.all().back().count == 1);
}

}  // namespace plush::tools::enclosure_checks_test
