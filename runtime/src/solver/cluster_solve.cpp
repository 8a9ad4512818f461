// SPDX-License-Identifier: MIT
// Source: see cluster_solve.h.
#include "solver/cluster_solve.h"

#include "solver/cluster_lanes.h"

#include <cstddef>
#include <cstdint>

namespace plush {
namespace {

// Zero in the last lane, unless both have a number there.
Float4 CrossLanes(Float4 a, Float4 b) { return Turned(a * Turned(b) - Turned(a) * b); }

}  // namespace

void ClusterSolve::FindMotions(std::span<const NodeVec> r, std::span<double> q) const {
  for (size_t k = 0; k < level.num_clusters(); ++k) {
    const Float4 centre = Lanes(sums[k].centre);
    Float4 impulse = Broadcast(0.0f), moment = impulse;
    for (uint32_t i = level.first_member[k]; i < level.first_member[k + 1]; ++i) {
      const uint32_t node = level.members[i];
      const Float4 b = Load(r[node]);
      impulse = impulse + b;
      moment = moment + CrossLanes(Load(y[node]) - centre, b);
    }
    double* const of_cluster = &q[8 * k];
    for (int axis = 0; axis < 3; ++axis) {
      of_cluster[axis] = weight * double(impulse[axis]);
      of_cluster[3 + axis] = weight * double(moment[axis]);
    }
    of_cluster[6] = of_cluster[7] = 0.0;
  }
  matrix.Solve(level.pattern, q);
}

void ClusterSolve::AddMotions(std::span<const double> q, std::span<NodeVec> z) const {
  for (size_t k = 0; k < level.num_clusters(); ++k) {
    const auto vector = [&](size_t first) {
      const double* at = &q[8 * k + first];
      return Float4{static_cast<float>(at[0]), static_cast<float>(at[1]), static_cast<float>(at[2]),
                    0.0f};
    };
    const Float4 centre = Lanes(sums[k].centre), shift = vector(0), turn = vector(3);
    for (uint32_t i = level.first_member[k]; i < level.first_member[k + 1]; ++i) {
      const uint32_t node = level.members[i];
      const Float4 moved = shift + CrossLanes(turn, Load(y[node]) - centre);
      Store4(Load(z[node]) + moved, &z[node].x);
    }
  }
}

}  // namespace plush
