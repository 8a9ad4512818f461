// SPDX-License-Identifier: MIT
// Faces on the outside of a cage, found without memory for a map of all faces.
#pragma once

#include "plush/types.h"

#include <cstdint>
#include <span>

namespace plush {

/// A face of a tet that no other tet shares. Its corners turn counter-clockwise seen from outside.
struct OutsideFace {
  uint32_t nodes[3];
};

/// Calls visit(user, face) for all outside faces, in an order that depends only on `tets`. Needs
/// 32 KiB of stack and one pass over the tets per thousand faces or so.
void ForOutsideFaces(std::span<const Tet> tets, void* user,
                     void (*visit)(void* user, const OutsideFace& face));

}  // namespace plush
