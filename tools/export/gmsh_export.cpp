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

// Gmsh ends names at a quotation mark and has no escape for it.
std::string Quoted(std::string name) {
  std::replace(name.begin(), name.end(), '"', '\'');
  return '"' + name + '"';
}

void AppendMaterials(const CageTable& cage, std::string* text) {
  AppendLine(text, "$PhysicalNames");
  AppendLine(text, cage.material_names.size());
  for (size_t i = 0; i < cage.material_names.size(); ++i) {
    AppendLine(text, kVolume, i + 1, Quoted(cage.material_names[i]));
  }
  AppendLine(text, "$EndPhysicalNames");
}

void AppendNodes(std::span<const Vec3> nodes, std::string* text) {
  AppendLine(text, "$Nodes");
  AppendLine(text, nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    AppendLine(text, i + 1, nodes[i].x, nodes[i].y, nodes[i].z);
  }
  AppendLine(text, "$EndNodes");
}

// Two tags per tet: the physical group and the volume of the geometry, the same number.
void AppendTets(const SimulationView& simulation, std::string* text) {
  AppendLine(text, "$Elements");
  AppendLine(text, simulation.tets.size());
  for (size_t i = 0; i < simulation.tets.size(); ++i) {
    const Tet& t = simulation.tets[i];
    const int group = simulation.tet_materials[i] + 1;
    AppendLine(text, i + 1, kTetrahedron, 2, group, group, uint64_t{t.a} + 1, uint64_t{t.b} + 1,
               uint64_t{t.c} + 1, uint64_t{t.d} + 1);
  }
  AppendLine(text, "$EndElements");
}

// One string tag, one real tag (the time), three integer tags (step, components, elements).
void AppendData(const char* name, std::span<const float> values, std::string* text) {
  AppendLine(text, "$ElementData");
  AppendLine(text, 1);
  AppendLine(text, Quoted(name));
  AppendLine(text, 1);
  AppendLine(text, 0);
  AppendLine(text, 3);
  AppendLine(text, 0);
  AppendLine(text, 1);
  AppendLine(text, values.size());
  for (size_t i = 0; i < values.size(); ++i) AppendLine(text, i + 1, values[i]);
  AppendLine(text, "$EndElementData");
}

}  // namespace

std::string GmshTextOf(const CageTable& cage) {
  std::string text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
  AppendMaterials(cage, &text);
  AppendNodes(cage.asset->simulation().nodes, &text);
  AppendTets(cage.asset->simulation(), &text);
  AppendData("quality", cage.quality, &text);
  AppendData("min_dihedral_deg", cage.min_dihedral_deg, &text);
  return text;
}

}  // namespace plush::tools
