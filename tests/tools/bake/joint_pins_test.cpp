// SPDX-License-Identifier: MIT
// Joint regions: names and patterns, bones, the vertices nearest to nodes, and the nodes found.
#include "bake/joint_pins.h"

#include "bake/pin_regions.h"
#include "embed/embedding.h"
#include "shapes/tet_shapes.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace plush::tools;

namespace joint_pins_test {

constexpr uint32_t kSeed = 20;

PinRule JointRule(const std::string& key, const std::string& name = "") {
  return PinRule{
      .name = name, .source = PinSource::kJoint, .key = key, .threshold = 0.9, .last = false};
}

SurfaceMesh MeshWithJoints(const std::vector<std::string>& names) {
  SurfaceMesh mesh;
  for (const std::string& name : names) {
    mesh.joints.emplace_back();
    mesh.joints.back().name = name;
  }
  return mesh;
}

std::vector<std::string> Names(const std::vector<PinRule>& rules) {
  std::vector<std::string> names;
  for (const PinRule& rule : rules) names.push_back(rule.name);
  return names;
}

std::vector<std::string> Expanded(const std::vector<PinRule>& rules, const SurfaceMesh& mesh) {
  const auto expanded = WithJointRules(rules, mesh);
  if (!expanded.ok()) return {expanded.error().message};
  return Names(expanded.value());
}

// Reference: try every length for each star.
bool Matches(const std::string& pattern, const std::string& name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] != '*') {
    return !name.empty() && name[0] == pattern[0] && Matches(pattern.substr(1), name.substr(1));
  }
  for (size_t taken = 0; taken <= name.size(); ++taken) {
    if (Matches(pattern.substr(1), name.substr(taken))) return true;
  }
  return false;
}

// A bar along x in 20 cells of 0.1 m, with a surface inside it. Two joints share it at x = 1.
struct Arm {
  SurfaceMesh surface;
  TetMesh cage = plush::test::TetBox(20, 4, 4, 0.1);
  AssetContent content;

  Arm() {
    surface = plush::tests::MakeGridBox({0.02, 0.02, 0.02}, {1.98, 0.38, 0.38}, 12);
    surface.joints.resize(3);
    const char* names[] = {"upper", "lower", "hand"};
    for (size_t i = 0; i < 3; ++i) {
      surface.joints[i].name = names[i];
      surface.joints[i].parent = static_cast<int32_t>(i) - 1;
      surface.joints[i].position = {static_cast<double>(i), 0.2, 0.2};
    }
    surface.joints[1].rotation = {0.0f, 0.6f, 0.0f, 0.8f};
    for (uint32_t v = 0; v < surface.positions.size(); ++v) {
      const double lower = std::clamp(2.0 * (surface.positions[v].x - 0.75), 0.0, 1.0);
      if (lower < 1.0) surface.joints[0].weights.push_back({v, static_cast<float>(1.0 - lower)});
      if (lower > 0.0) surface.joints[1].weights.push_back({v, static_cast<float>(lower)});
    }
    const Embedding embedding = EmbedPoints(surface.positions, cage);
    content.tet_ids = embedding.tet_ids;
    content.weights = embedding.weights;
  }

  std::vector<RegionContent> Regions(const PinRule& rule, FindingList* findings) const {
    const auto rules = WithJointRules({rule}, surface);
    REQUIRE(rules.ok());
    return MakePinRegions(rules.value(), surface, cage, {}, content, findings);
  }
};

TEST_CASE("Stars of a pattern match any letters") {
  CHECK(MatchesPattern("arm", "arm"));
  CHECK_FALSE(MatchesPattern("arm", "arms"));
  CHECK(MatchesPattern("*", ""));
  CHECK(MatchesPattern("arm*", "arm"));
  CHECK(MatchesPattern("*:arm_*", "mixamorig:arm_l"));
  CHECK_FALSE(MatchesPattern("*_l", "arm_r"));
  CHECK_FALSE(MatchesPattern("Arm", "arm"));
  std::mt19937 random(kSeed);
  int matches = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string pattern;
    std::string name;
    for (size_t k = random() % 7; k > 0; --k) pattern += "ab*"[random() % 3];
    for (size_t k = random() % 8; k > 0; --k) name += "ab"[random() % 2];
    INFO(pattern << " " << name);
    REQUIRE(MatchesPattern(pattern, name) == Matches(pattern, name));
    matches += MatchesPattern(pattern, name) ? 1 : 0;
  }
  CHECK(matches > 2000);
}

