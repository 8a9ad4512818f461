// SPDX-License-Identifier: MIT
// The surface of a cage as Wavefront .obj.
#pragma once

#include "export/cage_table.h"

#include <string>

namespace plush::tools {

/// Text of the .obj: the faces that belong to one tet only, counter-clockwise seen from outside,
/// and the nodes on them in the asset's order.
std::string CageObjTextOf(const CageTable& cage);

}  // namespace plush::tools
