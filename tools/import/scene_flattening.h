// SPDX-License-Identifier: MIT
// Flattens a scene of placed meshes into one surface in metres, Y up.
#pragma once

#include "base/result.h"
#include "base/vec3.h"
#include "import/raw_scene.h"
#include "mesh/surface_mesh.h"

#include <array>
#include <cstdint>
#include <vector>

namespace plush::tools {

/// The map x -> rows . x + translation. Node matrices are affine in every format.
struct AffineTransform {
  std::array<Vec3d, 3> rows = {Vec3d{1.0, 0.0, 0.0}, Vec3d{0.0, 1.0, 0.0}, Vec3d{0.0, 0.0, 1.0}};
  Vec3d translation;

  /// From a row-major 4x4 matrix that acts on columns. Ignores the fourth row.
  static AffineTransform FromRowMajor(const std::array<double, 16>& m) {
    return {{Vec3d{m[0], m[1], m[2]}, Vec3d{m[4], m[5], m[6]}, Vec3d{m[8], m[9], m[10]}},
            {m[3], m[7], m[11]}};
  }

  Vec3d Direction(const Vec3d& x) const {
    return {Dot(rows[0], x), Dot(rows[1], x), Dot(rows[2], x)};
  }
  Vec3d Point(const Vec3d& x) const { return Direction(x) + translation; }

  /// Determinant of the linear part; negative if it mirrors.
  double Determinant() const { return Dot(rows[0], Cross(rows[1], rows[2])); }

  /// The transform of normals, up to a positive factor: the matrix of cofactors with the
  /// determinant's sign. Unlike the inverse transpose, it exists for singular matrices too.
  AffineTransform ForNormals() const {
    const double sign = Determinant() < 0.0 ? -1.0 : 1.0;
    return {{sign * Cross(rows[1], rows[2]), sign * Cross(rows[2], rows[0]),
             sign * Cross(rows[0], rows[1])},
            {}};
  }

  /// Applies `b` first, then this.
  AffineTransform After(const AffineTransform& b) const {
    AffineTransform result;
    for (size_t i = 0; i < 3; ++i) {
      result.rows[i] = rows[i].x * b.rows[0] + rows[i].y * b.rows[1] + rows[i].z * b.rows[2];
    }
    result.translation = Point(b.translation);
    return result;
  }

  /// Whether the linear part is a positive multiple of the identity.
  bool KeepsDirections() const {
    const double s = rows[0].x;
    return s > 0.0 && rows[0] == Vec3d{s, 0.0, 0.0} && rows[1] == Vec3d{0.0, s, 0.0} &&
           rows[2] == Vec3d{0.0, 0.0, s};
  }
};

/// Sets each normal with missing[v] to the area-weighted mean of the normals of all triangles at
/// its position, so that seams stay smooth; (0, 1, 0) if that is zero. mesh->normals and `missing`
/// have one entry per vertex. O(n log n).
void FillMissingNormals(const std::vector<bool>& missing, SurfaceMesh* mesh);

/// Limits of a flattened scene, since nodes may place a mesh thousands of times.
inline constexpr uint64_t kMaxSceneVertices = 1ull << 26;
inline constexpr uint64_t kMaxSceneTriangles = 1ull << 26;
/// Limit of attribute channels; further ones are left out.
inline constexpr size_t kMaxAttributes = 64;

/// How source coordinates are mapped to metres, Y up.
struct Placement {
  double scale = 1.0;  ///< metres per unit of the scene's root
  char up = 'Y';       ///< axis of the scene that becomes Y: X, Y or Z
};

/// A flattened scene, and counts of what was left out.
struct FlatScene {
  SurfaceMesh surface;
  uint64_t num_non_finite = 0;    ///< triangles with a corner that is not finite
  uint64_t num_out_of_range = 0;  ///< triangles with an index beyond the vertices
  uint64_t num_unreferenced = 0;  ///< vertices that no kept triangle uses
};

/// Places each mesh at every node that names it, in node order. Errors: kLimit.
/// - Transforms positions by the node's transform, normals by its inverse transpose.
/// - Reverses the winding if the node mirrors.
/// - Keeps the order and the UVs of vertices.
/// - Fills in normals that are missing, not finite or zero (FillMissingNormals).
Result<FlatScene> FlattenScene(const RawScene& scene, const Placement& placement);

}  // namespace plush::tools
