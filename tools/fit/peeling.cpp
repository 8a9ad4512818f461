// SPDX-License-Identifier: MIT
// Peels empty tets off the boundary; class Skin decides whether the boundary stays a manifold.
// Source: [Civ, Sec. 5.3.1] deletes external tets.
#include "fit/peeling.h"

#include "fit/surface_clearance.h"
#include "lattice/cage_boundary.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace plush::tools {
namespace {

// The boundary while tets are removed.
class Skin {
 public:
  explicit Skin(const SplitCage& cage) : mesh_(cage.mesh), faces_(FindCageFaces(cage.mesh)) {
    tets_at_node_.assign(mesh_.nodes.size(), 0);
    on_boundary_.assign(mesh_.nodes.size(), false);
    at_branch_.assign(mesh_.nodes.size(), false);
    for (const auto& tet : mesh_.tets) {
      for (const uint32_t node : tet) ++tets_at_node_[node];
    }
    for (const CageFace& face : faces_.boundary) Expose(face.nodes);
    for (const auto& face : faces_.branches) {
      for (const uint32_t node : face) at_branch_[node] = true;
    }
  }

  // Whether the tet is at the boundary, which stays a manifold in one piece without it.
  bool MayGo(uint32_t t) const {
    const auto& tet = mesh_.tets[t];
    std::vector<uint32_t> inner;  // nodes opposite faces with a neighbour
    std::vector<uint32_t> outer;  // nodes opposite boundary faces
    for (size_t i = 0; i < 4; ++i) {
      if (at_branch_[tet[i]]) return false;
      (faces_.neighbours[t][i] != kBoundaryFace ? inner : outer).push_back(tet[i]);
    }
    switch (inner.size()) {
      case 1:  // the tip goes too: no other tet may use it
        return tets_at_node_[inner[0]] == 1;
      case 2:  // the inner faces meet at an edge, which must not be on the boundary
        return !edges_.contains(std::minmax(outer[0], outer[1]));
      case 3:  // the inner faces meet at a node, which must not be on the boundary
        return !on_boundary_[outer[0]];
      default:
        return false;
    }
  }

  void Remove(uint32_t t) {
    const auto& tet = mesh_.tets[t];
    for (size_t i = 0; i < 4; ++i) {
      --tets_at_node_[tet[i]];
      const uint32_t other = faces_.neighbours[t][i];
      if (other == kBoundaryFace) continue;
      for (uint32_t& neighbour : faces_.neighbours[other]) {
        if (neighbour == t) neighbour = kBoundaryFace;
      }
      Expose(FaceOf(tet, i));
    }
  }

  const CageFaces& faces() const { return faces_; }

 private:
  void Expose(const std::array<uint32_t, 3>& face) {
    for (size_t i = 0; i < 3; ++i) {
      on_boundary_[face[i]] = true;
      edges_.insert(std::minmax(face[i], face[(i + 1) % 3]));
    }
  }

  const TetMesh& mesh_;
  CageFaces faces_;
  std::vector<uint32_t> tets_at_node_;
  std::vector<bool> on_boundary_;
  std::vector<bool> at_branch_;
  // Edges of the boundary, lower node first. Edges of faces that are gone still count, which only
  // keeps some tets until the next call.
  std::set<std::pair<uint32_t, uint32_t>> edges_;
};

// The cage without the tets marked in `gone`. Their triangles go to their neighbours; nodes that no
// tet uses are dropped.
SplitCage Without(const SplitCage& cage, const CageFaces& before, const std::vector<bool>& gone) {
  std::vector<std::vector<uint32_t>> owned = cage.triangles;
  for (uint32_t t = 0; t < owned.size(); ++t) {
    if (!gone[t]) continue;
    const std::vector<uint32_t>& triangles = cage.triangles[t];
    for (const uint32_t other : before.neighbours[t]) {
      if (other == kBoundaryFace) continue;
      owned[other].insert(owned[other].end(), triangles.begin(), triangles.end());
    }
  }
  SplitCage out = cage;
  out.mesh = {};
  out.rest_nodes.clear();
  out.lattice_tet.clear();
  out.lattice_node.clear();
  out.node_ids.clear();
  out.triangles.clear();
  std::vector<uint32_t> new_node(cage.mesh.nodes.size(), UINT32_MAX);
  for (uint32_t t = 0; t < owned.size(); ++t) {
    if (gone[t]) continue;
    std::array<uint32_t, 4> tet = cage.mesh.tets[t];
    for (uint32_t& node : tet) {
      if (new_node[node] == UINT32_MAX) {
        new_node[node] = static_cast<uint32_t>(out.mesh.nodes.size());
        out.mesh.nodes.push_back(cage.mesh.nodes[node]);
        out.rest_nodes.push_back(cage.rest_nodes[node]);
        out.lattice_node.push_back(cage.lattice_node[node]);
        out.node_ids.push_back(cage.node_ids[node]);
      }
      node = new_node[node];
    }
    out.mesh.tets.push_back(tet);
    out.lattice_tet.push_back(cage.lattice_tet[t]);
    std::sort(owned[t].begin(), owned[t].end());
    owned[t].erase(std::unique(owned[t].begin(), owned[t].end()), owned[t].end());
    out.triangles.push_back(std::move(owned[t]));
  }
  return out;
}

}  // namespace

uint32_t PeelCage(const SolidSurface& surface, const TriangleBvh& bvh, const InsideTest& inside,
                  double clearance, SplitCage* cage) {
  Skin skin(*cage);
  const CageFaces before = skin.faces();
  SurfaceClearance clear(surface, bvh, *cage, before, clearance);
  std::vector<bool> gone(cage->mesh.tets.size(), false);
  uint32_t count = 0;
  for (uint32_t t = 0; t < cage->mesh.tets.size(); ++t) {
    if (!skin.MayGo(t)) continue;
    const auto [a, b, c, d] = CornersOf(cage->mesh, t);
    clear.LookAround(t);
    uint32_t hit = SurfaceClearance::kNoTriangle;
    if (!clear.IsFree(a, b, c, d, &hit)) continue;
    if (!surface.closed && inside.IsInside((a + b + c + d) * 0.25)) continue;
    skin.Remove(t);
    gone[t] = true;
    ++count;
  }
  if (count > 0) *cage = Without(*cage, before, gone);
  return count;
}

}  // namespace plush::tools
