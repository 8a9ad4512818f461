// SPDX-License-Identifier: MIT
// Pin regions from attributes and side-cars, their nodes, and mistakes.
#include "bake/bake.h"
#include "bake/pin_regions.h"
#include "embed/embedding.h"
#include "shapes/tet_shapes.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace plush::tools;
using plush::tests::MakeSphere;

namespace pins_test {

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

// A sphere of two parts in a box of tets, with an attribute and a colour that grow along x.
struct Body {
  SurfaceMesh surface;
  TetMesh cage;
  AssetContent content;
};

Body MakeBody() {
  Body body;
  body.surface = MakeSphere(0.4, 24, 36, {0.5, 0.5, 0.5});
  const auto half = static_cast<uint32_t>(body.surface.triangles.size() / 2);
  body.surface.parts = {{"mesh", "wood", "upper", 0, half}, {"mesh", "steel", "lower", half, half}};
  std::vector<float> ramp;
  for (const Vec3d& p : body.surface.positions) ramp.push_back(static_cast<float>(p.x));
  body.surface.attributes = {{"COLOR_0.r", ramp}, {"_pin", ramp}};
  body.cage = plush::test::TetBox(5, 5, 5, 0.2);
  const Embedding embedding = EmbedPoints(body.surface.positions, body.cage);
  body.content.tet_ids = embedding.tet_ids;
  body.content.weights = embedding.weights;
  return body;
}

PinRule Rule(PinSource source, const std::string& key, double threshold = 0.5) {
  return {"r", source, key, threshold, {}, {}, {}, 0.0};
}

// The region's nodes, as flags.
std::vector<bool> Pinned(const Body& body, const PinRule& rule) {
  FindingList findings;
  const auto regions = MakePinRegions({rule}, body.surface, body.cage, {}, body.content, &findings);
  CHECK(findings.all().empty());
  REQUIRE(regions.size() == 1);
  CHECK(std::is_sorted(regions[0].nodes.begin(), regions[0].nodes.end()));
  std::vector<bool> pinned(body.cage.nodes.size(), false);
  for (const uint32_t node : regions[0].nodes) pinned[node] = true;
  return pinned;
}

// The weight of a vertex on pinned nodes.
double HeldWeight(const Body& body, const std::vector<bool>& pinned, size_t v) {
  const auto& tet = body.cage.tets[body.content.tet_ids[v]];
  const plush::Vec4& w = body.content.weights[v];
  return (pinned[tet[0]] ? w.x : 0.0) + (pinned[tet[1]] ? w.y : 0.0) +
         (pinned[tet[2]] ? w.z : 0.0) + (pinned[tet[3]] ? w.w : 0.0);
}

TEST_CASE("All kinds of pin regions are read") {
  const auto rules = Parsed(R"({"regions": [
    {"name": "a", "attribute": "_pin_a", "threshold": 0.25},
    {"name": "b", "color": "r"},
    {"name": "c", "color": "COLOR_1.g"},
    {"name": "d", "material": "wood"},
    {"name": "e", "node": "foot"},
    {"name": "f", "box": [[0, 0, 0], [1, 2, 3]]},
    {"name": "g", "sphere": {"centre": [1, 2, 3], "radius": 0.5}},
    {"joint": "arm_*"},
    {"joint": "hip"},
    {"name": "h", "joint": "knee", "threshold": 0.6, "radius": 0.05, "last": true}]})");
  REQUIRE(rules.size() == 10);
  CHECK(rules[0].last);
  CHECK(rules[7].source == PinSource::kJoint);
  CHECK(rules[7].name.empty());
  CHECK(rules[7].key == "arm_*");
  CHECK(rules[7].threshold == 0.9);
  CHECK(rules[7].radius == 0.0);
  CHECK_FALSE(rules[7].last);
  CHECK(rules[9].name == "h");
  CHECK(rules[9].threshold == 0.6);
  CHECK(rules[9].radius == 0.05);
  CHECK(rules[9].last);
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
      {R"({"regions": [{"name": "", "joint": "x"}]})", "regions[0].name"},
      {R"({"regions": [{"joint": ""}]})", "regions[0].joint"},
      {R"({"regions": [{"joint": ["x"]}]})", "regions[0].joint"},
      {R"({"regions": [{"joint": "x", "threshold": 0}]})", "threshold"},
      {R"({"regions": [{"joint": "x", "threshold": 1.01}]})", "threshold"},
      {R"({"regions": [{"joint": "x", "radius": 0}]})", "radius"},
      {R"({"regions": [{"joint": "x", "radius": -1}]})", "radius"},
      {R"({"regions": [{"joint": "x", "last": 1}]})", "last"},
      {R"({"regions": [{"joint": "x", "node": "y"}]})", "exactly one"},
      {R"({"regions": [{"name": "a", "node": "x", "radius": 1}]})", "radius"},
      {R"({"regions": [{"name": "a", "node": "x", "last": true}]})", "last"},
  };
  for (const auto& [json, word] : cases) {
    INFO(json);
    CHECK_THAT(Mistake(json), Catch::Contains(word));
  }
}

