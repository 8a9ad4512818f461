// SPDX-License-Identifier: MIT
// Gmsh's numbers of element types.
#pragma once

#include <cstdint>

namespace plush::tools {

/// What a type number of an .msh file means.
struct GmshElementType {
  int32_t number = 0;
  uint32_t num_nodes = 0;
  uint32_t dimension = 0;
  bool is_tet = false;  ///< its first four nodes are the corners of a tet
};

/// The type with this number, or null.
const GmshElementType* FindGmshElementType(int32_t number);

}  // namespace plush::tools
