// SPDX-License-Identifier: MIT
// A cage as a Gmsh mesh (.msh).
// Format: Christophe Geuzaine, Jean-Francois Remacle. Gmsh Reference Manual, MSH file format,
// version 2 (Legacy). Version 2.2 in ASCII: what most programs read.
#pragma once

#include "export/cage_table.h"

#include <string>

namespace plush::tools {

/// Text of the .msh: nodes and tets numbered from 1 in the asset's order; a physical volume for
/// each material, tag 1 for the first, with its name; element data "quality" and
/// "min_dihedral_deg".
std::string GmshTextOf(const CageTable& cage);

}  // namespace plush::tools
