// SPDX-License-Identifier: MIT
// Whether a triangle touches a tetrahedron, by separating axes.
//
// The four planes of a tet, for quick answers about points.
#pragma once

#include "base/vec3.h"
#include "mesh/tet_mesh.h"

#include <algorithm>
#include <array>

namespace plush::tools {

/// Unit normals, inwards, and offsets of the faces opposite each corner.
class TetPlanes {
 public:
  /// The tet is positively oriented and not flat.
  explicit TetPlanes(const std::array<Vec3d, 4>& tet) {
    for (size_t face = 0; face < 4; ++face) {
      const auto& [a, b, c] = kTetFaces[face];
      const Vec3d normal = Cross(tet[c] - tet[a], tet[b] - tet[a]);
      normals_[face] = normal / Length(normal);
      corners_[face] = tet[a];
    }
  }

  /// Distance of a point from the plane of a face, positive on the tet's side [m].
  double Height(size_t face, const Vec3d& point) const {
    return Dot(normals_[face], point - corners_[face]);
  }
  /// Least height of a point over the four faces: positive inside [m].
  double Depth(const Vec3d& point) const {
    return std::min({Height(0, point), Height(1, point), Height(2, point), Height(3, point)});
  }

 private:
  std::array<Vec3d, 4> normals_;
  std::array<Vec3d, 4> corners_;  // one of each face, so that heights are exact to rounding
};

/// False only where an axis separates the closed triangle from the closed tet by more than
/// `distance` [m] and what rounding can explain: what comes as near as that is never missed, and
/// what stays a little farther away, past a corner, may count as near. Either may be degenerate.
bool TriangleMayTouchTet(const std::array<Vec3d, 3>& triangle, const std::array<Vec3d, 4>& tet,
                         double distance = 0.0);

}  // namespace plush::tools
