// SPDX-License-Identifier: MIT
#include "bake/pin_rules.h"

#include <catch2/catch.hpp>

using namespace plush::tools;

namespace {

std::vector<PinRule> Parsed(const std::string& json) {
  const auto rules = ParsePinRules(json);
  INFO((rules.ok() ? "" : rules.error().message));
  REQUIRE(rules.ok());
  return rules.value();
}

std::string Mistake(const std::string& json) {
  const auto rules = ParsePinRules(json);
  REQUIRE_FALSE(rules.ok());
  CHECK(rules.error().exit_code == ExitCode::kUsage);
  return rules.error().message;
}

}  // namespace

TEST_CASE("All kinds of pin regions are read") {
  const auto rules = Parsed(R"({"regions": [
    {"name": "a", "attribute": "_pin_a", "threshold": 0.25},
    {"name": "b", "color": "r"},
    {"name": "c", "color": "COLOR_1.g"},
    {"name": "d", "material": "wood"},
    {"name": "e", "node": "foot"},
    {"name": "f", "box": [[0, 0, 0], [1, 2, 3]]},
    {"name": "g", "sphere": {"centre": [1, 2, 3], "radius": 0.5}}]})");
  REQUIRE(rules.size() == 7);
  CHECK(rules[0].source == PinSource::kAttribute);
  CHECK(rules[0].key == "_pin_a");
  CHECK(rules[0].threshold == 0.25);
  CHECK(rules[1].key == "COLOR_0.r");
  CHECK(rules[1].threshold == 0.5);
  CHECK(rules[2].key == "COLOR_1.g");
  CHECK(rules[3].source == PinSource::kMaterial);
  CHECK(rules[4].source == PinSource::kNode);
  CHECK(rules[5].high == Vec3d{1, 2, 3});
  CHECK(rules[6].centre == Vec3d{1, 2, 3});
  CHECK(rules[6].radius == 0.5);
  CHECK(Parsed(R"({"regions": []})").empty());
}

TEST_CASE("Mistakes in a pins side-car name the key") {
  const struct {
    const char* json;
    const char* word;
  } cases[] = {
      {"", "parse"},
      {"{]", "parse"},
      {"{}", "regions"},
      {R"({"region": []})", "regions"},
      {R"({"regions": {}})", "regions"},
      {R"({"regions": [{"box": [[0,0,0],[1,1,1]]}]})", "regions[0].name"},
      {R"({"regions": [{"name": "", "node": "x"}]})", "regions[0].name"},
      {R"({"regions": [{"name": "a"}]})", "exactly one"},
      {R"({"regions": [{"name": "a", "node": "x", "material": "y"}]})", "exactly one"},
      {R"({"regions": [{"name": "a", "materail": "x"}]})", "material"},
      {R"({"regions": [{"name": "a", "node": 7}]})", "regions[0].node"},
      {R"({"regions": [{"name": "a", "box": [[0,0,0]]}]})", "regions[0].box"},
      {R"({"regions": [{"name": "a", "box": [[0,0,0],[0,"1",0]]}]})", "regions[0].box"},
      {R"({"regions": [{"name": "a", "box": [[0,2,0],[1,1,1]]}]})", "lower"},
      {R"({"regions": [{"name": "a", "sphere": {"centre": [0,0,0]}}]})", "radius"},
      {R"({"regions": [{"name": "a", "sphere": {"radius": 1}}]})", "centre"},
      {R"({"regions": [{"name": "a", "sphere": {"centre": [0,0,0], "radius": 0}}]})", "radius"},
      {R"({"regions": [{"name": "a", "node": "x", "threshold": 1}]})", "threshold"},
      {R"({"regions": [{"name": "a", "attribute": "x", "threshold": 1e99}]})", "threshold"},
      {R"({"regions": [{"name": "a", "node": "x"}, {"name": "a", "node": "y"}]})", "twice"},
  };
  for (const auto& [json, word] : cases) {
    INFO(json);
    CHECK_THAT(Mistake(json), Catch::Contains(word));
  }
}

TEST_CASE("Attributes named _pin... make regions unless the side-car has one of the name") {
  SurfaceMesh mesh;
  mesh.attributes = {{"COLOR_0.r", {}}, {"_other", {}}, {"_pin", {}}, {"_pin_top", {}}};
  const auto rules =
      WithAttributeRules(Parsed(R"({"regions": [{"name": "pin", "node": "x"}]})"), mesh);
  REQUIRE(rules.size() == 2);
  CHECK(rules[0].source == PinSource::kNode);
  CHECK(rules[1].name == "pin_top");
  CHECK(rules[1].key == "_pin_top");
  CHECK(rules[1].threshold == 0.5);
}
