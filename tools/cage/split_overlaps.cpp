// SPDX-License-Identifier: MIT
#include "cage/split_overlaps.h"

namespace plush::tools {
namespace {

// Whether the tets have different copies of one lattice node.
bool AreSplit(const SplitCage& cage, uint32_t tet, uint32_t other) {
  for (const uint32_t a : cage.mesh.tets[tet]) {
    for (const uint32_t b : cage.mesh.tets[other]) {
      if (a != b && cage.lattice_node[a] == cage.lattice_node[b]) return true;
    }
  }
  return false;
}

}  // namespace

bool MayOverlap(const SplitCage& cage, uint32_t tet, uint32_t other, bool connected, double cell) {
  constexpr double kReach = 3.0;
  if (connected && !AreSplit(cage, tet, other)) return false;
  const auto [a, b, c, d] = cage.LatticeCorners(tet);
  const auto [p, q, r, s] = cage.LatticeCorners(other);
  const Vec3d apart = (a + b + c + d - p - q - r - s) * 0.25;
  return LengthSquared(apart) < kReach * kReach * cell * cell;
}

}  // namespace plush::tools
