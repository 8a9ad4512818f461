// SPDX-License-Identifier: MIT
#include "import/source_conventions.h"

#include "base/text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace plush::tools {
namespace {

bool IsUsable(double unit) { return std::isfinite(unit) && unit > 0.0; }

// The value of `attribute` in the first XML element `element`; empty if there is none.
std::string_view AttributeOf(std::string_view text, std::string_view element,
                             std::string_view attribute) {
  const size_t begin = text.find(std::string("<").append(element));
  if (begin == std::string_view::npos) return {};
  std::string_view tag = text.substr(begin);
  tag = tag.substr(0, tag.find('>'));
  const size_t name = tag.find(std::string(" ").append(attribute).append("="));
  if (name == std::string_view::npos) return {};
  tag.remove_prefix(name + attribute.size() + 2);
  if (tag.empty() || (tag[0] != '"' && tag[0] != '\'')) return {};
  const size_t end = tag.find(tag[0], 1);
  return end == std::string_view::npos ? std::string_view{} : tag.substr(1, end - 1);
}

double ColladaUnit(std::string_view head) {
  const std::string_view text = AttributeOf(head, "unit", "meter");
  double unit = 0.0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), unit);
  return parsed.ec == std::errc() && IsUsable(unit) ? unit : 1.0;
}

double AmfUnit(std::string_view head) {
  constexpr auto kUnits = std::to_array<NamedValue<double>>(
      {{"meter", 1.0}, {"millimeter", 1e-3}, {"inch", 0.0254}, {"feet", 0.3048}, {"micron", 1e-6}});
  const std::string_view name = AttributeOf(head, "amf", "unit");
  for (const NamedValue<double>& unit : kUnits) {
    if (unit.name == name) return unit.value;
  }
  return 1e-3;
}

SourceConventions FbxConventions(const FbxSettings& fbx) {
  SourceConventions conventions;
  conventions.unit_m = IsUsable(fbx.unit_scale_cm) ? fbx.unit_scale_cm * 0.01 : 0.01;
  if (fbx.up_axis == 0) conventions.up = 'X';
  if (fbx.up_axis == 2) conventions.up = 'Z';
  return conventions;
}

}  // namespace

SourceConventions ConventionsOf(const std::string& format, std::string_view head,
                                const FbxSettings& fbx) {
  if (format == "fbx") return FbxConventions(fbx);
  if (format == "dae") {
    const double unit = ColladaUnit(head);
    return {unit, unit, 'Y'};
  }
  if (format == "amf") return {AmfUnit(head), 1.0, 'Z'};
  if (format == "3mf") return {1e-3, 1.0, 'Z'};
  if (format == "blend") return {1.0, 1.0, 'Z'};
  return {};
}

}  // namespace plush::tools
