// SPDX-License-Identifier: MIT
#include "collision/vertex_positions.h"

namespace plush {

void VertexPositions(const std::array<Vec3, 4>& nodes, std::span<const Vec4> weights,
                     std::span<Vec3> positions) {
  const TetLanes tet = LanesOf(nodes);
  for (size_t v = 0; v < weights.size(); ++v) {
    const Float4 position = VertexLanes(tet, weights[v]);
    positions[v] = {position[0], position[1], position[2]};
  }
}

}  // namespace plush
