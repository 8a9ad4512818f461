// SPDX-License-Identifier: MIT
// Moves a node if its boundary faces stay clear of the surface, the solid and the other faces.
// The faces' sweeps are tested against the surface, their new places against the boundary.
#include "fit/node_moves.h"

#include "fit/tet_quality.h"
#include "lattice/tet_neighbourhood.h"
#include "mesh/self_intersection.h"

#include <algorithm>
#include <utility>

namespace plush::tools {
namespace {

// Longest move in a pass, in cells.
constexpr double kMaxStep = 0.4;

// Least guard [degrees]: a tet with an angle of zero is flat or inverted.
constexpr double kLeastGuard = 0.01;

// Largest angle inside the cage at an edge [degrees]. Beyond it, the crease outside nearly closes.
constexpr double kMaxEdgeAngle = 345.0;

// The face's nodes, rotated so that `node` comes first.
std::array<uint32_t, 3> StartingAt(const std::array<uint32_t, 3>& face, uint32_t node) {
  size_t i = 0;
  while (face[i] != node) ++i;
  return {face[i], face[(i + 1) % 3], face[(i + 2) % 3]};
}

}  // namespace

NodeMoves::NodeMoves(const SolidSurface& surface, const TriangleBvh& bvh, const InsideTest& inside,
                     const FitSettings& settings, SplitCage* cage)
    : cage_(*cage),
      cell_(settings.cell_m),
      max_step_(kMaxStep * settings.cell_m),
      faces_(FindCageFaces(cage->mesh)),
      clearance_(surface, bvh, *cage, faces_, settings.clearance_m),
      inside_(surface.closed ? nullptr : &inside),
      tets_of_node_(num_nodes()),
      faces_of_node_(num_nodes()),
      frozen_(num_nodes(), false),
      stopped_by_(num_nodes(), kNoFace),
      last_hits_(faces_.boundary.size(), SurfaceClearance::kNoTriangle) {
  for (uint32_t f = 0; f < faces_.boundary.size(); ++f) {
    for (const uint32_t node : faces_.boundary[f].nodes) faces_of_node_[node].push_back(f);
  }
  for (uint32_t node = 0; node < num_nodes(); ++node) {
    const auto& ids = settings.frozen;
    frozen_[node] = std::find(ids.begin(), ids.end(), cage_.node_ids[node]) != ids.end();
  }
  const double guard = std::max(settings.min_dihedral_deg, kLeastGuard);
  for (uint32_t t = 0; t < cage_.mesh.tets.size(); ++t) {
    for (const uint32_t node : cage_.mesh.tets[t]) tets_of_node_[node].push_back(t);
    least_angles_.push_back(std::min(guard, SmallestDihedral(CornersOf(cage_.mesh, t))));
  }
}

std::array<Vec3d, 4> NodeMoves::CornersWith(uint32_t t, uint32_t node, const Vec3d& at) const {
  std::array<Vec3d, 4> corners = CornersOf(cage_.mesh, t);
  const auto& tet = cage_.mesh.tets[t];
  for (size_t i = 0; i < 4; ++i) {
    if (tet[i] == node) corners[i] = at;
  }
  return corners;
}

Vec3d NodeMoves::InwardNormal(uint32_t node) const {
  Vec3d sum;
  const auto& x = cage_.mesh.nodes;
  for (const uint32_t f : faces_of_node_[node]) {
    const auto& [a, b, c] = faces_.boundary[f].nodes;
    sum -= Cross(x[b] - x[a], x[c] - x[a]);
  }
  return sum;
}

void NodeMoves::BeginPass() { boundary_.emplace(cage_.mesh.nodes, faces_.BoundaryNodes()); }

bool NodeMoves::Move(uint32_t node, const Vec3d& to, Vec3d* blocked) {
  *blocked = {};
  if (frozen_[node]) return false;
  Vec3d& at = cage_.mesh.nodes[node];
  const Vec3d from = at;
  // The face that stopped the node last time is the likeliest to stop it again: test it first.
  uint32_t& stopped_by = stopped_by_[node];
  if (stopped_by != kNoFace && !IsFree(stopped_by, node, to, blocked)) return false;
  bool outwards = false;
  for (const uint32_t f : faces_of_node_[node]) {
    const auto [first, second, third] = StartingAt(faces_.boundary[f].nodes, node);
    outwards =
        outwards || SixVolume(from, cage_.mesh.nodes[second], cage_.mesh.nodes[third], to) > 0.0;
    if (f == stopped_by || IsFree(f, node, to, blocked)) continue;
    stopped_by = f;
    return false;
  }
  if (inside_ != nullptr && EntersSolid(node, to)) return false;
  at = to;
  // Faces that all move inwards stay within the old cage, where they cannot meet other faces.
  if (outwards && RunsIntoBoundary(node)) {
    at = from;
    return false;
  }
  return true;
}

// Whether boundary face `f` can follow `node` to `to`; if not, sets *blocked to its vector area.
bool NodeMoves::IsFree(uint32_t f, uint32_t node, const Vec3d& to, Vec3d* blocked) {
  const auto [first, second, third] = StartingAt(faces_.boundary[f].nodes, node);
  const Vec3d& from = cage_.mesh.nodes[first];
  const Vec3d& a = cage_.mesh.nodes[second];
  const Vec3d& b = cage_.mesh.nodes[third];
  clearance_.LookAround(faces_.boundary[f].tet);
  if (clearance_.IsFree(from, to, a, b, &last_hits_[f])) return true;
  *blocked = Cross(a - from, b - from) * 0.5;
  return false;
}

// Whether the move takes the node, or the middle of one face at it, from outside into the solid.
// Nothing else stops it in a hole of the surface. Winding numbers are expensive, so only the face
// that sweeps the largest volume inwards is tested; the others are when their other nodes move.
bool NodeMoves::EntersSolid(uint32_t node, const Vec3d& to) const {
  const Vec3d& from = cage_.mesh.nodes[node];
  const auto enters = [this](const Vec3d& before, const Vec3d& after) {
    return inside_->IsInside(after) && !inside_->IsInside(before);
  };
  if (faces_of_node_[node].empty()) return false;
  double most = 0.0;
  Vec3d others;
  for (const uint32_t f : faces_of_node_[node]) {
    const auto [first, a, b] = StartingAt(faces_.boundary[f].nodes, node);
    const double swept = -SixVolume(from, cage_.mesh.nodes[a], cage_.mesh.nodes[b], to);
    if (!(swept > most)) continue;
    most = swept;
    others = cage_.mesh.nodes[a] + cage_.mesh.nodes[b];
  }
  return enters(from, to) || (most > 0.0 && enters((from + others) / 3.0, (to + others) / 3.0));
}

// Whether the dihedral angles of the tets around edge (node, other) sum to nearly a full turn.
bool NodeMoves::FoldsAt(uint32_t node, uint32_t other) const {
  double sum = 0.0;
  for (const uint32_t t : TetsOf(node)) {
    const auto& tet = cage_.mesh.tets[t];
    const auto i = static_cast<size_t>(std::find(tet.begin(), tet.end(), node) - tet.begin());
    const auto j = static_cast<size_t>(std::find(tet.begin(), tet.end(), other) - tet.begin());
    if (j == 4) continue;
    sum += DihedralAt(CornersOf(cage_.mesh, t), i, j);
  }
  return sum > kMaxEdgeAngle;
}

bool NodeMoves::RunsIntoBoundary(uint32_t node) {
  for (const uint32_t f : faces_of_node_[node]) {
    const auto [first, a, b] = StartingAt(faces_.boundary[f].nodes, node);
    if (FoldsAt(first, a) || FoldsAt(first, b) || FoldsAt(a, b)) return true;
    Box3 box;
    for (const uint32_t n : faces_.boundary[f].nodes) box.Add(cage_.mesh.nodes[n]);
    // Nodes of other faces may have moved since the pass began.
    box.low -= Vec3d{1.0, 1.0, 1.0} * max_step_;
    box.high += Vec3d{1.0, 1.0, 1.0} * max_step_;
    const uint32_t tet = faces_.boundary[f].tet;
    clearance_.LookAround(tet);
    const TriangleBvh::FloatBox reach = TriangleBvh::RoundOutwards(box);
    const bool hit = boundary_->AnyOf(
        [&](const TriangleBvh::FloatBox& other) { return reach.Overlaps(other); },
        [&](uint32_t g) {
          const uint32_t other = faces_.boundary[g].tet;
          return g != f && !MayOverlap(cage_, tet, other, clearance_.IsNear(other), cell_) &&
                 MeetBeyondShared(cage_.mesh.nodes, faces_.boundary[f].nodes,
                                  faces_.boundary[g].nodes);
        });
    if (hit) return true;
  }
  return false;
}

}  // namespace plush::tools
