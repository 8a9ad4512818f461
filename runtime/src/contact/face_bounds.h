// SPDX-License-Identifier: MIT
// Which vertices of a tet are clear of the faces near it, many at once.
//
// A body that lands has thousands of vertices near a mesh, and few of them touch. Planes through a
// face's sides bound its distance from a vertex from below, and give it where the vertex is right
// above the face. That is enough for most vertices in front of a mesh with one side.
#pragma once

#include "contact/collider_mesh.h"

#include <cstddef>
#include <span>

namespace plush {

/// The front of a face by planes. Distances are dot(normal, x) - offset [m].
struct FacePlanes {
  FacePlanes() = default;
  /// Of a face whose normal is not zero.
  explicit FacePlanes(const MeshFace& face);

  Vec3 normal;  ///< unit, out of the mesh
  float offset = 0.0f;
  Vec3 sides[3];  ///< unit, along the face and out of it
  float side_offsets[3] = {};
  bool is_exact = true;  ///< whether all sides have a length
};

/// The ways of a tet's nodes in a mesh's coordinates.
struct NodeWays {
  Vec3 from[4], to[4];
};

/// A plane that all faces are below, or a normal of zero.
struct PlaneAbove {
  Vec3 normal;
  float offset = 0.0f;  ///< dot(normal, x) on the plane [m]
};

/// Numbers of a tet's vertices (num_vertices x 1, and room up to a full vector).
struct BoundArrays {
  // Of the ways' ends.
  float* of_all;     ///< least squared distance from a face, or less [m^2]
  float* of_backs;   ///< the same of faces that they may be behind
  float* of_fronts;  ///< of faces that they are right above: the squared distance
  float* gaps;       ///< least gap from a face that the way may cross [m]; infinite: from none
  float* crossings;  ///< -1 if the way crosses a face for sure
};

/// Bounds for vertices of a tet.
class VertexBounds {
 public:
  static constexpr size_t kMost = 256;

  /// `vertices`: their weights (at most kMost). `depth`: ends of ways that are less deep behind a
  /// face do not cross it [m]. `rounding`: of distances [m].
  VertexBounds(const VertexBounds&) = delete;
  VertexBounds& operator=(const VertexBounds&) = delete;
  VertexBounds(const NodeWays& ways, std::span<const Vec4> vertices, float depth, float rounding)
      : ways_(ways), vertices_(vertices), depth_(depth), rounding_(rounding) {}

  /// Adds faces. The first ones start the bounds.
  void Add(std::span<const FacePlanes> faces, bool are_first);

  /// Of each vertex: how far it may move at least from its way's end before it meets a face, at
  /// most `reach` [m]; or a number below 0 if that does not follow from bounds. If it does, its way
  /// crosses no face, and the face nearest to the end, no farther away than `reach`, has it in
  /// front; or it is above the plane. Valid until the next call of Add.
  std::span<const float> FindClearances(const PlaneAbove& plane, float reach);
  /// After FindClearances: if the way crosses a face for sure, no more than its end's gap from the
  /// first one [m]. Infinite for vertices with a clearance, minus infinity for others.
  std::span<const float> gaps() const { return {arrays_.gaps, vertices_.size()}; }

 private:
  NodeWays ways_;
  std::span<const Vec4> vertices_;
  float depth_, rounding_;
  alignas(64) float numbers_[5][kMost];
  BoundArrays arrays_ = {numbers_[0], numbers_[1], numbers_[2], numbers_[3], numbers_[4]};
};

}  // namespace plush