TEST_CASE("A rule becomes a region for each joint that it matches") {
  const SurfaceMesh mesh = MeshWithJoints({"hips", "arm_l", "arm_r", "twin", "twin"});
  using Texts = std::vector<std::string>;
  CHECK(Expanded({JointRule("hips")}, mesh) == Texts{"hips"});
  CHECK(Expanded({JointRule("hips", "base")}, mesh) == Texts{"base"});
  CHECK(Expanded({JointRule("arm_*")}, mesh) == Texts{"arm_l", "arm_r"});
  CHECK(Expanded({JointRule("arm_*", "arms")}, mesh) == Texts{"arms.arm_l", "arms.arm_r"});
  CHECK(Expanded({JointRule("arm_l*", "left")}, mesh) == Texts{"left"});
  CHECK(Expanded({JointRule("twin")}, mesh) == Texts{"twin", "twin.2"});
  CHECK(Expanded({JointRule("twin", "t")}, mesh) == Texts{"t.twin", "t.twin.2"});
  CHECK(Expanded({JointRule("tail")}, mesh) == Texts{"tail"});
  CHECK(Expanded({JointRule("tail", "t")}, mesh) == Texts{"t"});
  const auto both = WithJointRules({JointRule("arm_*"), JointRule("*_l")}, mesh);
  REQUIRE_FALSE(both.ok());
  CHECK(both.error().finding_code == "PIN_INVALID");
  CHECK(both.error().exit_code == ExitCode::kUsage);
  CHECK_THAT(both.error().message, Catch::Contains("arm_l"));
  const auto rules = WithJointRules({JointRule("arm_*")}, mesh);
  CHECK(rules.value()[1].joint == 2);
  PinRule box;
  box.name = "box";
  box.source = PinSource::kBox;
  CHECK(WithJointRules({box}, mesh).value()[0].joint == -1);
}

TEST_CASE("A bone is the segments to the joint's children") {
  SurfaceMesh mesh = MeshWithJoints({"root", "a", "b", "tip"});
  mesh.joints[1].parent = 0;
  mesh.joints[2].parent = 0;
  mesh.joints[3].parent = 1;
  mesh.joints[0].position = {0, 0, 0};
  mesh.joints[1].position = {1, 0, 0};
  mesh.joints[2].position = {0, 2, 0};
  mesh.joints[3].position = {1, 0, 3};
  std::mt19937 random(kSeed);
  const auto uniform = [&random] { return static_cast<double>(random()) / 1.0e9 - 1.0; };
  for (int i = 0; i < 100; ++i) {
    const Vec3d p = {uniform(), uniform(), uniform()};
    for (uint32_t joint = 0; joint < 4; ++joint) {
      double least = Length(p - mesh.joints[joint].position);
      for (const SurfaceJoint& child : mesh.joints) {
        for (int k = 0; k <= 1000 && child.parent == int(joint); ++k) {
          const Vec3d on = mesh.joints[joint].position +
                           (k / 1000.0) * (child.position - mesh.joints[joint].position);
          least = std::min(least, Length(p - on));
        }
      }
      const double found = Bone(mesh.joints, joint).Distance(p);
      CHECK(found <= least + 1e-12);
      CHECK(found >= least - 0.002);
    }
  }
}

TEST_CASE("The nearest vertex of a node is measured along the cage") {
  // Two separate bars that nearly touch: Bellman-Ford over all edges is the reference.
  SurfaceMesh surface;
  TetMesh cage = plush::test::TetBox(5, 1, 1, 0.1, 0.09, kSeed);
  const auto half = static_cast<uint32_t>(cage.nodes.size());
  const TetMesh other = plush::test::TetBox(5, 1, 1, 0.1, 0.09, kSeed + 1);
  for (const Vec3d& node : other.nodes) cage.nodes.push_back(node + Vec3d{0.0, 0.101, 0.0});
  const size_t num_tets = cage.tets.size();
  for (const auto& t : other.tets) {
    cage.tets.push_back({t[0] + half, t[1] + half, t[2] + half, t[3] + half});
  }
  AssetContent content;
  std::mt19937 random(kSeed);
  for (int i = 0; i < 12; ++i) {
    // The second bar has few vertices, far from most of its nodes.
    const size_t tet = i < 10 ? random() % num_tets : num_tets + random() % 3;
    const auto& t = cage.tets[tet];
    surface.positions.push_back(0.25 * (cage.nodes[t[0]] + cage.nodes[t[1]]) +
                                0.25 * (cage.nodes[t[2]] + cage.nodes[t[3]]));
    content.tet_ids.push_back(static_cast<uint32_t>(tet));
  }
  const std::vector<uint32_t> found = NearestVertices(surface, cage, content);
  for (uint32_t node = 0; node < cage.nodes.size(); ++node) {
    CHECK((found[node] < 10) == (node < half));
  }
  std::vector<double> least(cage.nodes.size(), std::numeric_limits<double>::infinity());
  std::vector<uint32_t> nearest(cage.nodes.size(), UINT32_MAX);
  for (uint32_t v = 0; v < surface.positions.size(); ++v) {
    for (const uint32_t node : cage.tets[content.tet_ids[v]]) {
      const double d = Length(cage.nodes[node] - surface.positions[v]);
      if (d < least[node]) least[node] = d, nearest[node] = v;
    }
  }
  for (size_t pass = 0; pass < cage.nodes.size(); ++pass) {
    for (const auto& t : cage.tets) {
      for (const uint32_t a : t) {
        for (const uint32_t b : t) {
          const double d = least[a] + Length(cage.nodes[b] - cage.nodes[a]);
          if (d < least[b] - 1e-12) least[b] = d, nearest[b] = nearest[a];
        }
      }
    }
  }
  CHECK(found == nearest);
}