TEST_CASE("Attributes named _pin... make regions unless the side-car has one of the name") {
  const auto rules = WithAttributeRules(
      Parsed(R"({"regions": [{"name": "pin", "node": "x"}]})"),
      {.attributes = {{"COLOR_0.r", {}}, {"_other", {}}, {"_pin", {}}, {"_pin_top", {}}}});
  REQUIRE(rules.size() == 2);
  CHECK(rules[0].source == PinSource::kNode);
  CHECK(rules[1].name == "pin_top");
  CHECK(rules[1].key == "_pin_top");
  CHECK(rules[1].threshold == 0.5);
}

// The nodes below a plane across `axis`, as flags; none lies within 1e-6 m of it.
std::vector<bool> NodesBelow(const Body& body, int axis, double height) {
  std::vector<bool> below;
  for (const Vec3d& node : body.cage.nodes) below.push_back(node[axis] < height);
  return below;
}

size_t Count(const std::vector<bool>& flags) {
  return static_cast<size_t>(std::count(flags.begin(), flags.end(), true));
}

TEST_CASE("Painted regions pin the nodes that have most of their surface there") {
  const Body body = MakeBody();
  for (const PinRule& rule :
       {Rule(PinSource::kAttribute, "_pin", 0.8), Rule(PinSource::kColor, "COLOR_0.r", 0.8)}) {
    const auto pinned = Pinned(body, rule);
    CHECK(Count(pinned) >= 3);
    // The region is the surface beyond x = 0.8, a plane of nodes. Half of the surface near the
    // nodes of that plane is in it, none of that near the plane before.
    for (size_t i = 0; i < pinned.size(); ++i) {
      if (body.cage.nodes[i].x < 0.75) CHECK_FALSE(pinned[i]);
    }
    for (size_t v = 0; v < body.surface.positions.size(); ++v) {
      if (body.surface.positions[v].x > 0.88) CHECK(HeldWeight(body, pinned, v) > 0.9);
    }
  }
}

TEST_CASE("Values are interpolated over triangles of any size") {
  // The bar has vertices at its ends only, and a ramp along it.
  Body body;
  body.surface = plush::tests::MakeBox({0.01, 0.01, 0.01}, {1.99, 0.19, 0.19});
  std::vector<float> ramp;
  for (const Vec3d& p : body.surface.positions) ramp.push_back(static_cast<float>(p.x));
  body.surface.attributes = {{"_pin", ramp}};
  body.cage = plush::test::TetBox(10, 1, 1, 0.2);
  const Embedding embedding = EmbedPoints(body.surface.positions, body.cage);
  body.content.tet_ids = embedding.tet_ids;
  body.content.weights = embedding.weights;
  for (const double least : {0.7, 1.1, 1.5}) {
    const auto pinned = Pinned(body, Rule(PinSource::kAttribute, "_pin", least));
    std::vector<bool> expected = NodesBelow(body, 0, least + 0.01);
    expected.flip();
    CHECK(pinned == expected);
  }
}

TEST_CASE("Material and node names pin their parts") {
  const Body body = MakeBody();
  const auto wood = Pinned(body, Rule(PinSource::kMaterial, "wood"));
  CHECK(wood == Pinned(body, Rule(PinSource::kNode, "upper")));
  CHECK(Count(wood) > 20);
  CHECK(Count(wood) < wood.size() - 20);
}

TEST_CASE("Boxes and spheres pin the nodes up to half an edge beyond them") {
  const Body body = MakeBody();
  PinRule box = Rule(PinSource::kBox, "");
  // A node lies on each plane of 0, 0.2 ... 1.
  for (int axis = 0; axis < 3; ++axis) {
    for (const double height : {0.45, 0.55, 0.75}) {
      box.low = {-1, -1, -1};
      box.high = {2, 2, 2};
      box.high[axis] = height;
      CHECK(Pinned(body, box) == NodesBelow(body, axis, height + 0.1));
    }
  }
  PinRule sphere = Rule(PinSource::kSphere, "");
  sphere.centre = {0.4, 0.4, 0.4};
  sphere.radius = 0.25;
  const auto in_sphere = Pinned(body, sphere);
  for (size_t i = 0; i < in_sphere.size(); ++i) {
    const double distance = Length(body.cage.nodes[i] - sphere.centre);
    if (distance < 0.1) CHECK(in_sphere[i]);
    if (distance > 0.3) CHECK_FALSE(in_sphere[i]);
  }
}

