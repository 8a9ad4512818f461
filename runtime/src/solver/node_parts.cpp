// SPDX-License-Identifier: MIT
// Sets of nodes in a forest with halved paths; the root of a set is its first node.
// Source: node_parts.h.
#include "solver/node_parts.h"

#include <algorithm>
#include <limits>

namespace plush {
namespace {

uint32_t RootOf(std::span<uint32_t> parents, uint32_t node) {
  while (parents[node] != node) node = parents[node] = parents[parents[node]];
  return node;
}

}  // namespace

bool FindParts(const Allocator& allocator, std::span<const Tet> tets, size_t num_nodes,
               std::span<const uint8_t> left_out, Array<uint32_t>* out_parts) {
  constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  if (!out_parts->Allocate(allocator, num_nodes)) return false;
  const std::span<uint32_t> parents = out_parts->span();
  for (uint32_t i = 0; i < parents.size(); ++i) parents[i] = i;
  for (const Tet& tet : tets) {
    uint32_t first = kNone;
    for (const uint32_t node : {tet.a, tet.b, tet.c, tet.d}) {
      if (!left_out.empty() && left_out[node] != 0) continue;
      const uint32_t root = RootOf(parents, node);
      if (first == kNone) first = root;
      const uint32_t last = std::max(first, root);
      first = std::min(first, root);
      parents[last] = first;
    }
  }
  for (uint32_t i = 0; i < parents.size(); ++i) parents[i] = RootOf(parents, i);
  return true;
}

}  // namespace plush
