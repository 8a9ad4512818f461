// SPDX-License-Identifier: MIT
#include "bake/material_map.h"

#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

using namespace plush::tools;
using Catch::Matchers::Contains;

namespace {

const Material kDefaults = {2.0e5, 0.3, 800.0, 0.1};

// A box whose triangles have these materials, two each.
SurfaceMesh BoxOf(const std::vector<std::string>& materials) {
  SurfaceMesh box = plush::tests::MakeBox({0, 0, 0}, {1, 1, 1});
  box.parts.clear();
  for (uint32_t i = 0; i < materials.size(); ++i) {
    box.parts.push_back({"mesh", materials[i], "node", 2 * i, 2});
  }
  return box;
}

}  // namespace

TEST_CASE("A material map names numbers; the defaults fill the gaps") {
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
