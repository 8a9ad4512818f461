// SPDX-License-Identifier: MIT
#include "page/model_page.h"

#include "plush/format/tet_block.h"

#include "base/text.h"
#include "base/vec3.h"
#include "page/thumbnail.h"
#include "report/asset_info.h"
#include "report/source_report.h"
#include "simulate/palette.h"

#include <array>
#include <filesystem>

namespace plush::tools {
namespace {

// Mass, centre and number of tets of each component of the cage. A tet's mass is at its middle.
nlohmann::json ComponentsJson(const Asset& asset) {
  struct Component {
    double mass = 0.0;
    Vec3d moment;
    size_t tets = 0;
  };
  const SimulationView& s = asset.simulation();
  const CageComponents found = FindComponents(asset);
  std::vector<Component> components(found.number);
  for (size_t t = 0; t < s.tets.size(); ++t) {
    const Tet& tet = s.tets[t];
    const Vec3d middle = 0.25 * (ToDouble(s.nodes[tet.a]) + ToDouble(s.nodes[tet.b]) +
                                 ToDouble(s.nodes[tet.c]) + ToDouble(s.nodes[tet.d]));
    Component& component = components[found.of_tet[t]];
    component.mass += double{s.tet_masses[t]};
    component.moment += double{s.tet_masses[t]} * middle;
    ++component.tets;
  }
  nlohmann::json list = nlohmann::json::array();
  for (const Component& c : components) {
    const Vec3d centre = c.mass > 0.0 ? c.moment / c.mass : Vec3d{};
    list.push_back(
        {{"mass_kg", c.mass}, {"centre", {centre.x, centre.y, centre.z}}, {"tets", c.tets}});
  }
  return list;
}

// Runs of the render surface, and the colours of their materials.
void AddParts(const Asset& asset, nlohmann::json* json) {
  Palette palette;
  nlohmann::json parts = nlohmann::json::array();
  for (uint32_t i = 0; i < asset.num_parts(); ++i) {
    const PartView part = asset.part(i);
    parts.push_back({{"name", PrintableUtf8(part.name)},
                     {"material", palette.IndexOf(part.material)},
                     {"first", part.first_index},
                     {"count", part.num_indices}});
  }
  nlohmann::json materials = nlohmann::json::array();
  for (const NamedColour& material : palette.materials()) {
    const Vec3 c = material.linear_rgb;
    materials.push_back({{"name", PrintableUtf8(material.name)}, {"linear_rgb", {c.x, c.y, c.z}}});
  }
  (*json)["parts"] = parts;
  (*json)["materials"] = materials;
}

nlohmann::json RegionsJson(const Asset& asset) {
  nlohmann::json regions = nlohmann::json::array();
  for (uint32_t i = 0; i < asset.num_regions(); ++i) {
    const RegionView region = asset.region(i);
    nlohmann::json entry = {{"name", PrintableUtf8(region.name)}, {"nodes", region.nodes}};
    if (region.has_joint) {
      const auto& [p, q] = region.rest;
      entry["joint"] = {{"position", {p.x, p.y, p.z}}, {"rotation", {q.x, q.y, q.z, q.w}}};
    }
    regions.push_back(std::move(entry));
  }
  return regions;
}

}  // namespace

nlohmann::json ModelPage(const PageModel& model, PackedArrays* arrays) {
  nlohmann::json findings = nlohmann::json::array();
  size_t failures = model.error ? 1 : 0;
  for (const PageFindings& from : model.findings) {
    failures += from.findings.CountOf(Severity::kError);
    for (nlohmann::json& finding : FindingsJson(from.findings)) {
      finding["verb"] = from.verb;
      findings.push_back(std::move(finding));
    }
  }
  nlohmann::json json = {{"name", PrintableUtf8(std::filesystem::path(model.file).stem().string())},
                         {"file", PrintableUtf8(model.file)},
                         {"error", nullptr},
                         {"bake", model.bake},
                         {"failures", failures},
                         {"findings", findings}};
  if (model.error) json["error"] = PrintableUtf8(model.error->message);
  if (model.asset == nullptr) return json;
  const Asset& asset = *model.asset;
  json["static"] = asset.is_static();
  json["info"] = AssetInfo(asset);
  AddParts(asset, &json);
  json["regions"] = RegionsJson(asset);
  json["components"] = ComponentsJson(asset);
  json["arrays"] = ModelArrays(asset, arrays);
  json["thumbnail"] = ThumbnailArray(asset, arrays);
  return json;
}

}  // namespace plush::tools
