// SPDX-License-Identifier: MIT
// Graphs unlike those of meshes.
#pragma once

#include "rest/elimination_order.h"

#include <array>
#include <cstdint>
#include <random>
#include <vector>

namespace plush::tools {

/// Random links between random nodes; some are loops, some repeat.
inline NodeGraph RandomGraph(uint32_t num_nodes, uint32_t num_links, std::mt19937* random) {
  std::vector<std::array<uint32_t, 4>> tets;  // flat tets, a link each
  for (uint32_t i = 0; i < num_links; ++i) {
    const auto a = static_cast<uint32_t>((*random)() % num_nodes);
    const auto b = static_cast<uint32_t>((*random)() % num_nodes);
    tets.push_back({a, b, a, b});
  }
  return BuildNodeGraph(num_nodes, tets);
}

}  // namespace plush::tools
