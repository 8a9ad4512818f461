// SPDX-License-Identifier: MIT
// Tet meshes, and the geometry of one tet: volume, quality of its shape, position of a point.
#pragma once

#include "plush/types.h"

#include "base/vec3.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// A mesh of positively oriented tets: SixVolume(a, b, c, d) > 0 for each.
struct TetMesh {
  std::vector<Vec3d> nodes;                   ///< [m] (num_nodes x 1), each used by a tet
  std::vector<std::array<uint32_t, 4>> tets;  ///< node indices (num_tets x 4)
};

/// Corners of a tet's four faces. Face i is opposite corner i; counter-clockwise seen from outside.
inline constexpr std::array<std::array<size_t, 3>, 4> kTetFaces = {
    {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};

/// Nodes of the face opposite corner `corner` (0..3), counter-clockwise seen from outside.
inline std::array<uint32_t, 3> FaceOf(const std::array<uint32_t, 4>& tet, size_t corner) {
  const auto& [i, j, k] = kTetFaces[corner];
  return {tet[i], tet[j], tet[k]};
}

/// Returns the points that are corners of `elements`, in their order, and renumbers the corners.
template <size_t N>
std::vector<Vec3d> KeepUsedPoints(std::span<const Vec3d> points,
                                  std::vector<std::array<uint32_t, N>>* elements) {
  constexpr uint32_t kUnused = UINT32_MAX;
  std::vector<uint32_t> new_index(points.size(), kUnused);
  for (const auto& element : *elements) {
    for (const uint32_t corner : element) new_index[corner] = 0;
  }
  std::vector<Vec3d> used;
  for (size_t i = 0; i < points.size(); ++i) {
    if (new_index[i] == kUnused) continue;
    new_index[i] = static_cast<uint32_t>(used.size());
    used.push_back(points[i]);
  }
  for (auto& element : *elements) {
    for (uint32_t& corner : element) corner = new_index[corner];
  }
  return used;
}

/// The four corners of a tet [m].
using TetCorners = std::array<Vec3d, 4>;

inline TetCorners CornersOf(const TetMesh& mesh, size_t t) {
  const auto& [a, b, c, d] = mesh.tets[t];
  return {mesh.nodes[a], mesh.nodes[b], mesh.nodes[c], mesh.nodes[d]};
}

inline TetCorners CornersOf(std::span<const Vec3> nodes, const Tet& tet) {
  return {ToDouble(nodes[tet.a]), ToDouble(nodes[tet.b]), ToDouble(nodes[tet.c]),
          ToDouble(nodes[tet.d])};
}

/// Signed volume of a tet [m^3]: negative if it is inverted.
inline double TetVolume(const TetCorners& x) { return SixVolume(x[0], x[1], x[2], x[3]) / 6.0; }

/// Barycentric weights of `point` in a positively oriented tet. All are in [0, 1] if and only if
/// the point is inside. At a corner, the weights of the other corners are exactly 0.
std::array<double, 4> BarycentricWeights(const Vec3d& point, const TetCorners& tet);

/// The point of triangle (a, b, c) nearest to `point`; the triangle may be degenerate.
Vec3d ClosestPointOnTriangle(const Vec3d& point, const Vec3d& a, const Vec3d& b, const Vec3d& c);

/// Squared distance from `point` to a positively oriented tet [m^2]; 0 inside.
double SquaredDistance(const Vec3d& point, const TetCorners& tet);

/// 6 sqrt(2) V / l_rms^3, where V is the tet's signed volume and l_rms the root mean square of its
/// edge lengths. 1 for a regular tet, 0 for a flat one or a point.
double TetQuality(const TetCorners& corners);

/// Smallest and largest dihedral angle of a tet.
struct DihedralRange {
  double min_deg = 180.0;
  double max_deg = 0.0;
};
DihedralRange TetDihedrals(const TetCorners& corners);

}  // namespace plush::tools
