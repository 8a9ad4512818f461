// SPDX-License-Identifier: MIT
#include "page/model_page.h"

#include "plush/format/tet_block.h"

#include "base/text.h"
#include "base/vec3.h"
#include "page/model_picture.h"
#include "report/asset_info.h"
#include "report/explanations.h"
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

// Names and colours of materials: the source's, else the palette's.
nlohmann::json MaterialsJson(const Palette& palette, std::span<const SourceMaterial> source) {
  nlohmann::json materials = nlohmann::json::array();
  for (const NamedColour& material : palette.materials()) {
    Vec3 c = material.linear_rgb;
    for (const SourceMaterial& from : source) {
      if (from.name == material.name) c = from.linear_rgb;
    }
    materials.push_back({{"name", PrintableUtf8(material.name)}, {"linear_rgb", {c.x, c.y, c.z}}});
  }
  return materials;
}

// Runs of the render surface, and the colours of their materials.
void AddParts(const Asset& asset, std::span<const SourceMaterial> source, nlohmann::json* json) {
  Palette palette;
  nlohmann::json parts = nlohmann::json::array();
  for (uint32_t i = 0; i < asset.num_parts(); ++i) {
    const PartView part = asset.part(i);
    parts.push_back({{"name", PrintableUtf8(part.name)},
                     {"material", palette.IndexOf(part.material)},
                     {"first", part.first_index},
                     {"count", part.num_indices}});
  }
  (*json)["parts"] = parts;
  (*json)["materials"] = MaterialsJson(palette, source);
}

// The surface of the source, as that of a static mesh.
void AddSource(const PageModel& model, PackedArrays* arrays, nlohmann::json* json) {
  const SurfaceMesh& surface = model.source;
  Palette palette;
  nlohmann::json parts = nlohmann::json::array();
  for (const SurfacePart& part : surface.parts) {
    parts.push_back({{"name", PrintableUtf8(part.name)},
                     {"material", palette.IndexOf(part.material)},
                     {"first", 3 * uint64_t{part.first_triangle}},
                     {"count", 3 * uint64_t{part.num_triangles}}});
  }
  std::vector<Vec3> positions;
  for (const Vec3d& p : surface.positions) positions.push_back(ToFloat(p));
  std::vector<uint32_t> corners;
  for (const auto& t : surface.triangles) corners.insert(corners.end(), t.begin(), t.end());
  (*json)["static"] = true;
  (*json)["parts"] = parts;
  (*json)["materials"] = MaterialsJson(palette, model.materials);
  (*json)["arrays"] = {{"positions", arrays->AddPositions(positions)},
                       {"indices", arrays->AddTriangles(corners, positions.size())}};
}

nlohmann::json ThumbnailJson(const PageModel& model, PackedArrays* arrays) {
  constexpr uint32_t kWidth = 160, kHeight = 120;
  ModelView view;
  view.source = model.materials;
  const Picture picture = DrawModel(*model.asset, view, kWidth, kHeight);
  return {{"width", kWidth}, {"height", kHeight}, {"pixels", arrays->AddRows(picture.pixels)}};
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

nlohmann::json ExplainedFindings(const PageFindings& from) {
  nlohmann::json findings = FindingsJson(from.findings);
  for (nlohmann::json& finding : findings) {
    finding["verb"] = from.verb;
    for (const Explanation& explanation : Explanations()) {
      if (explanation.code != finding["code"].get<std::string>()) continue;
      finding["explanation"] = {
          {"why", explanation.why}, {"blender", explanation.blender}, {"maya", explanation.maya}};
    }
  }
  return findings;
}

nlohmann::json ModelPage(const PageModel& model, bool has_thumbnail, PackedArrays* arrays) {
  nlohmann::json findings = nlohmann::json::array();
  size_t failures = model.error ? 1 : 0;
  for (const PageFindings& from : model.findings) {
    failures += from.findings.CountOf(Severity::kError);
    for (nlohmann::json& finding : ExplainedFindings(from)) findings.push_back(std::move(finding));
  }
  nlohmann::json json = {{"name", PrintableUtf8(std::filesystem::path(model.file).stem().string())},
                         {"file", PrintableUtf8(model.file)},
                         {"error", nullptr},
                         {"bake", model.bake},
                         {"failures", failures},
                         {"findings", findings}};
  if (model.error) json["error"] = PrintableUtf8(model.error->message);
  if (model.asset == nullptr) {
    const size_t triangles = model.source.triangles.size();
    if (triangles > 0 && triangles <= kMaxSourceTriangles) AddSource(model, arrays, &json);
    return json;
  }
  const Asset& asset = *model.asset;
  json["static"] = asset.is_static();
  json["info"] = AssetInfo(asset);
  AddParts(asset, model.materials, &json);
  json["regions"] = RegionsJson(asset);
  json["components"] = ComponentsJson(asset);
  json["arrays"] = ModelArrays(asset, arrays);
  if (has_thumbnail) json["thumbnail"] = ThumbnailJson(model, arrays);
  return json;
}

}  // namespace plush::tools
