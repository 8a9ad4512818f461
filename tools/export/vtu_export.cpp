// SPDX-License-Identifier: MIT
// Writes a cage as a .vtu file with data at its tets and nodes.
// Source: Kitware. VTK File Formats, XML file formats
#include "plush/format/tet_block.h"

#include "base/text.h"
#include "export/cage_exports.h"
#include "export/text_lines.h"

#include <span>
#include <vector>

namespace plush::tools {
namespace {

constexpr int kTetra = 10;  // VTK_TETRA
constexpr uint64_t kMaxRegionValues = 100'000'000;

// `name` as the value of an XML attribute.
std::string XmlText(std::string_view name) {
  std::string text;
  for (const char c : PrintableUtf8(name)) {
    if (c == '&') {
      text += "&amp;";
    } else if (c == '<') {
      text += "&lt;";
    } else if (c == '>') {
      text += "&gt;";
    } else if (c == '"') {
      text += "&quot;";
    } else {
      text += c;
    }
  }
  // XML forbids U+FFFE and U+FFFF.
  for (const char* banned : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (size_t at; (at = text.find(banned)) != std::string::npos;) text.replace(at, 3, "?");
  }
  return text;
}

void OpenArray(const char* type, std::string_view name, int components, std::string* text) {
  *text += "<DataArray type=\"" + std::string(type) + "\" Name=\"" + XmlText(name) +
           "\" NumberOfComponents=\"" + std::to_string(components) + "\" format=\"ascii\">\n";
}

void CloseArray(std::string* text) { *text += "</DataArray>\n"; }

template <class Number>
void AppendArray(const char* type, std::string_view name, std::span<const Number> values,
                 std::string* text) {
  OpenArray(type, name, 1, text);
  for (const Number value : values) AppendLine(text, value);
  CloseArray(text);
}

void AppendPoints(std::span<const Vec3> nodes, std::string* text) {
  *text += "<Points>\n";
  OpenArray("Float32", "Points", 3, text);
  for (const Vec3& x : nodes) AppendLine(text, x.x, x.y, x.z);
  CloseArray(text);
  *text += "</Points>\n";
}

void AppendCells(std::span<const Tet> tets, std::string* text) {
  *text += "<Cells>\n";
  OpenArray("Int64", "connectivity", 1, text);
  for (const Tet& t : tets) AppendLine(text, t.a, t.b, t.c, t.d);
  CloseArray(text);
  OpenArray("Int64", "offsets", 1, text);
  for (size_t i = 1; i <= tets.size(); ++i) AppendLine(text, 4 * i);
  CloseArray(text);
  OpenArray("UInt8", "types", 1, text);
  for (size_t i = 0; i < tets.size(); ++i) AppendLine(text, kTetra);
  CloseArray(text);
  *text += "</Cells>\n";
}

void AppendCellData(const CageTable& cage, std::string* text) {
  const SimulationView& s = cage.asset->simulation();
  *text += "<CellData Scalars=\"quality\">\n";
  AppendArray("Float32", "quality", std::span<const float>(cage.quality), text);
  AppendArray("Float32", "min_dihedral_deg", std::span<const float>(cage.min_dihedral_deg), text);
  AppendArray("UInt16", "material", s.tet_materials, text);
  std::vector<float> volumes;
  for (size_t t = 0; t < s.tets.size(); ++t) volumes.push_back(s.Volume(t));
  AppendArray("Float32", "volume", std::span<const float>(volumes), text);
  *text += "</CellData>\n";
}

void AppendPointData(const Asset& asset, std::string* text) {
  const SimulationView& s = asset.simulation();
  *text += "<PointData Scalars=\"mass\">\n";
  AppendArray("Float32", "mass", s.masses, text);
  std::vector<int> held(s.nodes.size());
  for (uint32_t i = 0; i < asset.num_regions(); ++i) {
    const RegionView region = asset.region(i);
    held.assign(held.size(), 0);
    for (const uint32_t node : region.nodes) held[node] = 1;
    AppendArray("UInt8", "region_" + std::string(region.name), std::span<const int>(held), text);
  }
  *text += "</PointData>\n";
}

}  // namespace

Result<std::string> VtuTextOf(const CageTable& cage) {
  const SimulationView& s = cage.asset->simulation();
  if (uint64_t{cage.asset->num_regions()} * s.nodes.size() > kMaxRegionValues) {
    return Error{ExitCode::kLimit,
                 std::to_string(cage.asset->num_regions()) + " pin regions of " +
                     std::to_string(s.nodes.size()) +
                     " nodes are too many for a .vtu; use --to msh",
                 ""};
  }
  std::string text =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<VTKFile type=\"UnstructuredGrid\" version=\"0.1\" byte_order=\"LittleEndian\">\n"
      "<UnstructuredGrid>\n<Piece NumberOfPoints=\"" +
      std::to_string(s.nodes.size()) + "\" NumberOfCells=\"" + std::to_string(s.tets.size()) +
      "\">\n";
  AppendPoints(s.nodes, &text);
  AppendCells(s.tets, &text);
  AppendPointData(*cage.asset, &text);
  AppendCellData(cage, &text);
  return text + "</Piece>\n</UnstructuredGrid>\n</VTKFile>\n";
}

}  // namespace plush::tools
