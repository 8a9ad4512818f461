// SPDX-License-Identifier: MIT
// Whole bakes opened as the runtime does: mass, embedding, regions, materials, refusals.
#include "bake/bake.h"

#include "plush/asset.h"
#include "plush/format/factor_panels.h"
#include "plush/format/tet_block.h"

#include "base/float_rounding.h"
#include "mesh/tangents.h"
#include "rest/clusters.h"
#include "shapes/tet_shapes.h"
#include "sweep.h"
#include "tools/procedural_meshes.h"
#include "validate/validate.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <span>

using namespace plush::tools;

namespace bake_test {

std::vector<std::byte> BakeBytes(const ImportedModel& model, const BakeSettings& settings) {
  FindingList findings;
  const auto result = Bake(model, settings, &findings);
  INFO((result.ok() ? "" : result.error().message));
  REQUIRE(result.ok());
  CHECK_FALSE(findings.HasSeverity(Severity::kError));
  return result.value().bytes;
}

ImportedModel ModelOf(const SurfaceMesh& mesh) { return ImportedModel{.surface = mesh}; }

// A baked file, opened with all checks.
class Opened {
 public:
  explicit Opened(const std::vector<std::byte>& bytes)
      : storage_(bytes.size() + plush::kAssetAlignment) {
    REQUIRE(asset_.Open(plush::CopyAligned(bytes, storage_)).ok());
  }
  const plush::Asset& asset() const { return asset_; }
  double Mass() const { return Sum(asset_.simulation().masses); }
  double CageVolume() const {
    double sum = 0.0;
    for (size_t t = 0; t < asset_.simulation().tets.size(); ++t)
      sum += asset_.simulation().Volume(t);
    return sum;
  }

 private:
  static double Sum(std::span<const float> values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
  }
  std::vector<std::byte> storage_;
  plush::Asset asset_;
};

TEST_CASE("A model with its own tets bakes, with the same bytes on one and two threads") {
  const ImportedModel model = ModelFromTets(plush::test::TetBox(6, 3, 3, 0.1, 0.05));
  BakeSettings settings = {.threads = 1};
  const auto one = BakeBytes(model, settings);
  settings.threads = 2;
  CHECK(one == BakeBytes(model, settings));
  settings.dt = 0.02;
  CHECK_FALSE(one == BakeBytes(model, settings));
}

TEST_CASE("A surface with UVs bakes with its tangents") {
  SurfaceMesh ball = plush::tests::MakeSphere(0.5, 8, 12);
  for (Vec3d& position : ball.positions) position = RoundToFloat(position);
  const Opened without(BakeBytes(ModelOf(ball), {}));
  CHECK(without.asset().visual().tangents.empty());
  for (const Vec3d& p : ball.positions) {
    ball.uvs.push_back({static_cast<float>(p.x), static_cast<float>(p.y)});
  }
  const std::vector<plush::Vec4> up = UnitTangents(ball);
  ball.v_downwards = true;
  const std::vector<plush::Vec4> down = UnitTangents(ball);
  const Opened with(BakeBytes(ModelOf(ball), {}));
  const std::span<const plush::Vec4> baked = with.asset().visual().tangents;
  REQUIRE(baked.size() == down.size());
  size_t num_turned = 0;
  for (size_t v = 0; v < baked.size(); ++v) {
    REQUIRE((baked[v].x == down[v].x && baked[v].y == down[v].y));
    REQUIRE((baked[v].z == down[v].z && baked[v].w == down[v].w));
    num_turned += up[v].w != down[v].w ? 1 : 0;
  }
  CHECK(num_turned > baked.size() / 2);
}

TEST_CASE("A surface bakes with the mass of its solid, or of its cage") {
  const ImportedModel ball = ModelOf(plush::tests::MakeSphere(0.5, 48, 72));
  BakeSettings settings = {.material = {.density = 800.0}};
  const Opened solid(BakeBytes(ball, settings));
  const double sphere = 0.5235987755982988;
  CHECK(solid.Mass() == Approx(800.0 * sphere).epsilon(0.01));
  CHECK(solid.asset().simulation().solid_volume == Approx(sphere).epsilon(0.01));
  settings.mass = MassSource::kCage;
  const Opened cage(BakeBytes(ball, settings));
  CHECK(cage.Mass() == Approx(800.0 * cage.CageVolume()).epsilon(1e-6));
  CHECK(cage.CageVolume() > sphere);
}

TEST_CASE("A shell takes its mass from the cage") {
  SurfaceMesh triangle = {.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}};
  triangle.triangles = {{0, 1, 2}};
  plush::tests::CompleteMesh(&triangle);
  const Opened opened(BakeBytes(ModelOf(triangle), {}));
  CHECK(opened.Mass() == Approx(1000.0 * opened.CageVolume()).epsilon(1e-6));
}