TEST_CASE("A box at the end of a bar of tets pins the nodes of the end") {
  Body body;
  body.cage = plush::test::TetBox(6, 2, 2, 0.1);
  body.surface = ModelFromTets(body.cage).surface;
  const Embedding embedding = EmbedPoints(body.surface.positions, body.cage);
  body.content.tet_ids = embedding.tet_ids;
  body.content.weights = embedding.weights;
  PinRule box = Rule(PinSource::kBox, "");
  box.low = {-1, -1, -1};
  for (const double depth : {0.001, 0.01, 0.04}) {
    box.high = {depth, 1, 1};
    CHECK(Pinned(body, box) == NodesBelow(body, 0, 0.05));
  }
  box.high = {0.33, 1, 1};  // thick: by mass
  CHECK(Pinned(body, box) == NodesBelow(body, 0, 0.33));
}

TEST_CASE("A region in the inside of one tet holds six nodes that are not on a line") {
  const Body body = MakeBody();
  PinRule sphere = Rule(PinSource::kSphere, "");
  sphere.centre = {0.33, 0.52, 0.47};
  sphere.radius = 0.14;  // hardly as thick as a median edge
  const auto pinned = Pinned(body, sphere);
  std::vector<Vec3d> nodes;
  for (size_t i = 0; i < pinned.size(); ++i) {
    if (pinned[i]) nodes.push_back(body.cage.nodes[i]);
  }
  REQUIRE(nodes.size() >= kFewestPinned);
  double area = 0.0;
  for (const Vec3d& node : nodes) {
    area = std::max(area, Length(Cross(nodes[1] - nodes[0], node - nodes[0])));
  }
  CHECK(area > 0.01);
  // Thinner regions go by surface: this one holds the upper pole.
  sphere.centre = {0.5, 0.9, 0.5};
  sphere.radius = 0.05;
  CHECK(HeldWeight(body, Pinned(body, sphere), 0) > 0.7);
}

TEST_CASE("A region that matches nothing is a finding with a hint") {
  const Body body = MakeBody();
  const struct {
    PinRule rule;
    const char* word;
  } cases[] = {{Rule(PinSource::kMaterial, "wod"), "wood"},
               {Rule(PinSource::kNode, "uper"), "upper"},
               {Rule(PinSource::kAttribute, "_pins"), "_pin"},
               {Rule(PinSource::kColor, "COLOR_0.r", 5.0), "reaches"},
               {Rule(PinSource::kBox, ""), "larger by"}};
  for (const auto& [rule, word] : cases) {
    FindingList findings;
    PinRule placed = rule;
    placed.low = placed.high = {-1, -1, -1};
    CHECK(MakePinRegions({placed}, body.surface, body.cage, {}, body.content, &findings).empty());
    REQUIRE(findings.all().size() == 1);
    CHECK(findings.all()[0].code == "PIN_UNMATCHED");
    CHECK_THAT(findings.all()[0].message, Catch::Contains(word));
    CHECK_THAT(findings.all()[0].remedy, Catch::Contains("box or sphere: move it, or enlarge it"));
  }
}

TEST_CASE("Regions come in ascending order of name") {
  const Body body = MakeBody();
  PinRule b = Rule(PinSource::kNode, "upper"), a = Rule(PinSource::kNode, "lower");
  b.name = "second";
  a.name = "first";
  FindingList findings;
  const auto regions = MakePinRegions({b, a}, body.surface, body.cage, {}, body.content, &findings);
  REQUIRE(regions.size() == 2);
  CHECK(regions[0].name == "first");
  CHECK(regions[1].name == "second");
}

TEST_CASE("Regions are renumbered with the nodes, and their union is ascending") {
  std::vector<RegionContent> regions = {{"a", {0, 2, 4}}, {"b", {1, 2}}, {"c", {}}};
  CHECK(LastNodes(regions) == std::vector<uint32_t>{0, 1, 2, 4});
  regions[1].last = false;
  CHECK(LastNodes(regions) == std::vector<uint32_t>{0, 2, 4});
  const std::vector<uint32_t> order = {3, 4, 2, 1, 0};
  RenumberRegions(order, &regions);
  CHECK(regions[0].nodes == std::vector<uint32_t>{1, 2, 4});
  CHECK(regions[1].nodes == std::vector<uint32_t>{2, 3});
  CHECK(regions[2].nodes.empty());
}

}  // namespace pins_test
