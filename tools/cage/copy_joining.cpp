// SPDX-License-Identifier: MIT
#include "cage/copy_joining.h"

#include "cage/boundary_defects.h"
#include "cage/cage_boundary.h"
#include "mesh/disjoint_sets.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace plush::tools {
namespace {

using Pair = std::pair<uint32_t, uint32_t>;

// Two copies of a lattice tet among the tets with all of `nodes`; the lowest.
std::optional<Pair> CopiesAt(const SplitCage& cage, std::span<const uint32_t> nodes) {
  std::map<uint32_t, uint32_t> first_copy;
  for (uint32_t t = 0; t < cage.mesh.tets.size(); ++t) {
    const auto& tet = cage.mesh.tets[t];
    const bool has_all = std::all_of(nodes.begin(), nodes.end(), [&](uint32_t node) {
      return std::find(tet.begin(), tet.end(), node) != tet.end();
    });
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

// The cage with nodes replaced by the lowest of their set, numbered anew, and tets with the same
// nodes as one.
SplitCage WithJoinedNodes(const SplitCage& cage, DisjointSets* sets) {
  SplitCage out = cage;
  out.mesh = {};
  out.lattice_tet.clear();
  out.lattice_node.clear();
  out.starts.assign(1, 0);
  out.triangles.clear();
  std::vector<uint32_t> number(cage.mesh.nodes.size(), UINT32_MAX);
  for (uint32_t node = 0; node < number.size(); ++node) {
    if (sets->Find(node) != node) continue;
    number[node] = static_cast<uint32_t>(out.mesh.nodes.size());
    out.mesh.nodes.push_back(cage.mesh.nodes[node]);
    out.lattice_node.push_back(cage.lattice_node[node]);
  }
  std::map<std::array<uint32_t, 4>, uint32_t> tet_of_nodes;
  std::vector<std::vector<uint32_t>> owned;
  for (uint32_t t = 0; t < cage.mesh.tets.size(); ++t) {
    std::array<uint32_t, 4> tet = cage.mesh.tets[t];
    for (uint32_t& node : tet) node = number[sets->Find(node)];
    const auto [at, is_new] =
        tet_of_nodes.emplace(tet, static_cast<uint32_t>(out.mesh.tets.size()));
    if (is_new) {
      out.mesh.tets.push_back(tet);
      out.lattice_tet.push_back(cage.lattice_tet[t]);
      owned.emplace_back();
    } else {
      ++out.num_shared;
    }
    const auto triangles = cage.TrianglesOf(t);
    owned[at->second].insert(owned[at->second].end(), triangles.begin(), triangles.end());
  }
  for (auto& triangles : owned) {
    std::sort(triangles.begin(), triangles.end());
    out.triangles.insert(out.triangles.end(), triangles.begin(), triangles.end());
    out.starts.push_back(static_cast<uint32_t>(out.triangles.size()));
  }
  return out;
}

}  // namespace

bool JoinCopiesAtPinch(SplitCage* cage) {
  const std::optional<Pair> copies = CopiesAtPinch(*cage);
  if (!copies) return false;
  DisjointSets sets(static_cast<uint32_t>(cage->mesh.nodes.size()));
  // Copies have the copies of one lattice node at the same corner.
  for (size_t i = 0; i < 4; ++i) {
    sets.Join(cage->mesh.tets[copies->first][i], cage->mesh.tets[copies->second][i]);
  }
  *cage = WithJoinedNodes(*cage, &sets);
  return true;
}

}  // namespace plush::tools
