// SPDX-License-Identifier: MIT
// Finds the tets connected to a tet by a breadth-first search across faces, within two rings.
// Copies of one lattice tet that are reached later belong to other strands.
#include "lattice/tet_neighbourhood.h"

#include "mesh/self_intersection.h"

namespace plush::tools {
namespace {

// A copy of a lattice tet that is reached this many steps later than another copy belongs to
// another strand: the path led down one strand and up the other.
constexpr uint32_t kDetour = 2;

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

std::vector<std::array<uint32_t, 2>> FindCageCrossings(const SplitCage& cage,
                                                       const CageFaces& faces, double cell) {
  TetNeighbourhood near(cage, faces);
  std::vector<std::array<uint32_t, 2>> crossings;
  const auto found = FindSelfIntersections(cage.mesh.nodes, faces.BoundaryNodes());
  for (const TrianglePair& pair : found.pairs) {
    const uint32_t tet = faces.boundary[pair.first].tet;
    const uint32_t other = faces.boundary[pair.second].tet;
    near.LookAround(tet);
    if (!MayOverlap(cage, tet, other, near.Has(other), cell)) {
      crossings.push_back({pair.first, pair.second});
    }
  }
  return crossings;
}

bool MayOverlap(const SplitCage& cage, uint32_t tet, uint32_t other, bool connected, double cell) {
  constexpr double kReach = 3.0;
  if (connected && !AreSplit(cage, tet, other)) return false;
  const auto [a, b, c, d] = cage.LatticeCorners(tet);
  const auto [p, q, r, s] = cage.LatticeCorners(other);
  const Vec3d apart = (a + b + c + d - p - q - r - s) * 0.25;
  return LengthSquared(apart) < kReach * kReach * cell * cell;
}

TetNeighbourhood::TetNeighbourhood(const SplitCage& cage, const CageFaces& faces)
    : cage_(cage),
      faces_(faces),
      near_(cage.mesh.tets.size()),
      stamps_(cage.mesh.tets.size(), 0),
      tets_of_node_(cage.mesh.nodes.size()),
      wanted_(cage.mesh.tets.size(), 0),
      steps_(cage.mesh.tets.size(), kNotReached),
      next_copy_(cage.mesh.tets.size()) {
  for (const auto& [lattice_tet, copies] : cage.CopiesByLatticeTet()) {
    for (size_t i = 0; i < copies.size(); ++i) {
      next_copy_[copies[i]] = copies[(i + 1) % copies.size()];
    }
  }
  for (uint32_t t = 0; t < cage.mesh.tets.size(); ++t) {
    for (const uint32_t node : cage.mesh.tets[t]) tets_of_node_[node].push_back(t);
  }
}

void TetNeighbourhood::LookAround(uint32_t tet) {
  if (near_[tet].tets.empty()) near_[tet] = Find(tet);
  stamp_ += 2;
  for (const uint32_t t : near_[tet].others) stamps_[t] = stamp_ + 1;
  for (const uint32_t t : near_[tet].tets) stamps_[t] = stamp_;
}

// Whether another copy of the tet's lattice tet was reached at least kDetour steps before `step`.
bool TetNeighbourhood::IsLaterThanACopy(uint32_t tet, uint32_t step) const {
  for (uint32_t copy = next_copy_[tet]; copy != tet; copy = next_copy_[copy]) {
    if (steps_[copy] != kNotReached && steps_[copy] + kDetour <= step) return true;
  }
  return false;
}

TetNeighbourhood::Near TetNeighbourhood::Find(uint32_t tet) {
  const auto& tets = cage_.mesh.tets;
  std::vector<uint32_t> ring = {tet};
  for (int i = 0; i < 2; ++i) {
    const size_t end = ring.size();
    for (size_t r = 0; r < end; ++r) {
      for (const uint32_t node : tets[ring[r]]) {
        for (const uint32_t t : tets_of_node_[node]) {
          if (wanted_[t] != 0) continue;
          wanted_[t] = 1;
          ring.push_back(t);
        }
      }
    }
  }
  Near near;
  near.tets.push_back(tet);
  steps_[tet] = 0;
  for (size_t next = 0; next < near.tets.size(); ++next) {
    const uint32_t at = near.tets[next];
    const uint32_t step = steps_[at] + 1;
    for (size_t corner = 0; corner < 4; ++corner) {
      for (const uint32_t other : faces_.Across(cage_.mesh, at, corner)) {
        if (wanted_[other] == 0 || steps_[other] != kNotReached) continue;
        if (IsLaterThanACopy(other, step)) {
          near.others.push_back(other);
        } else {
          steps_[other] = step;
          near.tets.push_back(other);
        }
      }
    }
  }
  for (const uint32_t t : near.tets) steps_[t] = kNotReached;
  for (const uint32_t t : ring) wanted_[t] = 0;
  return near;
}

}  // namespace plush::tools
