// SPDX-License-Identifier: MIT
// Reads the pins side-car into rules, finds the vertices that match each rule, and pins the cage
// nodes that carry them.
#include "bake/pins.h"

#include "bake/joint_pins.h"
#include "base/material_limits.h"
#include "base/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace plush::tools {
namespace {

constexpr size_t kMaxRegions = 1024;

constexpr NamedValue<PinSource> kSources[] = {{"attribute", PinSource::kAttribute},
                                              {"color", PinSource::kColor},
                                              {"material", PinSource::kMaterial},
                                              {"node", PinSource::kNode},
                                              {"box", PinSource::kBox},
                                              {"sphere", PinSource::kSphere},
                                              {"joint", PinSource::kJoint}};

constexpr double kJointThreshold = 0.9;
constexpr NumberRange kJointThresholds = {0.0, 1.0, true};

bool ReadPoint(const JsonObject& reader, const char* key, Vec3d* out_point) {
  std::array<double, 3> numbers = {};
  if (!reader.Vector(key, numbers)) return false;
  *out_point = {numbers[0], numbers[1], numbers[2]};
  return true;
}

void ReadJointKeys(const JsonObject& region, PinRule* rule) {
  if (rule->key.empty()) region.Mistake("joint", "expected the name of a joint");
  rule->threshold = kJointThreshold;
  region.Number("threshold", kJointThresholds, &rule->threshold);
  region.Number("radius", kRadiusRange, &rule->radius);
  rule->last = false;
  region.Boolean("last", &rule->last);
}

PinRule ReadRegion(const nlohmann::json& value, const std::string& path, std::string* mistake) {
  const JsonObject region(value, path,
                          {"name", "attribute", "color", "material", "node", "box", "sphere",
                           "joint", "threshold", "radius", "last"},
                          mistake);
  PinRule rule;
  region.String("name", &rule.name);
  if (rule.name.empty() && (region.Has("name") || !region.Has("joint"))) {
    region.Mistake("name", "is missing or empty");
  }
  const auto is_given = [&](const NamedValue<PinSource>& known) { return region.Has(known.name); };
  if (std::count_if(std::begin(kSources), std::end(kSources), is_given) != 1) {
    region.Mistake("",
                   "expected exactly one of attribute, color, material, node, box, sphere, joint");
    return rule;
  }
  const auto& source = *std::find_if(std::begin(kSources), std::end(kSources), is_given);
  rule.source = source.value;
  if (rule.source == PinSource::kBox) {
    ReadBox(region, &rule.low, &rule.high);
  } else if (rule.source == PinSource::kSphere) {
    ReadSphere(region, mistake, &rule.centre, &rule.radius);
  } else {
    region.String(source.name, &rule.key);
  }
  // "r" is the red of the first colour set.
  if (rule.source == PinSource::kColor && rule.key.size() == 1) rule.key = "COLOR_0." + rule.key;
  if (rule.source == PinSource::kJoint) {
    ReadJointKeys(region, &rule);
  } else {
    for (const char* key : {"radius", "last"}) {
      if (region.Has(key)) region.Mistake(key, "belongs beside a joint");
    }
    region.Number("threshold", {-1.0e30, 1.0e30}, &rule.threshold);
  }
  if (region.Has("threshold") && rule.source != PinSource::kAttribute &&
      rule.source != PinSource::kColor && rule.source != PinSource::kJoint) {
    region.Mistake("threshold", "belongs beside an attribute, a color or a joint");
  }
  return rule;
}

bool HasName(const std::vector<PinRule>& rules, const std::string& name) {
  return std::any_of(rules.begin(), rules.end(),
                     [&](const PinRule& rule) { return rule.name == name; });
}

bool Holds(const PinRule& rule, const Vec3d& point) {
  if (rule.source == PinSource::kBox) {
    return Max(rule.low, Min(point, rule.high)) == point;
  }
  return LengthSquared(point - rule.centre) <= rule.radius * rule.radius;
}

bool IsVolume(const PinRule& rule) {
  return rule.source == PinSource::kBox || rule.source == PinSource::kSphere;
}

bool IsOfParts(const PinRule& rule) {
  return rule.source == PinSource::kMaterial || rule.source == PinSource::kNode;
}

const std::string& NameIn(const SurfacePart& part, PinSource source) {
  return source == PinSource::kMaterial ? part.material : part.node;
}

// Joints that the rule has not found match nothing.
void MatchJoint(const PinRule& rule, const SurfaceMesh& surface, std::vector<bool>* matches) {
  if (rule.joint < 0) return;
  const auto threshold = static_cast<float>(rule.threshold);
  for (const auto& [vertex, weight] : surface.joints[static_cast<size_t>(rule.joint)].weights) {
    if (weight >= threshold) (*matches)[vertex] = true;
  }
}

std::vector<bool> MatchVertices(const PinRule& rule, const SurfaceMesh& surface) {
  std::vector<bool> matches(surface.positions.size(), false);
  if (rule.source == PinSource::kJoint) {
    MatchJoint(rule, surface, &matches);
    return matches;
  }
  if (IsVolume(rule)) {
    for (size_t v = 0; v < matches.size(); ++v) matches[v] = Holds(rule, surface.positions[v]);
  } else if (IsOfParts(rule)) {
    for (const SurfacePart& part : surface.parts) {
      if (NameIn(part, rule.source) != rule.key) continue;
      for (uint32_t t = part.first_triangle; t < part.first_triangle + part.num_triangles; ++t) {
        for (const uint32_t vertex : surface.triangles[t]) matches[vertex] = true;
      }
    }
  } else {
    for (const VertexAttribute& attribute : surface.attributes) {
      if (attribute.name != rule.key) continue;
      for (size_t v = 0; v < matches.size(); ++v) {
        matches[v] = static_cast<double>(attribute.values[v]) >= rule.threshold;
      }
    }
  }
  return matches;
}

// The names that the rule's key could have meant.
std::vector<std::string_view> Candidates(const PinRule& rule, const SurfaceMesh& surface) {
  std::vector<std::string_view> names;
  if (rule.source == PinSource::kJoint) {
    for (const SurfaceJoint& joint : surface.joints) names.push_back(joint.name);
  } else if (IsOfParts(rule)) {
    for (const SurfacePart& part : surface.parts) {
      const std::string& name = NameIn(part, rule.source);
      if (!name.empty()) names.push_back(name);
    }
  } else {
    for (const VertexAttribute& attribute : surface.attributes) names.push_back(attribute.name);
  }
  return names;
}

// The nodes near the rule's bone whose nearest vertex matches.
std::vector<uint32_t> NodesAlongBone(const PinRule& rule, const SurfaceMesh& surface,
                                     const TetMesh& cage, std::span<const uint32_t> nearest) {
  std::vector<uint32_t> nodes;
  if (rule.joint < 0) return nodes;
  const Bone bone(surface.joints, static_cast<uint32_t>(rule.joint));
  const std::vector<bool> matches = MatchVertices(rule, surface);
  for (uint32_t i = 0; i < cage.nodes.size(); ++i) {
    if (nearest[i] == UINT32_MAX || !matches[nearest[i]]) continue;
    if (bone.Distance(cage.nodes[i]) <= rule.radius) nodes.push_back(i);
  }
  return nodes;
}

std::vector<uint32_t> NodesOf(const PinRule& rule, const SurfaceMesh& surface, const TetMesh& cage,
                              const AssetContent& content) {
  const std::vector<bool> matches = MatchVertices(rule, surface);
  std::vector<bool> pinned(cage.nodes.size(), false);
  for (size_t v = 0; v < matches.size(); ++v) {
    if (!matches[v]) continue;
    const auto& tet = cage.tets[content.tet_ids[v]];
    const Vec4& weights = content.weights[v];
    if (weights.x >= kPinWeight) pinned[tet[0]] = true;
    if (weights.y >= kPinWeight) pinned[tet[1]] = true;
    if (weights.z >= kPinWeight) pinned[tet[2]] = true;
    if (weights.w >= kPinWeight) pinned[tet[3]] = true;
  }
  std::vector<uint32_t> nodes;
  for (uint32_t i = 0; i < pinned.size(); ++i) {
    if (pinned[i] || (IsVolume(rule) && Holds(rule, cage.nodes[i]))) nodes.push_back(i);
  }
  return nodes;
}

std::string UnmatchedMessage(const PinRule& rule, const SurfaceMesh& surface) {
  const std::string region = "region '" + rule.name + "' matches nothing";
  if (IsVolume(rule)) return region + ": no vertex and no cage node lies in it";
  if (rule.source == PinSource::kJoint && surface.joints.empty()) {
    return region + ": the source has no joints that move its vertices";
  }
  if (rule.joint >= 0) {
    const std::string joint =
        " joint '" + surface.joints[static_cast<size_t>(rule.joint)].name + "'";
    const std::string reach = " a weight of " + RoundedText(rule.threshold);
    if (!(rule.radius > 0.0)) return region + ": at no vertex has" + joint + reach;
    return region + ": no cage node lies within " + RoundedText(rule.radius) + " m of the bone of" +
           joint + " and near a vertex at which it has" + reach;
  }
  const std::vector<std::string_view> names = Candidates(rule, surface);
  if (std::find(names.begin(), names.end(), rule.key) != names.end()) {
    return region + ": no vertex reaches " + std::to_string(rule.threshold) + " in '" + rule.key +
           "'";
  }
  // A colour's channels are attributes, too.
  const bool is_color = rule.source == PinSource::kColor;
  const PinSource kind = is_color ? PinSource::kAttribute : rule.source;
  return region + ": " + UnknownNameMessage(NameOf<PinSource>(kSources, kind), rule.key, names);
}

}  // namespace

