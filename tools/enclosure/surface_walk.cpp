// SPDX-License-Identifier: MIT
// Follows triangles from tet to tet: class Walker routes each, chooses strands, then finds tears.
// The cuts and sides of mesh/triangle_cut.h make all decisions exact.
#include "enclosure/surface_walk.h"

#include "mesh/topology.h"
#include "mesh/triangle_cut.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace plush::tools {
namespace {

// Most faces crossed on the way to a point. Points that coincide with a node may need several.
constexpr int kMaxSteps = 200;

// The first face that the point lies beyond; 4 if there is none.
size_t FaceBeyond(const TetMesh& mesh, uint32_t tet, const Vec3d& p) {
  for (size_t corner = 0; corner < 4; ++corner) {
    const auto [a, b, c] = FaceOf(mesh.tets[tet], corner);
    if (SideOfCagePlane(mesh.nodes[a], mesh.nodes[b], mesh.nodes[c], p) > 0) return corner;
  }
  return 4;
}

// The tet that holds `p`, reached from tet `start` across faces that `p` lies beyond. kNotHeld if
// the way leaves the mesh, or if `start` is not a tet. `p` counts as moved by an infinitely small
// vector (triangle_cut.h), so it never lies on a face.
uint32_t FindHoldingTet(const TetMesh& mesh, const CageFaces& faces, uint32_t start,
                        const Vec3d& p) {
  if (start >= mesh.tets.size()) return kNotHeld;
  uint32_t tet = start;
  for (int step = 0; step < kMaxSteps; ++step) {
    const size_t face = FaceBeyond(mesh, tet, p);
    if (face == 4) return tet;
    tet = faces.neighbours[tet][face];
    if (tet == kBoundaryFace) return kNotHeld;
  }
  return kNotHeld;
}

using Triangle = std::array<uint32_t, 3>;
using FaceNodes = std::array<uint32_t, 3>;

FaceNodes SortedFace(const TetMesh& mesh, uint32_t tet, size_t corner) {
  FaceNodes nodes = FaceOf(mesh.tets[tet], corner);
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

// A face with several tets behind it. The triangle that passes it has no corner in any of them.
struct Branch {
  FaceNodes face = {};
  std::vector<uint32_t> strands;
};

// A split triangle while it is followed.
struct Route {
  SplitTriangle split;
  std::vector<Branch> branches;  // those without a chosen strand
  std::vector<uint32_t> chosen;  // strands chosen at the others
  std::vector<uint32_t> unfit;   // tets that are never entered (FindUnfit)
  bool outside = false;
};

class Walker {
 public:
  Walker(const TetMesh& mesh, const CageFaces& faces, std::span<const Vec3d> points,
         std::span<const Triangle> triangles, std::span<const uint32_t> opposite)
      : mesh_(mesh), faces_(faces), points_(points), triangles_(triangles), opposite_(opposite) {}

  SurfaceWalk Run(std::span<const uint32_t> tet_of_point) {
    Locate(tet_of_point);
    RouteAll();
    ChooseStrands();
    for (const Route& route : routes_) {
      if (route.outside) walk_.outside.push_back(route.split.triangle);
    }
    FindTorn();
    for (Route& route : routes_) walk_.split.push_back(std::move(route.split));
    return std::move(walk_);
  }

 private:
  void Locate(std::span<const uint32_t> tet_of_point) {
    std::vector<uint8_t> is_used(points_.size(), 0);
    for (const Triangle& triangle : triangles_) {
      for (const uint32_t point : triangle) is_used[point] = 1;
    }
    walk_.tets.assign(points_.size(), kNotHeld);
    tbb::parallel_for(size_t{0}, points_.size(), [&](size_t p) {
      if (is_used[p] == 0) return;
      walk_.tets[p] = FindHoldingTet(mesh_, faces_, tet_of_point[p], points_[p]);
    });
  }

  bool IsWhole(uint32_t t) const {
    const auto& [a, b, c] = triangles_[t];
    const auto& tets = walk_.tets;
    return tets[a] == tets[b] && tets[b] == tets[c] && tets[a] != kNotHeld;
  }

  void RouteAll() {
    for (uint32_t t = 0; t < triangles_.size(); ++t) {
      if (IsWhole(t)) continue;
      routes_.emplace_back();
      routes_.back().split.triangle = t;
    }
    tbb::parallel_for(size_t{0}, routes_.size(), [&](size_t i) {
      Follow(&routes_[i]);
      if (routes_[i].branches.empty()) return;
      FindUnfit(&routes_[i]);
      Follow(&routes_[i]);
    });
  }

  static bool Has(const std::vector<uint32_t>& tets, uint32_t tet) {
    return std::find(tets.begin(), tets.end(), tet) != tets.end();
  }

  static void AddOnce(uint32_t tet, std::vector<uint32_t>* queue) {
    if (!Has(*queue, tet)) queue->push_back(tet);
  }

  // Follows a triangle from the tets of its corners and from the strands chosen for it.
  void Follow(Route* route) const {
    route->split.pieces.clear();
    route->branches.clear();
    const Triangle& ids = triangles_[route->split.triangle];
    std::vector<uint32_t> queue;
    for (const uint32_t id : ids) {
      route->outside = route->outside || walk_.tets[id] == kNotHeld;
      AddOnce(walk_.tets[id], &queue);
    }
    if (route->outside) return;
    for (const uint32_t strand : route->chosen) AddOnce(strand, &queue);
    for (size_t next = 0; next < queue.size(); ++next) {
      const uint32_t tet = queue[next];
      const std::optional<TriangleCut> cut = CutByTet(ids, tet);
      route->outside = route->outside || !cut;
      if (!cut || cut->count == 0) continue;
      route->split.pieces.push_back({tet, *cut});
      for (uint8_t side = 0; side < cut->count; ++side) {
        if (cut->lines[side] < kFaceLine) continue;
        Cross(tet, static_cast<size_t>(cut->lines[side] - kFaceLine), &queue, route);
      }
    }
    std::erase_if(route->branches, [&queue, route](const Branch& branch) {
      const auto entered = std::ranges::count_if(
          branch.strands, [&queue](uint32_t strand) { return Has(queue, strand); });
      route->outside = route->outside || entered > 1;  // the strands would hold one part twice
      return entered > 0;
    });
  }

  // The part of the triangle in a tet. Nothing if it is degenerate, or if a corner lies in the tet
  // only by overlap in space.
  std::optional<TriangleCut> CutByTet(const Triangle& ids, uint32_t tet) const {
    const auto cut =
        CutTriangle({points_[ids[0]], points_[ids[1]], points_[ids[2]]}, CornersOf(mesh_, tet));
    for (uint8_t i = 0; cut && i < cut->count; ++i) {
      const CutCorner& corner = cut->corners[i];
      if (corner.kind == CutCorner::Kind::kCorner && walk_.tets[ids[corner.first]] != tet) {
        return std::nullopt;
      }
    }
    return cut;
  }

  void Cross(uint32_t tet, size_t corner, std::vector<uint32_t>* queue, Route* route) const {
    std::vector<uint32_t> others = faces_.Across(mesh_, tet, corner);
    std::erase_if(others, [route](uint32_t other) { return Has(route->unfit, other); });
    if (others.empty()) {
      route->outside = true;
    } else if (others.size() == 1) {
      AddOnce(others[0], queue);
    } else {
      route->branches.push_back({SortedFace(mesh_, tet, corner), std::move(others)});
    }
  }

  // Finds the tets that cannot hold their part of the triangle, whatever strands are chosen: it
  // leaves the mesh there, or passes to such tets only.
  void FindUnfit(Route* route) const {
    const Triangle& ids = triangles_[route->split.triangle];
    const auto is_unfit = [route](uint32_t tet) { return Has(route->unfit, tet); };
    std::vector<std::pair<uint32_t, std::vector<uint32_t>>> passages;  // from a tet to all strands
    std::vector<uint32_t> queue;
    for (const uint32_t id : ids) AddOnce(walk_.tets[id], &queue);
    for (size_t next = 0; next < queue.size(); ++next) {
      const uint32_t tet = queue[next];
      const std::optional<TriangleCut> cut = CutByTet(ids, tet);
      if (!cut) route->unfit.push_back(tet);
      for (uint8_t side = 0; cut && side < cut->count; ++side) {
        if (cut->lines[side] < kFaceLine) continue;
        passages.push_back({tet, faces_.Across(mesh_, tet, cut->lines[side] - size_t{kFaceLine})});
        for (const uint32_t other : passages.back().second) AddOnce(other, &queue);
      }
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [tet, others] : passages) {
        if (is_unfit(tet) || !std::ranges::all_of(others, is_unfit)) continue;
        route->unfit.push_back(tet);
        changed = true;
      }
    }
  }

  const Route* FindRoute(uint32_t triangle) const {
    const auto at =
        std::lower_bound(routes_.begin(), routes_.end(), triangle,
                         [](const Route& route, uint32_t id) { return route.split.triangle < id; });
    return at != routes_.end() && at->split.triangle == triangle ? &*at : nullptr;
  }

  // The strand that a neighbouring triangle enters at the branch; kNotHeld if none does.
  uint32_t StrandOfNeighbour(const Route& route, const Branch& branch) const {
    for (uint32_t k = 0; k < 3; ++k) {
      const uint32_t across = opposite_[3 * route.split.triangle + k];
      if (across == kNoHalfEdge) continue;
      const Route* other = FindRoute(across / 3);
      if (other == nullptr) continue;
      for (const TrianglePiece& piece : other->split.pieces) {
        if (Has(branch.strands, piece.tet) && PassesFace(piece, across % 3, branch.face)) {
          return piece.tet;
        }
      }
    }
    return kNotHeld;
  }

  // Whether edge `edge` of the piece's triangle crosses the face into the piece's tet.
  bool PassesFace(const TrianglePiece& piece, uint32_t edge, const FaceNodes& face) const {
    return std::any_of(piece.cut.corners.begin(), piece.cut.corners.begin() + piece.cut.count,
                       [&](const CutCorner& corner) {
                         return corner.kind == CutCorner::Kind::kEdgeFace && corner.first == edge &&
                                SortedFace(mesh_, piece.tet, corner.second) == face;
                       });
  }

  // Follows the triangle into a strand. Changes nothing if the strand does not hold it.
  bool TryStrand(uint32_t strand, Route* route) const {
    Route with_strand = *route;
    with_strand.chosen.push_back(strand);
    Follow(&with_strand);
    if (with_strand.outside) return false;
    *route = std::move(with_strand);
    return true;
  }

  // Chooses the strand; if it does not hold the triangle, the first other one that does.
  void TakeStrand(uint32_t strand, Route* route) const {
    if (TryStrand(strand, route)) return;
    const std::vector<uint32_t> strands = route->branches.front().strands;
    for (const uint32_t other : strands) {
      if (TryStrand(other, route)) return;
    }
    route->outside = true;
    route->branches.clear();
  }

  // Propagates strand choices from neighbouring triangles. When that makes no progress, chooses the
  // first strand for one triangle and goes on.
  void ChooseStrands() {
    std::vector<Route*> open;
    for (Route& route : routes_) {
      if (!route.branches.empty()) open.push_back(&route);
    }
    bool guess = false;
    while (!open.empty()) {
      bool progress = false;
      for (Route* route : open) {
        uint32_t strand = kNotHeld;
        for (size_t i = 0; i < route->branches.size() && strand == kNotHeld; ++i) {
          strand = StrandOfNeighbour(*route, route->branches[i]);
          if (strand != kNotHeld) std::swap(route->branches[0], route->branches[i]);
        }
        if (strand == kNotHeld && guess) strand = route->branches[0].strands[0];
        if (strand == kNotHeld) continue;
        guess = false;
        progress = true;
        TakeStrand(strand, route);
      }
      guess = !progress;
      std::erase_if(open, [](const Route* route) { return route->branches.empty(); });
    }
  }

  // The tets through which an edge of a split triangle passes, ascending.
  static std::vector<uint32_t> TetsAlong(const SplitTriangle& split, uint32_t edge) {
    std::vector<uint32_t> tets;
    for (const TrianglePiece& piece : split.pieces) {
      for (uint8_t i = 0; i < piece.cut.count; ++i) {
        if (piece.cut.lines[i] == edge) tets.push_back(piece.tet);
      }
    }
    std::sort(tets.begin(), tets.end());
    return tets;
  }

  // Finds torn triangles: they pass other tets along an edge than their neighbour does.
  void FindTorn() {
    if (faces_.branches.empty()) return;
    for (const Route& route : routes_) {
      if (route.outside) continue;
      bool torn = false;
      for (uint32_t k = 0; k < 3 && !torn; ++k) {
        const uint32_t across = opposite_[3 * route.split.triangle + k];
        if (across == kNoHalfEdge) continue;
        const Route* other = FindRoute(across / 3);
        if (other != nullptr && other->outside) continue;
        const std::vector<uint32_t> mine = TetsAlong(route.split, k);
        torn = other != nullptr ? mine != TetsAlong(other->split, across % 3)
                                : mine != std::vector{walk_.tets[triangles_[across / 3][0]]};
      }
      if (torn) walk_.torn.push_back(route.split.triangle);
    }
  }

  const TetMesh& mesh_;
  const CageFaces& faces_;
  std::span<const Vec3d> points_;
  std::span<const Triangle> triangles_;
  std::span<const uint32_t> opposite_;
  std::vector<Route> routes_;  // of the triangles that are not whole, ascending
  SurfaceWalk walk_;
};

}  // namespace

SurfaceWalk WalkSurface(const TetMesh& mesh, const CageFaces& faces, std::span<const Vec3d> points,
                        std::span<const Triangle> triangles, std::span<const uint32_t> opposite,
                        std::span<const uint32_t> tet_of_point) {
  return Walker(mesh, faces, points, triangles, opposite).Run(tet_of_point);
}

}  // namespace plush::tools
