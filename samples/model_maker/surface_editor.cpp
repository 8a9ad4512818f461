// SPDX-License-Identifier: MIT
// Splits, collapses, flips and moves on a closed triangle mesh. All but splits check first that the
// mesh stays a manifold (link condition) and that no triangle turns over.

#include "surface_editor.h"

#include <algorithm>

namespace plush::samples {
namespace {

// A triangle counts as turned over if its normal turns by more than the arc cosine of this.
constexpr double kUprightCosine = 0.45;
constexpr uint32_t kNone = UINT32_MAX;

bool Contains(const std::array<uint32_t, 3>& triangle, uint32_t vertex) {
  return triangle[0] == vertex || triangle[1] == vertex || triangle[2] == vertex;
}

uint32_t Third(const std::array<uint32_t, 3>& triangle, uint32_t a, uint32_t b) {
  for (const uint32_t vertex : triangle) {
    if (vertex != a && vertex != b) return vertex;
  }
  return kNone;
}

/// Whether two area normals point the same way and neither is zero.
bool SameSide(const Vec3d& before, const Vec3d& after) {
  const double lengths = Length(before) * Length(after);
  return lengths > 0.0 && Dot(before, after) > kUprightCosine * lengths;
}

}  // namespace

SurfaceEditor::SurfaceEditor(const TriangleMesh& mesh)
    : positions_(mesh.positions), triangles_(mesh.triangles), around_(mesh.positions.size()) {
  for (uint32_t t = 0; t < triangles_.size(); ++t) {
    for (const uint32_t vertex : triangles_[t]) around_[vertex].push_back(t);
  }
}

std::vector<Edge> SurfaceEditor::Edges() const {
  std::vector<Edge> edges;
  for (uint32_t vertex = 0; vertex < around_.size(); ++vertex) {
    for (const uint32_t neighbour : Neighbours(vertex)) {
      if (neighbour > vertex) edges.emplace_back(vertex, neighbour);
    }
  }
  return edges;
}

std::vector<uint32_t> SurfaceEditor::Neighbours(uint32_t vertex) const {
  std::vector<uint32_t> neighbours;
  for (const uint32_t t : around_[vertex]) {
    for (int k = 0; k < 3; ++k) {
      if (triangles_[t][k] == vertex) neighbours.push_back(triangles_[t][(k + 1) % 3]);
    }
  }
  std::sort(neighbours.begin(), neighbours.end());
  return neighbours;
}

bool SurfaceEditor::HasEdge(uint32_t a, uint32_t b) const { return TriangleOf(a, b) != kNone; }

std::array<uint32_t, 2> SurfaceEditor::Opposite(uint32_t a, uint32_t b) const {
  return {Third(triangles_[TriangleOf(a, b)], a, b), Third(triangles_[TriangleOf(b, a)], a, b)};
}

uint32_t SurfaceEditor::Split(uint32_t a, uint32_t b, const Vec3d& p) {
  const uint32_t middle = static_cast<uint32_t>(positions_.size());
  positions_.push_back(p);
  around_.emplace_back();
  for (const uint32_t old : {TriangleOf(a, b), TriangleOf(b, a)}) {
    // `old` keeps a; the new triangle gets b.
    const uint32_t fresh = static_cast<uint32_t>(triangles_.size());
    triangles_.push_back(triangles_[old]);
    const uint32_t opposite = Third(triangles_[old], a, b);
    Detach(b, old);
    for (uint32_t& vertex : triangles_[old]) vertex = vertex == b ? middle : vertex;
    for (uint32_t& vertex : triangles_[fresh]) vertex = vertex == a ? middle : vertex;
    around_[b].push_back(fresh);
    around_[opposite].push_back(fresh);
    around_[middle].push_back(old);
    around_[middle].push_back(fresh);
  }
  return middle;
}

bool SurfaceEditor::Collapse(uint32_t kept, uint32_t gone, const Vec3d& p) {
  const std::vector<uint32_t> of_kept = Neighbours(kept);
  const std::vector<uint32_t> of_gone = Neighbours(gone);
  std::vector<uint32_t> common;
  std::set_intersection(of_kept.begin(), of_kept.end(), of_gone.begin(), of_gone.end(),
                        std::back_inserter(common));
  if (common.size() != 2) return false;
  for (const uint32_t vertex : common) {
    if (around_[vertex].size() <= 4) return false;  // three triangles or fewer would be left
  }
  if (!StaysUpright(kept, gone, p) || !StaysUpright(gone, kept, p)) return false;
  const std::vector<uint32_t> moving = around_[gone];
  for (const uint32_t t : moving) {
    if (Contains(triangles_[t], kept)) {
      for (const uint32_t vertex : triangles_[t]) Detach(vertex, t);
    } else {
      Replace(t, gone, kept);
    }
  }
  positions_[kept] = p;
  return true;
}

bool SurfaceEditor::Flip(uint32_t a, uint32_t b) {
  const uint32_t left = TriangleOf(a, b);
  const uint32_t right = TriangleOf(b, a);
  const auto [c, d] = Opposite(a, b);
  if (HasEdge(c, d) || around_[a].size() <= 4 || around_[b].size() <= 4) return false;
  const Vec3d before = AreaNormal(left) + AreaNormal(right);
  const Vec3d &pa = positions_[a], &pb = positions_[b], &pc = positions_[c], &pd = positions_[d];
  if (!SameSide(before, Cross(pd - pa, pc - pa)) || !SameSide(before, Cross(pc - pb, pd - pb))) {
    return false;
  }
  Replace(left, b, d);   // a, d, c
  Replace(right, a, c);  // b, c, d
  return true;
}

bool SurfaceEditor::Move(uint32_t vertex, const Vec3d& p) {
  if (!StaysUpright(vertex, kNone, p)) return false;
  positions_[vertex] = p;
  return true;
}

Vec3d SurfaceEditor::AreaNormal(uint32_t triangle) const {
  return AreaNormalWith(triangle, kNone, {});
}

TriangleMesh SurfaceEditor::Extract(std::vector<uint32_t>* out_triangle_of) const {
  TriangleMesh mesh;
  std::vector<uint32_t> new_index(positions_.size(), kNone);
  for (uint32_t vertex = 0; vertex < positions_.size(); ++vertex) {
    if (!IsAlive(vertex)) continue;
    new_index[vertex] = static_cast<uint32_t>(mesh.positions.size());
    mesh.positions.push_back(positions_[vertex]);
  }
  for (uint32_t t = 0; t < triangles_.size(); ++t) {
    const auto& [a, b, c] = triangles_[t];
    if (std::find(around_[a].begin(), around_[a].end(), t) == around_[a].end()) continue;
    mesh.triangles.push_back({new_index[a], new_index[b], new_index[c]});
    if (out_triangle_of != nullptr) out_triangle_of->push_back(t);
  }
  return mesh;
}

Vec3d SurfaceEditor::AreaNormalWith(uint32_t triangle, uint32_t vertex, const Vec3d& p) const {
  Vec3d corner[3];
  for (int k = 0; k < 3; ++k) {
    const uint32_t index = triangles_[triangle][k];
    corner[k] = index == vertex ? p : positions_[index];
  }
  return Cross(corner[1] - corner[0], corner[2] - corner[0]);
}

/// Whether the triangles of `vertex` that lack `other` keep their orientation with `vertex` at `p`.
bool SurfaceEditor::StaysUpright(uint32_t vertex, uint32_t other, const Vec3d& p) const {
  for (const uint32_t t : around_[vertex]) {
    if (other != kNone && Contains(triangles_[t], other)) continue;
    if (!SameSide(AreaNormal(t), AreaNormalWith(t, vertex, p))) return false;
  }
  return true;
}

uint32_t SurfaceEditor::TriangleOf(uint32_t a, uint32_t b) const {
  for (const uint32_t t : around_[a]) {
    for (int k = 0; k < 3; ++k) {
      if (triangles_[t][k] == a && triangles_[t][(k + 1) % 3] == b) return t;
    }
  }
  return kNone;
}

void SurfaceEditor::Replace(uint32_t triangle, uint32_t old_vertex, uint32_t new_vertex) {
  Detach(old_vertex, triangle);
  for (uint32_t& vertex : triangles_[triangle]) vertex = vertex == old_vertex ? new_vertex : vertex;
  around_[new_vertex].push_back(triangle);
}

void SurfaceEditor::Detach(uint32_t vertex, uint32_t triangle) {
  std::erase(around_[vertex], triangle);
}

}  // namespace plush::samples
