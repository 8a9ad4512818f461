// SPDX-License-Identifier: MIT
// Whether a triangle comes near a tetrahedron, by separating axes; and the planes of a tet's faces.
#pragma once

#include "base/vec3.h"
#include "mesh/tet_mesh.h"

#include <algorithm>
#include <array>

namespace plush::tools {

/// The planes of a tet's faces. Face i is the one opposite corner i.
class TetPlanes {
 public:
  /// `tet` must be positively oriented and not flat.
  explicit TetPlanes(const std::array<Vec3d, 4>& tet) {
    for (size_t face = 0; face < 4; ++face) {
      const auto& [a, b, c] = kTetFaces[face];
      const Vec3d normal = Cross(tet[c] - tet[a], tet[b] - tet[a]);
      normals_[face] = normal / Length(normal);
      corners_[face] = tet[a];
    }
  }

  /// Signed distance of a point from the plane of a face; positive on the tet's side [m].
  double Height(size_t face, const Vec3d& point) const {
    return Dot(normals_[face], point - corners_[face]);
  }
  /// Smallest of the four heights of a point; positive inside the tet [m].
  double Depth(const Vec3d& point) const {
    return std::min({Height(0, point), Height(1, point), Height(2, point), Height(3, point)});
  }

 private:
  std::array<Vec3d, 4> normals_;  // unit length, inwards
  std::array<Vec3d, 4> corners_;  // one per face; an offset from the origin would round worse
};

/// Whether a closed triangle comes within `distance` [m] of a closed tet, on the safe side:
/// - False only if an axis separates the two by more than `distance` plus a bound of the rounding
///   error. So a pair that comes within `distance` is never missed.
/// - True also for some pairs that are a little farther apart, past a corner of one of them.
/// The triangle and the tet may be degenerate.
bool TriangleMayTouchTet(const std::array<Vec3d, 3>& triangle, const std::array<Vec3d, 4>& tet,
                         double distance = 0.0);

}  // namespace plush::tools