TEST_CASE("A sheet with a thickness weighs area times thickness") {
  SurfaceMesh sheet = {.positions = {{0, 0, 0}, {2, 0, 0}, {2, 1, 0}, {0, 1, 0}}};
  sheet.triangles = {{0, 1, 2}, {0, 2, 3}};
  plush::tests::CompleteMesh(&sheet);
  const auto bytes = BakeBytes(ModelOf(sheet), {.thickness_m = 0.01});
  const Opened opened(bytes);
  CHECK(opened.Mass() == Approx(1000.0 * 2.0 * 0.01).epsilon(1e-6));
  FindingList findings;
  ValidateAsset(bytes, &findings);
  CHECK_FALSE(findings.HasSeverity(Severity::kError));
  const auto ball =
      Bake(ModelOf(plush::tests::MakeSphere(0.5, 16, 24)), {.thickness_m = 0.01}, &findings);
  REQUIRE_FALSE(ball.ok());
  CHECK(ball.error().exit_code == ExitCode::kUsage);
}

// A flat strip that `slits` cut into teeth, some of them lost, with a spine or without.
SurfaceMesh MakePlate(std::mt19937_64* random) {
  const auto upto = [&](uint32_t n) { return static_cast<uint32_t>((*random)() % n); };
  const uint32_t columns = 3 + upto(20), rows = 2 + upto(8);
  const bool has_spine = upto(2) == 0;
  SurfaceMesh mesh;
  const double size = 0.01 * std::pow(10.0, 0.1 * upto(30));
  const double lean = 0.1 * upto(10);
  const auto add = [&](double x, double y) {
    mesh.positions.push_back({size * x, size * y, size * lean * x});
  };
  for (uint32_t i = 0; i < columns; ++i) {
    for (uint32_t j = 0; j < rows; ++j) {
      const bool is_gap = i % 2 == 1 && !(has_spine && j == 0);
      if (is_gap || upto(10) == 0) continue;  // slits between teeth, and holes
      const auto first = static_cast<uint32_t>(mesh.positions.size());
      for (const double x : {0.0, 1.0}) {
        for (const double y : {0.0, 1.0}) add((i + x) * 0.2, (j + y) * 0.7);
      }
      mesh.triangles.push_back({first, first + 2, first + 3});
      mesh.triangles.push_back({first, first + 3, first + 1});
    }
  }
  if (mesh.triangles.empty()) return MakePlate(random);
  plush::tests::CompleteMesh(&mesh);
  return mesh;
}

TEST_CASE("Plates with slits and holes pass validate", "[long]") {
  const int count = plush::tests::SweepCount(200);
  for (int seed = 0; seed < count; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(static_cast<uint64_t>(seed));
    const ImportedModel model = ModelOf(MakePlate(&random));
    BakeSettings settings;
    settings.cage.target_tets = 100 + static_cast<uint32_t>(random() % 1900);
    FindingList findings;
    ValidateAsset(BakeBytes(model, settings), &findings);
    for (const Finding& finding : findings.all()) UNSCOPED_INFO(finding.code << finding.message);
    CHECK_FALSE(findings.HasSeverity(Severity::kError));
  }
}

