// SPDX-License-Identifier: MIT
// Material maps and their mistakes, and the choice of each tet's material.
#include "bake/materials.h"

#include "shapes/tet_shapes.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace plush::tools;
using Catch::Matchers::Contains;

namespace materials_test {

const Material kDefaults = {2.0e5, 0.3, 800.0, 0.1};

// A box whose triangles have these materials, two triangles each.
SurfaceMesh BoxOf(const std::vector<std::string>& materials) {
  SurfaceMesh box = plush::tests::MakeBox({0, 0, 0}, {1, 1, 1});
  box.parts.clear();
  for (uint32_t i = 0; i < materials.size(); ++i) {
    box.parts.push_back({"mesh", materials[i], "node", 2 * i, 2});
  }
  return box;
}

const std::vector<NamedMaterial> kThree = {{"a", {}}, {"b", {}}, {"c", {}}};

// Right triangles with legs of 1 and `legs` [m]. Each is a part, with the material of the same
// index.
SurfaceMesh Triangles(const std::vector<double>& legs, const std::vector<std::string>& materials) {
  SurfaceMesh mesh;
  for (uint32_t i = 0; i < legs.size(); ++i) {
    mesh.positions.insert(mesh.positions.end(), {{0, 0, 0}, {legs[i], 0, 0}, {0, 1, 0}});
    mesh.triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
    mesh.parts.push_back({"", materials[i], "", i, 1});
  }
  return mesh;
}

// Tets in a row; each shares a face with the next.
TetMesh Row(uint32_t num_tets) {
  TetMesh mesh;
  mesh.nodes.resize(num_tets + 3);
  for (uint32_t t = 0; t < num_tets; ++t) mesh.tets.push_back({t, t + 1, t + 2, t + 3});
  return mesh;
}

std::vector<uint16_t> Choose(const SurfaceMesh& mesh, const std::vector<uint32_t>& vertex_tets,
                             const TetMesh& cage) {
  return ChooseTetMaterials(mesh, kThree, vertex_tets, cage);
}

TEST_CASE("A material map names numbers, and the defaults fill the gaps") {
  const auto map = ParseMaterialMap(
      R"({"materials": [{"name": "fur", "young": 1e4, "poisson": 0.45, "density": 300},
                        {"name": "bone", "young": 1e7}, {"name": ""}]})",
      kDefaults);
  REQUIRE(map.ok());
  REQUIRE(map.value().size() == 3);
  CHECK(map.value()[0].name == "fur");
  CHECK(map.value()[0].material.young == 1e4);
  CHECK(map.value()[0].material.poisson == 0.45);
  CHECK(map.value()[0].material.density == 300.0);
  CHECK(map.value()[1].material.young == 1e7);
  CHECK(map.value()[1].material.poisson == 0.3);
  CHECK(map.value()[1].material.density == 800.0);
  CHECK(map.value()[2].material.young == 2.0e5);
  CHECK(ParseMaterialMap(R"({"materials": []})", kDefaults).value().empty());
}

TEST_CASE("A mistake in a material map is named with its place") {
  const struct {
    const char* json;
    const char* words;
  } cases[] = {
      {"", "parse error"},
      {"{\"materials\": [", "parse error"},
      {"[]", "expected an object"},
      {"{}", "materials: is missing"},
      {R"({"material": []})", "did you mean 'materials'?"},
      {R"({"materials": {}})", "materials: expected an array"},
      {R"({"materials": [{"young": 1}]})", "materials[0].name: is missing"},
      {R"({"materials": [{"name": "a"}, {"name": "b", "yuong": 1}]})",
       "materials[1]: unknown key 'yuong'; did you mean 'young'?"},
      {R"({"materials": [{"name": "a", "young": 0}]})", "materials[0].young: 0 is outside"},
      {R"({"materials": [{"name": "a", "poisson": 0.5}]})", "materials[0].poisson: 0.5 is outside"},
      {R"({"materials": [{"name": "a", "density": "1"}]})", "materials[0].density: expected a num"},
      {R"({"materials": [{"name": "a"}, {"name": "a"}]})", "material 'a' is given twice"},
  };
  for (const auto& [json, words] : cases) {
    const auto map = ParseMaterialMap(json, kDefaults);
    INFO(json);
    REQUIRE_FALSE(map.ok());
    CHECK(map.error().exit_code == ExitCode::kUsage);
    CHECK(map.error().finding_code == "MATERIAL_INVALID");
    CHECK_THAT(map.error().message, Contains(words));
  }
}

TEST_CASE("The source's materials come once each, in the order of their first use") {
  const SurfaceMesh box = BoxOf({"skin", "", "skin", "eye", ""});
  FindingList findings;
  const auto materials =
      MaterialsOf(box, {{"eye", {1e6, 0.2, 1200.0}}, {"", {3e3, 0.1, 10.0}}}, kDefaults, &findings);
  REQUIRE(materials.size() == 3);
  CHECK(materials[0].name == "skin");
  CHECK(materials[0].material.young == kDefaults.young);
  CHECK(materials[1].name.empty());
  CHECK(materials[1].material.young == 3e3);
  CHECK(materials[2].name == "eye");
  CHECK(materials[2].material.density == 1200.0);
  CHECK(findings.all().empty());
}

