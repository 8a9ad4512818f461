// SPDX-License-Identifier: MIT
#include "bake/pin_rules.h"

#include "base/json_object.h"

#include <algorithm>
#include <array>
#include <utility>

namespace plush::tools {
namespace {

constexpr size_t kMaxRegions = 1024;
constexpr std::string_view kAttributePrefix = "_pin";

struct NamedSource {
  const char* key;
  PinSource source;
};

constexpr std::array<NamedSource, 6> kSources = {{{"attribute", PinSource::kAttribute},
                                                  {"color", PinSource::kColor},
                                                  {"material", PinSource::kMaterial},
                                                  {"node", PinSource::kNode},
                                                  {"box", PinSource::kBox},
                                                  {"sphere", PinSource::kSphere}}};

bool ReadPoint(const JsonObject& reader, const char* key, Vec3d* out_point) {
  std::array<double, 3> numbers = {};
  if (!reader.Vector(key, numbers)) return false;
  *out_point = {numbers[0], numbers[1], numbers[2]};
  return true;
}

void ReadBox(const JsonObject& region, PinRule* rule) {
  const auto corners = region.Array("box", 2);
  std::string corner_mistake;
  bool read = corners.size() == 2;
  if (read) {
    const nlohmann::json both = {{"low", corners[0]}, {"high", corners[1]}};
    const JsonObject reader(both, "", {"low", "high"}, &corner_mistake);
    read = ReadPoint(reader, "low", &rule->low) && ReadPoint(reader, "high", &rule->high);
  }
  if (!read) {
    region.Mistake("box", "expected a lower and an upper corner, [[x,y,z],[x,y,z]]");
  } else if (!(Min(rule->low, rule->high) == rule->low)) {
    region.Mistake("box", "the first corner must be the lower one in x, y and z");
  }
}

void ReadSphere(const JsonObject& region, std::string* mistake, PinRule* rule) {
  const JsonObject reader(*region.Value("sphere"), region.PathOf("sphere"), {"centre", "radius"},
                          mistake);
  if (!ReadPoint(reader, "centre", &rule->centre)) reader.Mistake("centre", "is missing");
  if (!reader.Number("radius", {0.0, 1.0e9, true}, &rule->radius)) {
    reader.Mistake("radius", "is missing");
  }
}

// "r" is the red of the first colour set.
std::string ChannelName(const std::string& color) {
  return color.size() == 1 ? "COLOR_0." + color : color;
}

PinRule ReadRegion(const nlohmann::json& value, const std::string& path, std::string* mistake) {
  const JsonObject region(
      value, path, {"name", "attribute", "color", "material", "node", "box", "sphere", "threshold"},
      mistake);
  PinRule rule;
  region.String("name", &rule.name);
  if (rule.name.empty()) region.Mistake("name", "is missing or empty");
  const auto given = std::count_if(kSources.begin(), kSources.end(),
                                   [&](const NamedSource& known) { return region.Has(known.key); });
  if (given != 1) {
    region.Mistake("", "expected exactly one of attribute, color, material, node, box, sphere");
    return rule;
  }
  const NamedSource& source =
      *std::find_if(kSources.begin(), kSources.end(),
                    [&](const NamedSource& known) { return region.Has(known.key); });
  rule.source = source.source;
  if (rule.source == PinSource::kBox) {
    ReadBox(region, &rule);
  } else if (rule.source == PinSource::kSphere) {
    ReadSphere(region, mistake, &rule);
  } else {
    region.String(source.key, &rule.key);
  }
  if (rule.source == PinSource::kColor) rule.key = ChannelName(rule.key);
  region.Number("threshold", {-1.0e30, 1.0e30}, &rule.threshold);
  if (region.Has("threshold") && rule.source != PinSource::kAttribute &&
      rule.source != PinSource::kColor) {
    region.Mistake("threshold", "belongs beside an attribute or a color");
  }
  return rule;
}

bool HasName(const std::vector<PinRule>& rules, const std::string& name) {
  return std::any_of(rules.begin(), rules.end(),
                     [&](const PinRule& rule) { return rule.name == name; });
}

}  // namespace

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
    if (HasName(rules, rule.name) && mistake.empty()) {
      mistake = path + ".name: region '" + rule.name + "' is given twice";
    }
    rules.push_back(std::move(rule));
  }
  if (!mistake.empty()) return Error{ExitCode::kUsage, mistake, "PIN_INVALID"};
  return rules;
}

std::vector<PinRule> WithAttributeRules(std::vector<PinRule> rules, const SurfaceMesh& mesh) {
  for (const VertexAttribute& attribute : mesh.attributes) {
    if (attribute.name.compare(0, kAttributePrefix.size(), kAttributePrefix) != 0) continue;
    PinRule rule;
    rule.name = attribute.name.substr(1);
    rule.key = attribute.name;
    if (!HasName(rules, rule.name)) rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace plush::tools