TEST_CASE("A region of the upper third pins nothing half an edge below it", "[long]") {
  size_t above = 0;
  for (const uint32_t tets : {100u, 450u, 1000u}) {
    for (const SurfaceMesh& mesh : {plush::tests::MakeBox({0, 0, 0}, {1, 3, 1}),
                                    plush::tests::MakeSphere(1.5, 24, 36, {0, 1.5, 0}),
                                    plush::tests::MakeTorus(1.5, 0.4, 48, 24)}) {
      double low = 1e9, high = -1e9;
      for (const Vec3d& p : mesh.positions) {
        low = std::min(low, p.y);
        high = std::max(high, p.y);
      }
      const double border = low + (high - low) * 2.0 / 3.0;
      BakeSettings settings;
      settings.cage.target_tets = tets;
      settings.pins_json = R"({"regions": [{"name": "top", "box": [[-9, )" +
                           std::to_string(border) + R"(, -9], [9, 9, 9]]}]})";
      const Opened opened(BakeBytes(ModelOf(mesh), settings));
      REQUIRE(opened.asset().num_regions() == 1);
      const auto& sim = opened.asset().simulation();
      const auto nodes = opened.asset().region(0).nodes;
      for (const uint32_t node : nodes) {
        CHECK(sim.nodes[node].y > border - 0.5 * sim.median_edge);
      }
      // All nodes an edge above the border are held, except those without solid around them.
      const double mean = opened.Mass() / static_cast<double>(sim.nodes.size());
      for (size_t i = 0; i < sim.nodes.size(); ++i) {
        if (sim.nodes[i].y < border + sim.median_edge || sim.masses[i] < 1.1e-3 * mean) continue;
        ++above;
        CHECK(std::find(nodes.begin(), nodes.end(), i) != nodes.end());
      }
    }
  }
  CHECK(above > 100);
}

TEST_CASE("Every vertex is reproduced by its tet and weights, from the file's own numbers") {
  for (const SurfaceMesh& mesh :
       {plush::tests::MakeTorus(1.0, 0.3, 48, 24), plush::tests::MakeOverlappingBoxes(),
        plush::tests::MakeMoebiusStrip(1.0, 0.4, 48)}) {
    const Opened opened(BakeBytes(ModelOf(mesh), {}));
    const auto& visual = opened.asset().visual();
    const auto& sim = opened.asset().simulation();
    REQUIRE(visual.positions.size() == mesh.positions.size());
    for (size_t v = 0; v < visual.positions.size(); ++v) {
      const plush::Tet& tet = sim.tets[visual.tet_ids[v]];
      const plush::Vec4& w = visual.weights[v];
      const double x = double{w.x} * sim.nodes[tet.a].x + double{w.y} * sim.nodes[tet.b].x +
                       double{w.z} * sim.nodes[tet.c].x + double{w.w} * sim.nodes[tet.d].x;
      CHECK(std::abs(x - visual.positions[v].x) < 1e-6);
      CHECK(std::min({w.x, w.y, w.z, w.w}) >= 0.0f);
    }
  }
}

TEST_CASE("Regions, parts and settings reach the file") {
  SurfaceMesh mesh = plush::tests::MakeSphere(0.5, 16, 24);
  mesh.attributes = {{"_pin_all", std::vector<float>(mesh.positions.size(), 1.0f)}};
  mesh.parts[0] = {"ball", "felt", "toy", 0, static_cast<uint32_t>(mesh.triangles.size())};
  BakeSettings settings = {.pins_json = R"({"regions": [{"name": "felt", "material": "felt"}]})"};
  const Opened opened(BakeBytes(ModelOf(mesh), settings));
  REQUIRE(opened.asset().num_regions() == 2);
  CHECK(opened.asset().region(0).name == "felt");
  CHECK(opened.asset().region(1).name == "pin_all");
  CHECK(opened.asset().part(0).material == "felt");
  const auto json = nlohmann::json::parse(opened.asset().settings());
  CHECK(json["pins"]["regions"][0]["name"] == "felt");
  CHECK(json["tets"] == 450);
  CHECK(json.dump() == opened.asset().settings());  // sorted keys and nothing else
}

