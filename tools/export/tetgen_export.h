// SPDX-License-Identifier: MIT
// A cage as TetGen's text files .node and .ele.
// Format: Hang Si. TetGen, a Delaunay-Based Quality Tetrahedral Mesh Generator. 2015, and
// wias-berlin.de/software/tetgen (fformats).
#pragma once

#include "export/cage_table.h"

#include <string>

namespace plush::tools {

/// Text of NAME.node and of NAME.ele.
struct TetGenText {
  std::string node;
  std::string ele;
};

/// Nodes numbered from 0 as in the asset; tets with one attribute, the index of their material,
/// whose names stand in comments. `plush bake` and `tetgen -r` read the files back.
TetGenText TetGenTextOf(const CageTable& cage);

}  // namespace plush::tools