TEST_CASE("A source without parts has one material without a name") {
  FindingList findings;
  const auto materials = MaterialsOf({}, {}, kDefaults, &findings);
  REQUIRE(materials.size() == 1);
  CHECK(materials[0].name.empty());
  CHECK(materials[0].material.young == kDefaults.young);
}

TEST_CASE("A name that no part has is a finding with a hint") {
  FindingList findings;
  MaterialsOf(BoxOf({"skin", "eye"}), {{"sknn", {}}, {"eye", {}}}, kDefaults, &findings);
  REQUIRE(findings.all().size() == 1);
  CHECK(findings.all()[0].code == "MATERIAL_UNMATCHED");
  CHECK(findings.all()[0].severity == Severity::kWarning);
  CHECK_THAT(findings.all()[0].message, Contains("'sknn'") && Contains("did you mean 'skin'?"));
}

TEST_CASE("A tet takes the material with the largest area in it") {
  const SurfaceMesh mesh = Triangles({1.0, 0.6, 0.6, 0.9}, {"a", "b", "b", "c"});
  // In one tet, b has the largest area, 1.2 of 3.1. If b's second half is in tet 1, a has the
  // largest.
  CHECK(Choose(mesh, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, Row(1)) == std::vector<uint16_t>{1});
  CHECK(Choose(mesh, {0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0}, Row(2)) == std::vector<uint16_t>{0, 1});
}

TEST_CASE("A triangle's area counts by thirds for the tets of its corners") {
  const SurfaceMesh mesh = Triangles({1.0, 0.4}, {"a", "b"});
  // Tet 0: 1/3 of a, all of b (0.4); tet 1: 2/3 of a.
  CHECK(Choose(mesh, {0, 1, 1, 0, 0, 0}, Row(2)) == std::vector<uint16_t>{1, 0});
  // Tet 0: 2/3 of a, all of b.
  CHECK(Choose(mesh, {0, 0, 1, 0, 0, 0}, Row(2)) == std::vector<uint16_t>{0, 0});
}

TEST_CASE("At a tie the material of lowest index wins, whatever the order of the triangles") {
  CHECK(Choose(Triangles({1, 1}, {"c", "b"}), {0, 0, 0, 0, 0, 0}, Row(1))[0] == 1);
  CHECK(Choose(Triangles({1, 1}, {"b", "c"}), {0, 0, 0, 0, 0, 0}, Row(1))[0] == 1);
  CHECK(Choose(Triangles({0, 0}, {"c", "b"}), {0, 0, 0, 0, 0, 0}, Row(1))[0] == 1);  // no area
}

TEST_CASE("Tets without triangles take the nearest tet's material, of lowest id at a tie") {
  const SurfaceMesh mesh = Triangles({1, 1}, {"c", "b"});
  // c in tet 1, b in tet 5: tet 3 is equally far from both.
  CHECK(Choose(mesh, {1, 1, 1, 5, 5, 5}, Row(8)) == std::vector<uint16_t>{2, 2, 2, 2, 1, 1, 1, 1});
  CHECK(Choose(mesh, {5, 5, 5, 1, 1, 1}, Row(8)) == std::vector<uint16_t>{1, 1, 1, 1, 2, 2, 2, 2});
}

TEST_CASE("Tets that cannot be reached take the first material") {
  TetMesh cage = Row(2);
  cage.nodes.resize(9);
  cage.tets.push_back({5, 6, 7, 8});
  CHECK(Choose(Triangles({1, 1}, {"b", "b"}), {0, 0, 0, 0, 0, 0}, cage) ==
        std::vector<uint16_t>{1, 1, 0});
}

TEST_CASE("Nearest means fewest faces: the same as a search from every tet") {
  const TetMesh cage = plush::test::TetBox(4, 3, 3, 0.1);
  const std::vector<uint32_t> seeds = {7, 60, 61, 100, 150};
  SurfaceMesh mesh = Triangles({1, 1, 1, 1, 1}, {"a", "b", "c", "b", "c"});
  std::vector<uint32_t> vertex_tets;
  for (const uint32_t seed : seeds) vertex_tets.insert(vertex_tets.end(), 3, seed);
  const auto chosen = Choose(mesh, vertex_tets, cage);
  const auto adjacent = [&](size_t s, size_t t) {
    int shared = 0;
    for (const uint32_t node : cage.tets[s]) {
      shared += static_cast<int>(std::count(cage.tets[t].begin(), cage.tets[t].end(), node));
    }
    return shared == 3;
  };
  for (size_t t = 0; t < cage.tets.size(); ++t) {
    std::vector<int> distance(cage.tets.size(), -1);
    std::vector<size_t> queue = {t};
    distance[t] = 0;
    for (size_t next = 0; next < queue.size(); ++next) {
      for (size_t u = 0; u < cage.tets.size(); ++u) {
        if (distance[u] >= 0 || !adjacent(queue[next], u)) continue;
        distance[u] = distance[queue[next]] + 1;
        queue.push_back(u);
      }
    }
    const auto nearest = std::min_element(seeds.begin(), seeds.end(), [&](uint32_t a, uint32_t b) {
      return distance[a] < distance[b];
    });
    INFO("tet " << t);
    CHECK(chosen[t] == chosen[*nearest]);
  }
}

}  // namespace materials_test
