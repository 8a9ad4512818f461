// SPDX-License-Identifier: MIT
#include "export/cage_obj_export.h"

#include "plush/format/tet_block.h"

#include "export/text_lines.h"
#include "mesh/tet_boundary.h"

namespace plush::tools {
namespace {

TetMesh MeshOf(const SimulationView& simulation) {
  TetMesh mesh;
  for (const Vec3& x : simulation.nodes) mesh.nodes.push_back({x.x, x.y, x.z});
  for (const Tet& t : simulation.tets) mesh.tets.push_back({t.a, t.b, t.c, t.d});
  return mesh;
}

}  // namespace

std::string CageObjTextOf(const CageTable& cage) {
  const SurfaceMesh surface = BoundarySurface(MeshOf(cage.asset->simulation()));
  std::string text = "o cage\n";
  for (const Vec3d& x : surface.positions) {
    AppendLine(&text, "v", static_cast<float>(x.x), static_cast<float>(x.y),
               static_cast<float>(x.z));
  }
  for (const auto& [a, b, c] : surface.triangles) {
    AppendLine(&text, "f", uint64_t{a} + 1, uint64_t{b} + 1, uint64_t{c} + 1);
  }
  return text;
}

}  // namespace plush::tools