TEST_CASE("A joint's region has the nodes that carry its vertices") {
  const Arm arm;
  FindingList findings;
  const auto regions = arm.Regions(JointRule("*er"), &findings);
  CHECK(findings.all().empty());
  REQUIRE(regions.size() == 2);
  CHECK(regions[0].name == "lower");
  REQUIRE(regions[0].rest.has_value());
  CHECK(regions[0].rest->position.x == 1.0f);
  CHECK(regions[0].rest->rotation.y == 0.6f);
  CHECK_FALSE(regions[0].last);
  CHECK(LastNodes(regions).empty());
  for (const RegionContent& region : regions) {
    const bool is_lower = region.name == "lower";
    std::vector<bool> expected(arm.cage.nodes.size(), false);
    for (size_t v = 0; v < arm.surface.positions.size(); ++v) {
      // Weight 0.9 is reached at 1.2, and for the other joint at 0.8.
      const double x = arm.surface.positions[v].x;
      if (is_lower ? x < 1.2 : x > 0.8) continue;
      const plush::Vec4& w = arm.content.weights[v];
      const float weights[4] = {w.x, w.y, w.z, w.w};
      for (size_t k = 0; k < 4; ++k) {
        if (weights[k] >= kPinWeight) expected[arm.cage.tets[arm.content.tet_ids[v]][k]] = true;
      }
    }
    size_t num = 0;
    for (size_t i = 0; i < expected.size(); ++i) num += expected[i] ? 1 : 0;
    CHECK(num == region.nodes.size());
    for (const uint32_t node : region.nodes) CHECK(expected[node]);
  }
  PinRule last = JointRule("lower");
  last.last = true;
  CHECK(LastNodes(arm.Regions(last, &findings)) == regions[0].nodes);
}

TEST_CASE("With a radius it has the nodes along the bone") {
  const Arm arm;
  FindingList findings;
  PinRule rule = JointRule("lower");
  rule.radius = 0.11;  // the axis and the four lines of nodes beside it
  const auto regions = arm.Regions(rule, &findings);
  REQUIRE(regions.size() == 1);
  const std::vector<uint32_t> nearest = NearestVertices(arm.surface, arm.cage, arm.content);
  std::vector<uint32_t> expected;
  for (uint32_t i = 0; i < arm.cage.nodes.size(); ++i) {
    const Vec3d& p = arm.cage.nodes[i];
    const double from_axis = std::hypot(p.y - 0.2, p.z - 0.2);
    const bool is_lower = arm.surface.positions[nearest[i]].x >= 1.2;
    if (is_lower && from_axis <= 0.11) expected.push_back(i);
  }
  CHECK(regions[0].nodes == expected);
  CHECK(expected.size() >= 5 * 7);
  CHECK(expected.size() <= 5 * 9);
}

TEST_CASE("Joint regions that match nothing say what would match") {
  Arm arm;
  PinRule thin = JointRule("lower");
  thin.radius = 1e-6;
  arm.surface.joints[1].position.y = 0.25;
  arm.surface.joints[2].position.y = 0.25;
  const struct {
    PinRule rule;
    const char* word;
  } cases[] = {{JointRule("uper"), "did you mean 'upper'"},
               {JointRule("x*"), "unknown joint 'x*'"},
               {JointRule("hand"), "at no vertex has joint 'hand' a weight of 0.9"},
               {thin, "within 1e-06 m of the bone of joint 'lower'"}};
  for (const auto& [rule, word] : cases) {
    FindingList findings;
    CHECK(arm.Regions(rule, &findings).empty());
    REQUIRE(findings.all().size() == 1);
    CHECK(findings.all()[0].code == "PIN_UNMATCHED");
    CHECK_THAT(findings.all()[0].message, Catch::Contains(word));
  }
  arm.surface.joints.clear();
  FindingList findings;
  CHECK(arm.Regions(JointRule("*"), &findings).empty());
  CHECK_THAT(findings.all()[0].message, Catch::Contains("has no joints"));
}

}  // namespace joint_pins_test
