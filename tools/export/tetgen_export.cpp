// SPDX-License-Identifier: MIT
#include "export/tetgen_export.h"

#include "plush/format/tet_block.h"

#include "export/text_lines.h"

namespace plush::tools {

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
