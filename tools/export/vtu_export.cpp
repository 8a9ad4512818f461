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
  std::string text = PrintableUtf8(name);
  const auto replace_all = [&text](std::string_view from, std::string_view to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
  };
  replace_all("&", "&amp;");
  replace_all("<", "&lt;");
  replace_all(">", "&gt;");
  replace_all("\"", "&quot;");
  // XML forbids U+FFFE and U+FFFF.
  replace_all("\xEF\xBF\xBE", "?");
  replace_all("\xEF\xBF\xBF", "?");
  return text;
}

// Appends an array. Calls append_row(i) for each row.
template <class AppendRow>
void AppendRows(const std::string& type, std::string_view name, int components, size_t num_rows,
                const AppendRow& append_row, std::string* text) {
  *text += "<DataArray type=\"" + type + "\" Name=\"" + XmlText(name) + "\" NumberOfComponents=\"" +
           std::to_string(components) + "\" format=\"ascii\">\n";
  for (size_t i = 0; i < num_rows; ++i) append_row(i);
  *text += "</DataArray>\n";
}

template <class Values>
void AppendArray(const char* type, std::string_view name, const Values& values, std::string* text) {
  AppendRows(
      type, name, 1, values.size(), [&](size_t i) { AppendLine(text, values[i]); }, text);
}

void AppendMesh(std::span<const Vec3> nodes, std::span<const Tet> tets, std::string* text) {
  const auto append_point = [&](size_t i) { AppendLine(text, nodes[i].x, nodes[i].y, nodes[i].z); };
  const auto append_corners = [&](size_t i) {
    AppendLine(text, tets[i].a, tets[i].b, tets[i].c, tets[i].d);
  };
  const auto append_offset = [&](size_t i) { AppendLine(text, 4 * (i + 1)); };
  const auto append_type = [&](size_t) { AppendLine(text, kTetra); };
  *text += "<Points>\n";
  AppendRows("Float32", "Points", 3, nodes.size(), append_point, text);
  *text += "</Points>\n<Cells>\n";
  AppendRows("Int64", "connectivity", 1, tets.size(), append_corners, text);
  AppendRows("Int64", "offsets", 1, tets.size(), append_offset, text);
  AppendRows("UInt8", "types", 1, tets.size(), append_type, text);
  *text += "</Cells>\n";
}

void AppendCellData(const CageTable& cage, std::string* text) {
  const SimulationView& s = cage.asset->simulation();
  *text += "<CellData Scalars=\"quality\">\n";
  AppendArray("Float32", "quality", cage.quality, text);
  AppendArray("Float32", "min_dihedral_deg", cage.min_dihedral_deg, text);
  AppendArray("UInt16", "material", s.tet_materials, text);
  std::vector<float> volumes;
  for (size_t t = 0; t < s.tets.size(); ++t) volumes.push_back(s.Volume(t));
  AppendArray("Float32", "volume", volumes, text);
  *text += "</CellData>\n";
}

void AppendPointData(const Asset& asset, std::string* text) {
  const SimulationView& s = asset.simulation();
  *text += "<PointData Scalars=\"mass\">\n";
  AppendArray("Float32", "mass", s.masses, text);
  for (uint32_t i = 0; i < asset.num_regions(); ++i) {
    const RegionView region = asset.region(i);
    std::vector<int> held(s.nodes.size());
    for (const uint32_t node : region.nodes) held[node] = 1;
    AppendArray("UInt8", "region_" + std::string(region.name), held, text);
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
  AppendMesh(s.nodes, s.tets, &text);
  AppendPointData(*cage.asset, &text);
  AppendCellData(cage, &text);
  return text + "</Piece>\n</UnstructuredGrid>\n</VTKFile>\n";
}

}  // namespace plush::tools