TEST_CASE("The file has the clusters that the settings ask for") {
  const ImportedModel model = ModelOf(plush::tests::MakeSphere(0.5, 16, 24));
  const auto bake = [&](std::optional<uint32_t> clusters) {
    return BakeBytes(model, {.clusters = clusters});
  };
  const Opened by_size(bake({}));
  const auto num_nodes = static_cast<uint32_t>(by_size.asset().cage().nodes.size());
  REQUIRE(num_nodes >= 64);
  CHECK(by_size.asset().cage().num_clusters == AutoClusters(num_nodes));
  CHECK(by_size.asset().cage().clusters.size() == num_nodes);
  CHECK(nlohmann::json::parse(by_size.asset().settings())["clusters"] == "auto");
  const Opened three(bake(3));
  CHECK(three.asset().cage().num_clusters == 3);
  CHECK(nlohmann::json::parse(three.asset().settings())["clusters"] == 3);
  const Opened none(bake(0));
  CHECK(none.asset().cage().num_clusters == 0);
  CHECK(none.asset().cage().clusters.empty());
}

TEST_CASE("Nodes of joints go last in the elimination order only if they should") {
  SurfaceMesh mesh = plush::tests::MakeSphere(0.5, 16, 24);
  mesh.joints.resize(2);
  mesh.joints[0].name = "low";
  mesh.joints[1].name = "high";
  mesh.joints[1].position = {0.0, 0.25, 0.0};
  mesh.joints[1].rotation = {0.0f, 0.0f, 1.0f, 0.0f};
  for (uint32_t v = 0; v < mesh.positions.size(); ++v) {
    mesh.joints[mesh.positions[v].y > 0.0 ? 1 : 0].weights.push_back({v, 1.0f});
  }
  const auto bake = [&](const std::string& regions) {
    return BakeBytes(ModelOf(mesh), {.pins_json = R"({"regions": [)" + regions + "]}"});
  };
  const std::string side = R"({"name": "side", "box": [[0.3, -1, -1], [1, 1, 1]]})";
  const Opened without(bake(side));
  const Opened with(bake(side + R"(, {"joint": "*"})"));
  const Opened last(bake(side + R"(, {"joint": "*", "last": true})"));
  const auto& factor = without.asset().factor();
  // The order and the factor are the same as without joints, and only the side goes last.
  const auto num_nodes = static_cast<uint32_t>(with.asset().simulation().nodes.size());
  REQUIRE(with.asset().num_regions() == 3);
  const plush::RegionView held = with.asset().region(2);
  REQUIRE(held.name == "side");
  CHECK_FALSE(held.has_joint);
  CHECK(with.asset().factor().num_free == num_nodes - held.nodes.size());
  for (size_t i = 0; i < held.nodes.size(); ++i) {
    CHECK(held.nodes[i] == with.asset().factor().num_free + i);
  }
  CHECK(std::ranges::equal(with.asset().factor().values, factor.values));
  CHECK(std::ranges::equal(with.asset().factor().rows, factor.rows));
  const plush::RegionView high = with.asset().region(0);
  CHECK(high.name == "high");
  CHECK(high.has_joint);
  CHECK(high.rest.position.y == 0.25f);
  CHECK(high.rest.rotation.z == 1.0f);
  CHECK(high.nodes.size() > 20);
  // If all joints go last, the order would have no free node left, or ignores them.
  CHECK(last.asset().factor().num_free != with.asset().factor().num_free);
  for (const Opened* opened : {&without, &with, &last}) {
    FindingList findings;
    plush::tools::ValidateAsset(opened->asset().bytes(), &findings);
    CHECK(findings.all().empty());
  }
}

