// SPDX-License-Identifier: MIT
// Repairs a pinched boundary: GapFiller adds empty tets, JoinCopiesAtPinch merges two copies.
// Both work on one pinched edge or node at a time and leave the rest of the cage alone.
#include "lattice/copy_joining.h"

#include "lattice/cage_boundary.h"
#include "mesh/disjoint_sets.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace plush::tools {
namespace {

// Filling one gap may pinch another place. A few rounds repair all that can be repaired.
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

  // Fills gaps around a pinched node (one node) or a pinched edge (two nodes). Returns whether it
  // filled any.
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

  // The gaps around the nodes: lattice tets without a copy that has these nodes, grouped into runs
  // that are connected across faces.
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

  // Extends `found` by all lattice tets at the nodes that can be reached from it across faces
  // without passing one in `barred`.
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

  // Adds an empty tet. Each corner reuses the copy of its lattice node in a tet at node `around`,
  // if there is one.
  void AddTet(uint32_t lattice_tet, uint32_t around) {
    std::array<uint32_t, 4> nodes = lattice_.TetNodes(lattice_tet);
    for (uint32_t& node : nodes) node = CopyNear(node, around);
    const auto t = static_cast<uint32_t>(cage_.mesh.tets.size());
    for (const uint32_t node : nodes) tets_of_node_[node].push_back(t);
    cage_.mesh.tets.push_back(nodes);
    cage_.lattice_tet.push_back(lattice_tet);
    cage_.triangles.emplace_back();
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

using Pair = std::pair<uint32_t, uint32_t>;

// The first two copies of one lattice tet among the tets that have all of `nodes`.
std::optional<Pair> CopiesAt(const SplitCage& cage, std::span<const uint32_t> nodes) {
  std::map<uint32_t, uint32_t> first_copy;
  for (uint32_t t = 0; t < cage.mesh.tets.size(); ++t) {
    const auto& tet = cage.mesh.tets[t];
    const bool has_all =
        std::all_of(nodes.begin(), nodes.end(), [&](uint32_t node) { return Contains(tet, node); });
    if (!has_all) continue;
    const auto [at, is_new] = first_copy.emplace(cage.lattice_tet[t], t);
    if (!is_new) return Pair{at->second, t};
  }
  return std::nullopt;
}

std::optional<Pair> CopiesAtPinch(const SplitCage& cage) {
  const BoundaryDefects defects = FindBoundaryDefects(FindCageFaces(cage.mesh));
  for (const auto& edge : defects.edges) {
    if (const auto pair = CopiesAt(cage, edge)) return pair;
  }
  for (const uint32_t node : defects.nodes) {
    if (const auto pair = CopiesAt(cage, std::span(&node, 1))) return pair;
  }
  return std::nullopt;
}

// The cage with each set of nodes merged into its lowest one, the nodes renumbered, and tets with
// the same nodes merged.
SplitCage WithJoinedNodes(const SplitCage& cage, DisjointSets* sets) {
  SplitCage out = cage;
  out.mesh = {};
  out.lattice_tet.clear();
  out.lattice_node.clear();
  out.triangles.clear();
  std::vector<uint32_t> number(cage.mesh.nodes.size(), UINT32_MAX);
  for (uint32_t node = 0; node < number.size(); ++node) {
    if (sets->Find(node) != node) continue;
    number[node] = static_cast<uint32_t>(out.mesh.nodes.size());
    out.mesh.nodes.push_back(cage.mesh.nodes[node]);
    out.lattice_node.push_back(cage.lattice_node[node]);
  }
  std::map<std::array<uint32_t, 4>, uint32_t> tet_of_nodes;
  for (uint32_t t = 0; t < cage.mesh.tets.size(); ++t) {
    std::array<uint32_t, 4> tet = cage.mesh.tets[t];
    for (uint32_t& node : tet) node = number[sets->Find(node)];
    const auto [at, is_new] =
        tet_of_nodes.emplace(tet, static_cast<uint32_t>(out.mesh.tets.size()));
    if (is_new) {
      out.mesh.tets.push_back(tet);
      out.lattice_tet.push_back(cage.lattice_tet[t]);
      out.triangles.emplace_back();
    } else {
      ++out.num_shared;
    }
    std::vector<uint32_t>& owned = out.triangles[at->second];
    owned.insert(owned.end(), cage.triangles[t].begin(), cage.triangles[t].end());
  }
  for (auto& triangles : out.triangles) std::sort(triangles.begin(), triangles.end());
  return out;
}

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

bool JoinCopiesAtPinch(SplitCage* cage) {
  const std::optional<Pair> copies = CopiesAtPinch(*cage);
  if (!copies) return false;
  DisjointSets sets(static_cast<uint32_t>(cage->mesh.nodes.size()));
  // Corner i of both tets is a copy of the same lattice node.
  for (size_t i = 0; i < 4; ++i) {
    sets.Join(cage->mesh.tets[copies->first][i], cage->mesh.tets[copies->second][i]);
  }
  *cage = WithJoinedNodes(*cage, &sets);
  return true;
}

}  // namespace plush::tools