void ReadBox(const JsonObject& object, Vec3d* out_low, Vec3d* out_high) {
  const auto corners = object.Array("box", 2);
  std::string corner_mistake;
  bool read = corners.size() == 2;
  if (read) {
    const nlohmann::json both = {{"low", corners[0]}, {"high", corners[1]}};
    const JsonObject reader(both, "", {"low", "high"}, &corner_mistake);
    read = ReadPoint(reader, "low", out_low) && ReadPoint(reader, "high", out_high);
  }
  if (!read) {
    object.Mistake("box", "expected a lower and an upper corner, [[x,y,z],[x,y,z]]");
  } else if (!(Min(*out_low, *out_high) == *out_low)) {
    object.Mistake("box", "the first corner must be the lower one in x, y and z");
  }
}

void ReadSphere(const JsonObject& object, std::string* mistake, Vec3d* out_centre,
                double* out_radius) {
  const JsonObject reader(*object.Value("sphere"), object.PathOf("sphere"), {"centre", "radius"},
                          mistake);
  if (!ReadPoint(reader, "centre", out_centre)) reader.Mistake("centre", "is missing");
  if (!reader.Number("radius", kRadiusRange, out_radius)) reader.Mistake("radius", "is missing");
}

Result<std::vector<PinRule>> ParsePinRules(std::string_view json) {
  const Result<nlohmann::json> document = ParseJson(json);
  if (!document.ok()) return Error{ExitCode::kUsage, document.error().message, "PIN_INVALID"};
  std::string mistake;
  const JsonObject reader(document.value(), "", {"regions"}, &mistake);
  if (!reader.Has("regions")) reader.Mistake("regions", "is missing");
  std::vector<PinRule> rules;
  for (const nlohmann::json& value : reader.Array("regions", kMaxRegions)) {
    const std::string path = "regions[" + std::to_string(rules.size()) + "]";
    PinRule rule = ReadRegion(value, path, &mistake);
    if (!rule.name.empty() && HasName(rules, rule.name) && mistake.empty()) {
      mistake = path + ".name: region '" + rule.name + "' is given twice";
    }
    rules.push_back(std::move(rule));
  }
  if (!mistake.empty()) return Error{ExitCode::kUsage, mistake, "PIN_INVALID"};
  return rules;
}

