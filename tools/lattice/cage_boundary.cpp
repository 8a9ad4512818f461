// SPDX-License-Identifier: MIT
// Finds neighbours, boundary faces and branches by sorting the faces of a cage by their nodes.
// Pinched edges do not have exactly two boundary faces; pinched nodes have more than one fan.
#include "lattice/cage_boundary.h"

#include "mesh/disjoint_sets.h"

#include <algorithm>
#include <utility>

namespace plush::tools {
namespace {

struct FaceEdge {
  std::array<uint32_t, 2> edge = {};  // ascending
  uint32_t face = 0;
};

std::vector<FaceEdge> EdgeUses(const std::vector<CageFace>& faces) {
  std::vector<FaceEdge> uses;
  uses.reserve(3 * faces.size());
  for (uint32_t f = 0; f < faces.size(); ++f) {
    for (size_t i = 0; i < 3; ++i) {
      const uint32_t a = faces[f].nodes[i];
      const uint32_t b = faces[f].nodes[(i + 1) % 3];
      uses.push_back({{std::min(a, b), std::max(a, b)}, f});
    }
  }
  std::sort(uses.begin(), uses.end(), [](const FaceEdge& x, const FaceEdge& y) {
    return x.edge != y.edge ? x.edge < y.edge : x.face < y.face;
  });
  return uses;
}

// Nodes and edges of branches, sorted: they do not count as pinched.
struct Exempt {
  std::vector<uint32_t> nodes;
  std::vector<std::array<uint32_t, 2>> edges;

  explicit Exempt(const CageFaces& faces) {
    for (const auto& [a, b, c] : faces.branches) {
      nodes.insert(nodes.end(), {a, b, c});
      edges.insert(edges.end(), {{a, b}, {a, c}, {b, c}});
    }
    std::sort(nodes.begin(), nodes.end());
    std::sort(edges.begin(), edges.end());
  }
  bool Has(uint32_t node) const { return std::binary_search(nodes.begin(), nodes.end(), node); }
  bool Has(const std::array<uint32_t, 2>& edge) const {
    return std::binary_search(edges.begin(), edges.end(), edge);
  }
};

// Nodes whose boundary faces form more than one fan, ascending. The elements of the disjoint sets
// are the corners of faces. Faces at a common edge join their corners at both of its ends.
std::vector<uint32_t> PinchedNodes(const std::vector<CageFace>& faces,
                                   const std::vector<FaceEdge>& uses) {
  DisjointSets corners(static_cast<uint32_t>(3 * faces.size()));
  const auto corner_at = [&](uint32_t face, uint32_t node) {
    const auto& nodes = faces[face].nodes;
    return 3 * face +
           static_cast<uint32_t>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
  };
  for (size_t i = 1; i < uses.size(); ++i) {
    if (uses[i].edge != uses[i - 1].edge) continue;
    for (const uint32_t node : uses[i].edge) {
      corners.Join(corner_at(uses[i - 1].face, node), corner_at(uses[i].face, node));
    }
  }
  std::vector<uint32_t> with_fan;  // one entry per node and fan
  for (uint32_t f = 0; f < faces.size(); ++f) {
    for (uint32_t i = 0; i < 3; ++i) {
      if (corners.Find(3 * f + i) == 3 * f + i) with_fan.push_back(faces[f].nodes[i]);
    }
  }
  std::sort(with_fan.begin(), with_fan.end());
  std::vector<uint32_t> pinched;
  for (size_t i = 1; i < with_fan.size(); ++i) {
    const bool repeats = with_fan[i] == with_fan[i - 1];
    if (repeats && (pinched.empty() || pinched.back() != with_fan[i])) {
      pinched.push_back(with_fan[i]);
    }
  }
  return pinched;
}

// A face of a tet, with its sorted nodes as the key.
struct Use {
  std::array<uint32_t, 3> key = {};  // sorted nodes
  uint32_t tet = 0;
  uint8_t corner = 0;
  bool even = false;  // seen from the tet, the sorted nodes turn clockwise
};

// Sorts three nodes; returns whether the permutation was even.
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

BoundaryDefects FindBoundaryDefects(const CageFaces& faces) {
  const std::vector<FaceEdge> uses = EdgeUses(faces.boundary);
  const Exempt exempt(faces);
  BoundaryDefects defects;
  std::vector<uint32_t> ends;
  for (size_t first = 0; first < uses.size();) {
    size_t last = first;
    while (last < uses.size() && uses[last].edge == uses[first].edge) ++last;
    if (last - first != 2 && !exempt.Has(uses[first].edge)) {
      defects.edges.push_back(uses[first].edge);
      ends.insert(ends.end(), uses[first].edge.begin(), uses[first].edge.end());
    }
    first = last;
  }
  std::sort(ends.begin(), ends.end());
  for (const uint32_t node : PinchedNodes(faces.boundary, uses)) {
    if (exempt.Has(node) || std::binary_search(ends.begin(), ends.end(), node)) continue;
    defects.nodes.push_back(node);
  }
  return defects;
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

std::vector<std::array<uint32_t, 3>> CageFaces::BoundaryNodes() const {
  std::vector<std::array<uint32_t, 3>> nodes;
  nodes.reserve(boundary.size());
  for (const CageFace& face : boundary) nodes.push_back(face.nodes);
  return nodes;
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
