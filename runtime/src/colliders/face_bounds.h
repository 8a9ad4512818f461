// SPDX-License-Identifier: MIT
// Which vertices of a tet are clear of the faces near it, many at once.
//
// A body that lands has thousands of vertices near a mesh, and few of them touch. Planes through a
// face's sides bound its distance from a vertex from below, and give it where the vertex is right
// above the face. That is enough for most vertices in front of a mesh with one side.
#pragma once

#include "colliders/collider_mesh.h"

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
  float* of_sides;   ///< least of max(gap, distance / 2) of all faces, or less [m]
  float* of_fronts;  ///< of faces that they are right above: the squared distance [m^2]
  float* gaps;       ///< least gap from a face that the way may cross [m]; infinite: from none
  float* crossings;  ///< -1 if the way crosses a face for sure
  // Of the whole ways.
  float* of_ways;  ///< distance from any face, or less; 0 or below: a way may cross one [m]
};

/// What follows from bounds, of a tet's vertices (num_vertices x 1 each) [m].
struct VertexClearances {
  /// How far a way's end may move before the vertex meets a face, if it starts near that end, too:
  /// at most `reach`, or a number below 0 if bounds do not show it. If they do, the way crosses no
  /// face, and the face nearest to the end, no farther away than `reach`, has it in front; or the
  /// way is above the plane.
  std::span<const float> of_ends;
  /// How far both ends of a way may move before it meets a face: no more than `of_ends`.
  std::span<const float> of_ways;
  /// If a way crosses a face for sure, no more than its end's gap from the first one. Infinite for
  /// vertices with a clearance, minus infinity for others.
  std::span<const float> gaps;
};

/// Bounds for vertices of a tet.
class VertexBounds {
 public:
  static constexpr size_t kMost = 256;

  VertexBounds(const VertexBounds&) = delete;
  VertexBounds& operator=(const VertexBounds&) = delete;
  /// `vertices`: their weights (at most kMost). `depth`: ends of ways that are less deep behind a
  /// face do not cross it [m]. `reach`: most clearance [m]. `rounding`: of distances [m].
  VertexBounds(const NodeWays& ways, std::span<const Vec4> vertices, float depth, float reach,
               float rounding);

  /// Adds faces. The first ones start the bounds.
  void Add(std::span<const FacePlanes> faces, bool are_first);

  /// Valid until the next call of Add.
  VertexClearances FindClearances(const PlaneAbove& plane);

 private:
  NodeWays ways_;
  std::span<const Vec4> vertices_;
  float depth_, reach_, rounding_;
  float longest_ = 0.0f;    // way of a node [m]
  bool are_short_ = false;  // whether ways are so short that their ends' distances bound theirs
  alignas(64) float numbers_[6][kMost];
  BoundArrays arrays_ = {numbers_[0], numbers_[1], numbers_[2],
                         numbers_[3], numbers_[4], numbers_[5]};
};

}  // namespace plush
