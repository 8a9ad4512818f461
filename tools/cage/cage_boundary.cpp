// SPDX-License-Identifier: MIT
#include "cage/cage_boundary.h"

#include <algorithm>
#include <utility>

namespace plush::tools {
namespace {

// A face of a tet as a key.
struct Use {
  std::array<uint32_t, 3> key = {};  // sorted nodes
  uint32_t tet = 0;
  uint8_t corner = 0;
  bool even = false;  // the tet lies on the side to which the sorted nodes turn clockwise
};

// Sorts three nodes; whether the permutation was even.
bool SortNodes(std::array<uint32_t, 3>* nodes) {
  bool even = true;
  const auto order = [&](size_t i, size_t j) {
    if ((*nodes)[i] <= (*nodes)[j]) return;
    std::swap((*nodes)[i], (*nodes)[j]);
    even = !even;
  };
  order(0, 1);
  order(1, 2);
  order(0, 1);
  return even;
}

}  // namespace

std::array<uint32_t, 3> FaceOf(const std::array<uint32_t, 4>& tet, size_t corner) {
  const auto& [i, j, k] = kTetFaces[corner];
  return {tet[i], tet[j], tet[k]};
}

std::vector<uint32_t> CageFaces::Across(const TetMesh& mesh, uint32_t t, size_t corner) const {
  const uint32_t neighbour = neighbours[t][corner];
  if (neighbour == kBoundaryFace) return {};
  if (branches.empty()) return {neighbour};
  std::array<uint32_t, 3> key = FaceOf(mesh.tets[t], corner);
  SortNodes(&key);
  const auto at = std::lower_bound(branches.begin(), branches.end(), key);
  if (at == branches.end() || *at != key) return {neighbour};
  const auto& sides = branch_tets[static_cast<size_t>(at - branches.begin())];
  const bool first = std::binary_search(sides[0].begin(), sides[0].end(), t);
  return sides[first ? 1 : 0];
}

CageFaces FindCageFaces(const TetMesh& mesh) {
  std::vector<Use> uses;
  uses.reserve(4 * mesh.tets.size());
  for (uint32_t t = 0; t < mesh.tets.size(); ++t) {
    for (uint8_t corner = 0; corner < 4; ++corner) {
      Use use{FaceOf(mesh.tets[t], corner), t, corner, false};
      use.even = SortNodes(&use.key);
      uses.push_back(use);
    }
  }
  std::sort(uses.begin(), uses.end(), [](const Use& x, const Use& y) {
    if (x.key != y.key) return x.key < y.key;
    return x.even != y.even ? x.even : x.tet < y.tet;
  });
  CageFaces faces;
  faces.neighbours.assign(mesh.tets.size(),
                          {kBoundaryFace, kBoundaryFace, kBoundaryFace, kBoundaryFace});
  for (size_t first = 0; first < uses.size();) {
    size_t last = first;
    size_t middle = first;
    while (last < uses.size() && uses[last].key == uses[first].key) {
      middle += uses[last].even ? 1 : 0;
      ++last;
    }
    // Even uses come first: [first, middle) on one side, [middle, last) on the other.
    if (middle > first && middle < last) {
      for (size_t i = first; i < last; ++i) {
        const Use& other = uses[i < middle ? middle : first];
        faces.neighbours[uses[i].tet][uses[i].corner] = other.tet;
      }
      if (last - first > 2) {
        faces.branches.push_back(uses[first].key);
        auto& sides = faces.branch_tets.emplace_back();
        for (size_t i = first; i < last; ++i) sides[i < middle ? 0 : 1].push_back(uses[i].tet);
      }
    }
    first = last;
  }
  for (uint32_t t = 0; t < mesh.tets.size(); ++t) {
    for (size_t corner = 0; corner < 4; ++corner) {
      if (faces.neighbours[t][corner] != kBoundaryFace) continue;
      faces.boundary.push_back({FaceOf(mesh.tets[t], corner), t});
    }
  }
  return faces;
}

}  // namespace plush::tools
