// SPDX-License-Identifier: MIT
// Reads the pins side-car into rules.
#include "bake/pins.h"

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

// Points whose triangle is this much lower than long are on a line.
constexpr double kOnLine = 1e-3;

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
  if (std::count_if(std::begin(kPinSources), std::end(kPinSources), is_given) != 1) {
    region.Mistake("",
                   "expected exactly one of attribute, color, material, node, box, sphere, joint");
    return rule;
  }
  const auto& source = *std::find_if(std::begin(kPinSources), std::end(kPinSources), is_given);
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

bool AreOnLine(std::span<const Vec3d> points) {
  if (points.size() < 3) return true;
  const Vec3d along = points[1] - points[0];
  return std::ranges::all_of(points, [&](const Vec3d& point) {
    const Vec3d other = point - points[0];
    return Length(Cross(along, other)) <= kOnLine * Length(along) * Length(other);
  });
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

}  // namespace plush::tools
