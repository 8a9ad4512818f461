// SPDX-License-Identifier: MIT
// Local changes of a closed triangle mesh that keep it closed and manifold.
#pragma once

#include "marching_tets.h"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace plush::samples {

/// Two vertices, the smaller index first.
using Edge = std::pair<uint32_t, uint32_t>;

/// A mesh that is being changed. Vertices and triangles keep their index until Extract; dead ones
/// remain as gaps. After every call the mesh is a closed, consistently oriented manifold of the
/// same genus.
class SurfaceEditor {
 public:
  /// `mesh` must be closed, manifold and consistently oriented.
  explicit SurfaceEditor(const TriangleMesh& mesh);

  size_t num_vertices() const { return positions_.size(); }   ///< including dead ones
  size_t num_triangles() const { return triangles_.size(); }  ///< including dead ones
  bool IsAlive(uint32_t vertex) const { return !around_[vertex].empty(); }
  const Vec3d& position(uint32_t vertex) const { return positions_[vertex]; }
  void set_position(uint32_t vertex, const Vec3d& p) { positions_[vertex] = p; }
  const std::vector<uint32_t>& TrianglesAround(uint32_t vertex) const { return around_[vertex]; }
  const std::array<uint32_t, 3>& triangle(uint32_t index) const { return triangles_[index]; }

  /// All edges in ascending order.
  std::vector<Edge> Edges() const;

  /// Neighbours of `vertex` in ascending order.
  std::vector<uint32_t> Neighbours(uint32_t vertex) const;

  /// Whether `a` and `b` are joined by an edge.
  bool HasEdge(uint32_t a, uint32_t b) const;

  /// The triangles to the left and to the right of a->b, seen from outside; (a, b) must be an edge.
  std::array<uint32_t, 2> TrianglesAt(uint32_t a, uint32_t b) const {
    return {TriangleOf(a, b), TriangleOf(b, a)};
  }

  /// The two vertices opposite to edge (a, b): left of a->b seen from outside, then right.
  std::array<uint32_t, 2> Opposite(uint32_t a, uint32_t b) const;

  /// Puts a new vertex at `p` on edge (a, b) and returns it.
  uint32_t Split(uint32_t a, uint32_t b, const Vec3d& p);

  /// Merges `gone` into `kept`, which moves to `p`. Returns false, with nothing changed, if that
  /// would break the manifold (link condition) or turn a triangle over.
  bool Collapse(uint32_t kept, uint32_t gone, const Vec3d& p);

  /// Replaces edge (a, b) by the edge between its opposite vertices. Returns false, with nothing
  /// changed, if that would break the manifold or turn a triangle over.
  bool Flip(uint32_t a, uint32_t b);

  /// Moves `vertex` to `p` unless that would turn a triangle over. Returns whether it moved.
  bool Move(uint32_t vertex, const Vec3d& p);

  /// Twice the area of a triangle times its unit normal.
  Vec3d AreaNormal(uint32_t triangle) const;

  /// Live vertices and triangles, renumbered. `out_triangle_of`, if not null, gets the old index of
  /// every new triangle.
  TriangleMesh Extract(std::vector<uint32_t>* out_triangle_of) const;

 private:
  Vec3d AreaNormalWith(uint32_t triangle, uint32_t vertex, const Vec3d& p) const;
  bool StaysUpright(uint32_t vertex, uint32_t other, const Vec3d& p) const;
  /// Triangle with the directed edge a->b.
  uint32_t TriangleOf(uint32_t a, uint32_t b) const;
  void Replace(uint32_t triangle, uint32_t old_vertex, uint32_t new_vertex);
  void Detach(uint32_t vertex, uint32_t triangle);

  std::vector<Vec3d> positions_;
  std::vector<std::array<uint32_t, 3>> triangles_;
  std::vector<std::vector<uint32_t>> around_;  // triangles of each vertex; empty: dead
};

}  // namespace plush::samples
