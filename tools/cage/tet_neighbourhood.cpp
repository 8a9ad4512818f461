// SPDX-License-Identifier: MIT
#include "cage/tet_neighbourhood.h"

#include <algorithm>

namespace plush::tools {
namespace {

// A copy of a lattice tet reached that many steps later than another one belongs to another strand:
// the way led down one strand and up the other.
constexpr uint32_t kDetour = 2;

}  // namespace

TetNeighbourhood::TetNeighbourhood(const SplitCage& cage, const CageFaces& faces)
    : cage_(cage),
      faces_(faces),
      near_(cage.mesh.tets.size()),
      stamps_(cage.mesh.tets.size(), 0),
      tets_of_node_(cage.mesh.nodes.size()),
      wanted_(cage.mesh.tets.size(), 0) {
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
  struct Reached {
    uint32_t tet;
    uint32_t step;
  };
  Near near;
  std::vector<Reached> reached = {{tet, 0}};
  for (size_t next = 0; next < reached.size(); ++next) {
    const auto [at, step] = reached[next];
    for (size_t corner = 0; corner < 4; ++corner) {
      for (const uint32_t other : faces_.Across(cage_.mesh, at, corner)) {
        if (wanted_[other] == 0) continue;
        bool known = false;
        bool other_strand = false;
        for (const Reached& r : reached) {
          known = known || r.tet == other;
          other_strand = other_strand || (cage_.lattice_tet[r.tet] == cage_.lattice_tet[other] &&
                                          r.step + kDetour <= step + 1);
        }
        if (known) continue;
        if (other_strand) {
          near.others.push_back(other);
        } else {
          reached.push_back({other, step + 1});
        }
      }
    }
  }
  for (const uint32_t t : ring) wanted_[t] = 0;
  for (const Reached& r : reached) near.tets.push_back(r.tet);
  return near;
}

}  // namespace plush::tools
