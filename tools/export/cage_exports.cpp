// SPDX-License-Identifier: MIT
// Measures cages for export; writes them as .obj and as TetGen's files.
#include "export/cage_exports.h"

#include "plush/format/tet_block.h"

#include "base/text.h"
#include "export/text_lines.h"
#include "mesh/tet_faces.h"
#include "mesh/tet_mesh.h"

namespace plush::tools {
namespace {

// Gmsh reads lines of 255 bytes.
constexpr size_t kMaxMaterialName = 100;

std::string MaterialName(std::string_view name) {
  if (name.empty()) return "unnamed";
  return PrintableUtf8(PrintableUtf8(name).substr(0, kMaxMaterialName));
}

TetMesh MeshOf(const SimulationView& simulation) {
  TetMesh mesh;
  for (const Vec3& x : simulation.nodes) mesh.nodes.push_back(ToDouble(x));
  for (const Tet& t : simulation.tets) mesh.tets.push_back({t.a, t.b, t.c, t.d});
  return mesh;
}

}  // namespace

CageTable MeasureCage(const Asset& asset) {
  CageTable table;
  table.asset = &asset;
  const SimulationView& s = asset.simulation();
  for (const Tet& t : s.tets) {
    const TetCorners corners = CornersOf(s.nodes, t);
    table.quality.push_back(static_cast<float>(TetQuality(corners)));
    table.min_dihedral_deg.push_back(static_cast<float>(TetDihedrals(corners).min_deg));
  }
  for (uint32_t i = 0; i < asset.num_materials(); ++i) {
    table.material_names.push_back(MaterialName(asset.material(i).name));
  }
  return table;
}

std::string CageObjTextOf(const CageTable& cage) {
  const SurfaceMesh surface = BoundarySurface(MeshOf(cage.asset->simulation()));
  std::string text = "o cage\n";
  for (const Vec3d& x : surface.positions) {
    const Vec3 v = ToFloat(x);
    AppendLine(&text, "v", v.x, v.y, v.z);
  }
  for (const auto& [a, b, c] : surface.triangles) {
    AppendLine(&text, "f", uint64_t{a} + 1, uint64_t{b} + 1, uint64_t{c} + 1);
  }
  return text;
}

TetGenText TetGenTextOf(const CageTable& cage) {
  const SimulationView& s = cage.asset->simulation();
  TetGenText text;
  AppendLine(&text.node, s.nodes.size(), 3, 0, 0);
  for (size_t i = 0; i < s.nodes.size(); ++i) {
    AppendLine(&text.node, i, s.nodes[i].x, s.nodes[i].y, s.nodes[i].z);
  }
  AppendLine(&text.ele, s.tets.size(), 4, 1);
  for (size_t i = 0; i < s.tets.size(); ++i) {
    const Tet& t = s.tets[i];
    AppendLine(&text.ele, i, t.a, t.b, t.c, t.d, s.tet_materials[i]);
  }
  for (size_t i = 0; i < cage.material_names.size(); ++i) {
    AppendLine(&text.ele, "# attribute", i, "is material", cage.material_names[i]);
  }
  return text;
}

}  // namespace plush::tools
