// SPDX-License-Identifier: MIT
#include "cage/gap_filling.h"

#include "cage/boundary_defects.h"
#include "cage/cage_boundary.h"

#include <algorithm>
#include <vector>

namespace plush::tools {
namespace {

// Filling one gap may pinch another place; a few rounds settle what can be settled.
constexpr int kRounds = 20;

bool Contains(const std::array<uint32_t, 4>& nodes, uint32_t node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

class GapFiller {
 public:
  GapFiller(const Lattice& lattice, SplitCage* cage)
      : lattice_(lattice), cage_(*cage), tets_of_node_(cage->mesh.nodes.size()) {
    for (uint32_t t = 0; t < cage_.mesh.tets.size(); ++t) {
      for (const uint32_t node : cage_.mesh.tets[t]) tets_of_node_[node].push_back(t);
    }
  }

  // Fills around nodes that are shared: one (a pinched node) or two (a pinched edge). Whether it
  // filled anything.
  bool FillAround(const std::vector<uint32_t>& nodes) {
    std::vector<std::vector<uint32_t>> gaps = GapsAround(nodes);
    if (gaps.size() < 2) return false;
    std::stable_sort(gaps.begin(), gaps.end(),
                     [](const auto& a, const auto& b) { return a.size() < b.size(); });
    const size_t count = nodes.size() == 1 ? 1 : gaps.size() - 1;
    for (size_t i = 0; i < count; ++i) {
      for (const uint32_t tet : gaps[i]) AddTet(tet, nodes[0]);
    }
    return true;
  }

 private:
  bool HasAll(uint32_t lattice_tet, const std::vector<uint32_t>& nodes) const {
    const auto corners = lattice_.TetNodes(lattice_tet);
    return std::all_of(nodes.begin(), nodes.end(),
                       [&](uint32_t node) { return Contains(corners, cage_.lattice_node[node]); });
  }

  // Lattice tets around the nodes without a copy that has them, in runs joined across faces.
  std::vector<std::vector<uint32_t>> GapsAround(const std::vector<uint32_t>& nodes) const {
    std::vector<uint32_t> present;  // lattice tets
    for (const uint32_t t : tets_of_node_[nodes[0]]) {
      const auto& tet = cage_.mesh.tets[t];
      if (nodes.size() == 1 || Contains(tet, nodes[1])) present.push_back(cage_.lattice_tet[t]);
    }
    std::vector<uint32_t> around = {present[0]};
    Spread(nodes, {}, &around);
    std::vector<uint32_t> taken = present;
    std::vector<std::vector<uint32_t>> gaps;
    for (const uint32_t tet : around) {
      if (std::find(taken.begin(), taken.end(), tet) != taken.end()) continue;
      std::vector<uint32_t> gap = {tet};
      Spread(nodes, present, &gap);
      taken.insert(taken.end(), gap.begin(), gap.end());
      gaps.push_back(std::move(gap));
    }
    return gaps;
  }

  // Adds to `found` all lattice tets around the nodes that can be reached from it across faces,
  // without those in `barred`.
  void Spread(const std::vector<uint32_t>& nodes, const std::vector<uint32_t>& barred,
              std::vector<uint32_t>* found) const {
    for (size_t next = 0; next < found->size(); ++next) {
      for (uint32_t face = 0; face < 4; ++face) {
        const uint32_t tet = lattice_.Neighbour((*found)[next], face);
        if (tet == kNoTet || !HasAll(tet, nodes)) continue;
        if (std::find(barred.begin(), barred.end(), tet) != barred.end()) continue;
        if (std::find(found->begin(), found->end(), tet) != found->end()) continue;
        found->push_back(tet);
      }
    }
  }

  // Corners take the copies of their lattice nodes that tets around `around` have, if any.
  void AddTet(uint32_t lattice_tet, uint32_t around) {
    std::array<uint32_t, 4> nodes = lattice_.TetNodes(lattice_tet);
    for (uint32_t& node : nodes) node = CopyNear(node, around);
    const auto t = static_cast<uint32_t>(cage_.mesh.tets.size());
    for (const uint32_t node : nodes) tets_of_node_[node].push_back(t);
    cage_.mesh.tets.push_back(nodes);
    cage_.lattice_tet.push_back(lattice_tet);
    cage_.starts.push_back(cage_.starts.back());
    ++cage_.num_filled;
  }

  uint32_t CopyNear(uint32_t lattice_node, uint32_t around) {
    if (cage_.lattice_node[around] == lattice_node) return around;
    uint32_t found = UINT32_MAX;
    for (const uint32_t t : tets_of_node_[around]) {
      for (const uint32_t node : cage_.mesh.tets[t]) {
        if (cage_.lattice_node[node] == lattice_node) found = std::min(found, node);
      }
    }
    if (found != UINT32_MAX) return found;
    cage_.mesh.nodes.push_back(lattice_.NodePosition(lattice_node));
    cage_.lattice_node.push_back(lattice_node);
    tets_of_node_.emplace_back();
    return static_cast<uint32_t>(cage_.mesh.nodes.size() - 1);
  }

  const Lattice& lattice_;
  SplitCage& cage_;
  std::vector<std::vector<uint32_t>> tets_of_node_;
};

}  // namespace

uint32_t FillGaps(const Lattice& lattice, SplitCage* cage) {
  for (int round = 0;; ++round) {
    const BoundaryDefects defects = FindBoundaryDefects(FindCageFaces(cage->mesh));
    const auto left = static_cast<uint32_t>(defects.edges.size() + defects.nodes.size());
    if (left == 0 || round == kRounds) return left;
    GapFiller filler(lattice, cage);
    bool filled = false;
    for (const auto& [a, b] : defects.edges) filled |= filler.FillAround({a, b});
    if (defects.edges.empty()) {
      for (const uint32_t node : defects.nodes) filled |= filler.FillAround({node});
    }
    if (!filled) return left;
  }
}

}  // namespace plush::tools
