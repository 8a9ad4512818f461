// SPDX-License-Identifier: MIT
#include "export/cage_table.h"

#include "plush/format/tet_block.h"

#include "base/text.h"
#include "mesh/tet_shape.h"

namespace plush::tools {
namespace {

// Gmsh reads lines of 255 bytes.
constexpr size_t kMaxMaterialName = 100;

std::string MaterialName(std::string_view name) {
  if (name.empty()) return "unnamed";
  return PrintableUtf8(PrintableUtf8(name).substr(0, kMaxMaterialName));
}

}  // namespace

CageTable MeasureCage(const Asset& asset) {
  CageTable table;
  table.asset = &asset;
  const SimulationView& s = asset.simulation();
  for (const Tet& t : s.tets) {
    const TetCorners corners = {ToDouble(s.nodes[t.a]), ToDouble(s.nodes[t.b]),
                                ToDouble(s.nodes[t.c]), ToDouble(s.nodes[t.d])};
    table.quality.push_back(static_cast<float>(TetQuality(corners)));
    table.min_dihedral_deg.push_back(static_cast<float>(TetDihedrals(corners).min_deg));
  }
  for (uint32_t i = 0; i < asset.num_materials(); ++i) {
    table.material_names.push_back(MaterialName(asset.material(i).name));
  }
  return table;
}

}  // namespace plush::tools