std::vector<PinRule> WithAttributeRules(std::vector<PinRule> rules, const SurfaceMesh& mesh) {
  for (const VertexAttribute& attribute : mesh.attributes) {
    if (!attribute.name.starts_with("_pin")) continue;
    PinRule rule;
    rule.name = attribute.name.substr(1);
    rule.key = attribute.name;
    if (!HasName(rules, rule.name)) rules.push_back(std::move(rule));
  }
  return rules;
}

std::vector<RegionContent> MakePinRegions(const std::vector<PinRule>& rules,
                                          const SurfaceMesh& surface, const TetMesh& cage,
                                          const AssetContent& content, FindingList* findings) {
  std::vector<RegionContent> regions;
  std::vector<uint32_t> nearest;  // found once, if a bone needs it
  for (const PinRule& rule : rules) {
    const bool along_bone = rule.source == PinSource::kJoint && rule.radius > 0.0;
    if (along_bone && nearest.empty()) nearest = NearestVertices(surface, cage, content);
    std::vector<uint32_t> nodes = along_bone ? NodesAlongBone(rule, surface, cage, nearest)
                                             : NodesOf(rule, surface, cage, content);
    if (nodes.empty()) {
      findings->Add("PIN_UNMATCHED", 1, UnmatchedMessage(rule, surface));
      continue;
    }
    RegionContent& region = regions.emplace_back();
    region.name = rule.name;
    region.nodes = std::move(nodes);
    region.last = rule.last;
    if (rule.joint < 0) continue;
    const SurfaceJoint& joint = surface.joints[static_cast<size_t>(rule.joint)];
    region.rest = Pose{ToFloat(joint.position), joint.rotation};
  }
  std::sort(regions.begin(), regions.end(),
            [](const RegionContent& a, const RegionContent& b) { return a.name < b.name; });
  return regions;
}

std::vector<uint32_t> LastNodes(const std::vector<RegionContent>& regions) {
  std::vector<uint32_t> nodes;
  for (const RegionContent& region : regions) {
    if (!region.last) continue;
    nodes.insert(nodes.end(), region.nodes.begin(), region.nodes.end());
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

void RenumberRegions(std::span<const uint32_t> node_order, std::vector<RegionContent>* regions) {
  std::vector<uint32_t> new_of_old(node_order.size());
  for (uint32_t i = 0; i < node_order.size(); ++i) new_of_old[node_order[i]] = i;
  for (RegionContent& region : *regions) {
    for (uint32_t& node : region.nodes) node = new_of_old[node];
    std::sort(region.nodes.begin(), region.nodes.end());
  }
}

}  // namespace plush::tools
