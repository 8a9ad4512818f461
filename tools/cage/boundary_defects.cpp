// SPDX-License-Identifier: MIT
#include "cage/boundary_defects.h"

#include "mesh/disjoint_sets.h"

#include <algorithm>
#include <utility>

namespace plush::tools {
namespace {

struct EdgeUse {
  std::array<uint32_t, 2> edge = {};  // ascending
  uint32_t face = 0;
};

std::vector<EdgeUse> EdgeUses(const std::vector<CageFace>& faces) {
  std::vector<EdgeUse> uses;
  uses.reserve(3 * faces.size());
  for (uint32_t f = 0; f < faces.size(); ++f) {
    for (size_t i = 0; i < 3; ++i) {
      const uint32_t a = faces[f].nodes[i];
      const uint32_t b = faces[f].nodes[(i + 1) % 3];
      uses.push_back({{std::min(a, b), std::max(a, b)}, f});
    }
  }
  std::sort(uses.begin(), uses.end(), [](const EdgeUse& x, const EdgeUse& y) {
    return x.edge != y.edge ? x.edge < y.edge : x.face < y.face;
  });
  return uses;
}

// Sorted nodes and edges of branch faces.
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

// Nodes at which the corners of boundary faces form more than one fan. A corner of a face is an
// element; the two faces at an edge join their corners at both ends.
std::vector<uint32_t> PinchedNodes(const std::vector<CageFace>& faces,
                                   const std::vector<EdgeUse>& uses) {
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

}  // namespace

BoundaryDefects FindBoundaryDefects(const CageFaces& faces) {
  const std::vector<EdgeUse> uses = EdgeUses(faces.boundary);
  const Exempt exempt(faces);
  BoundaryDefects defects;
  std::vector<uint32_t> told;
  for (size_t first = 0; first < uses.size();) {
    size_t last = first;
    while (last < uses.size() && uses[last].edge == uses[first].edge) ++last;
    if (last - first != 2 && !exempt.Has(uses[first].edge)) {
      defects.edges.push_back(uses[first].edge);
      told.insert(told.end(), uses[first].edge.begin(), uses[first].edge.end());
    }
    first = last;
  }
  std::sort(told.begin(), told.end());
  for (const uint32_t node : PinchedNodes(faces.boundary, uses)) {
    if (exempt.Has(node) || std::binary_search(told.begin(), told.end(), node)) continue;
    defects.nodes.push_back(node);
  }
  return defects;
}

}  // namespace plush::tools
