// SPDX-License-Identifier: MIT
// A cage as a VTK unstructured grid in XML (.vtu), for ParaView.
// Format: Kitware. VTK File Formats, XML file formats; numbers in ASCII.
#pragma once

#include "base/result.h"
#include "export/cage_table.h"

#include <string>

namespace plush::tools {

/// Text of the .vtu, points and tets in the asset's order. Cell data: quality, min_dihedral_deg,
/// material (index), volume [m^3]. Point data: mass [kg], and for each pin region an array
/// "region_NAME" with 1 at its nodes, 0 elsewhere. Errors: kLimit (regions times nodes above 1e8).
Result<std::string> VtuTextOf(const CageTable& cage);

}  // namespace plush::tools