TEST_CASE("A material map gives tets the numbers of the triangles that they carry") {
  // A long bar of tets; its surface is fur for x < 0.5 and wood beyond.
  ImportedModel model = ModelFromTets(plush::test::TetBox(10, 2, 2, 0.1));
  SurfaceMesh& surface = model.surface;
  const auto middle = [&surface](const std::array<uint32_t, 3>& t) {
    return (surface.positions[t[0]].x + surface.positions[t[1]].x + surface.positions[t[2]].x) / 3;
  };
  const auto half = std::stable_partition(surface.triangles.begin(), surface.triangles.end(),
                                          [&](const auto& t) { return middle(t) < 0.5; });
  const auto split = static_cast<uint32_t>(half - surface.triangles.begin());
  const auto all = static_cast<uint32_t>(surface.triangles.size());
  surface.parts = {{"", "fur", "", 0, split}, {"", "wood", "", split, all - split}};
  BakeSettings settings;
  settings.materials_json =
      R"({"materials": [{"name": "wood", "young": 1e7, "poisson": 0.2, "density": 600,
                        "friction": 0.25, "restitution": 0.75}]})";
  settings.material = {2.0e4, 0.45, 200.0, 0.03};
  for (const Mesher mesher : {Mesher::kImport, Mesher::kLattice}) {
    settings.mesher = mesher;
    FindingList findings;
    const auto baked = Bake(model, settings, &findings);
    REQUIRE(baked.ok());
    const Opened opened(baked.value().bytes);
    const plush::Asset& asset = opened.asset();
    const auto& sim = asset.simulation();
    REQUIRE(asset.num_materials() == 2);
    CHECK(asset.material(0).name == "fur");
    CHECK(asset.material(0).young == 2.0e4f);
    CHECK(asset.material(0).density == 200.0f);
    CHECK(asset.material(1).poisson == 0.2f);
    CHECK((asset.material(0).friction == -1.0f && asset.material(0).restitution == -1.0f));
    CHECK((asset.material(1).friction == 0.25f && asset.material(1).restitution == 0.75f));
    CHECK(sim.damping == 0.03f);
    double mass = 0.0;
    for (size_t t = 0; t < sim.tets.size(); ++t) {
      const plush::Tet& tet = sim.tets[t];
      const float x =
          (sim.nodes[tet.a].x + sim.nodes[tet.b].x + sim.nodes[tet.c].x + sim.nodes[tet.d].x) / 4;
      if (x < 0.35f) CHECK(sim.tet_materials[t] == 0);
      if (x > 0.65f) CHECK(sim.tet_materials[t] == 1);
      CHECK(sim.Mu(t) == Approx(sim.tet_materials[t] == 0 ? 2.0e4 / 2.9 : 1.0e7 / 2.4));
      mass += sim.tet_masses[t];
    }
    CHECK(opened.Mass() == Approx(mass).epsilon(1e-6));
    CHECK(baked.value().summary.mass_kg == Approx(mass).epsilon(1e-6));
    CHECK(mass == Approx(0.04 * 400.0).epsilon(0.1));  // one half at 200, the other at 600 kg/m^3
    CHECK(sim.density == Approx(mass / sim.solid_volume).epsilon(1e-5));
    const auto json = nlohmann::json::parse(asset.settings());
    CHECK(json["material_map"]["materials"][0]["name"] == "wood");
    FindingList faults;
    ValidateAsset(baked.value().bytes, &faults);
    CHECK(faults.all().empty());
  }
}

TEST_CASE("Nothing with area cannot be baked") {
  SurfaceMesh line = {.positions = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}};
  line.triangles = {{0, 1, 2}};
  plush::tests::CompleteMesh(&line);
  FindingList findings;
  const auto result = Bake(ModelOf(line), {}, &findings);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().exit_code == ExitCode::kInvalidInput);
  CHECK(findings.Has("MESH_EMPTY"));
}

TEST_CASE("The import mesher needs tets") {
  ImportedModel model = ModelFromTets(plush::test::TetBox(2, 2, 2, 0.1));
  model.tets = {};
  BakeSettings settings = {.mesher = Mesher::kImport};
  FindingList findings;
  const auto result = Bake(model, settings, &findings);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().exit_code == ExitCode::kUsage);
}

}  // namespace bake_test
