// SPDX-License-Identifier: MIT
// Parts of a body: nodes that edges of tets connect, but for nodes that are left out.
#pragma once

#include "plush/allocator.h"
#include "plush/types.h"

#include "base/array.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

/// Finds the first node of each node's part. Nodes for which `left_out` (num_nodes x 1; empty:
/// none) is not 0 connect nothing, and each is a part itself. Returns false if the allocator fails.
bool FindParts(const Allocator& allocator, std::span<const Tet> tets, size_t num_nodes,
               std::span<const uint8_t> left_out, Array<uint32_t>* out_parts);

}  // namespace plush
