// SPDX-License-Identifier: MIT
#include "plush/format/tet_block.h"

#include "export/cage_exports.h"
#include "export/text_lines.h"

#include <algorithm>
#include <span>

namespace plush::tools {
namespace {

constexpr int kVolume = 3;       // dimension of a physical group
constexpr int kTetrahedron = 4;  // type of an element

// Gmsh ends names at a quotation mark, which it cannot escape.
std::string Quoted(std::string name) {
  std::replace(name.begin(), name.end(), '"', '\'');
  return '"' + name + '"';
}

// Appends a section: the number of its rows, and the rows. Calls append_row(i) for each.
template <class AppendRow>
void AppendSection(const std::string& name, size_t num_rows, const AppendRow& append_row,
                   std::string* text) {
  AppendLine(text, "$" + name);
  AppendLine(text, num_rows);
  for (size_t i = 0; i < num_rows; ++i) append_row(i);
  AppendLine(text, "$End" + name);
}

void AppendData(const char* name, std::span<const float> values, std::string* text) {
  // One string tag, one real tag (the time), three integer tags (step, components, elements).
  *text += "$ElementData\n1\n" + Quoted(name) + "\n1\n0\n3\n0\n1\n";
  AppendLine(text, values.size());
  for (size_t i = 0; i < values.size(); ++i) AppendLine(text, i + 1, values[i]);
  AppendLine(text, "$EndElementData");
}

}  // namespace

std::string GmshTextOf(const CageTable& cage) {
  const SimulationView& s = cage.asset->simulation();
  std::string text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
  const auto append_material = [&](size_t i) {
    AppendLine(&text, kVolume, i + 1, Quoted(cage.material_names[i]));
  };
  AppendSection("PhysicalNames", cage.material_names.size(), append_material, &text);
  const auto append_node = [&](size_t i) {
    AppendLine(&text, i + 1, s.nodes[i].x, s.nodes[i].y, s.nodes[i].z);
  };
  AppendSection("Nodes", s.nodes.size(), append_node, &text);
  const auto append_tet = [&](size_t i) {
    const Tet& t = s.tets[i];
    // Two tags: the physical group and the volume of the geometry, the same number.
    const int group = s.tet_materials[i] + 1;
    AppendLine(&text, i + 1, kTetrahedron, 2, group, group, uint64_t{t.a} + 1, uint64_t{t.b} + 1,
               uint64_t{t.c} + 1, uint64_t{t.d} + 1);
  };
  AppendSection("Elements", s.tets.size(), append_tet, &text);
  AppendData("quality", cage.quality, &text);
  AppendData("min_dihedral_deg", cage.min_dihedral_deg, &text);
  return text;
}

}  // namespace plush::tools
