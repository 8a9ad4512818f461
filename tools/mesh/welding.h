// SPDX-License-Identifier: MIT
// Joins vertices at the same position, so that seams of UVs and normals do not open the surface.
#pragma once

#include "mesh/surface_mesh.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace plush::tools {

struct Welding {
  std::vector<uint32_t> point_of_vertex;  ///< (num_vertices x 1), values below num_points
  uint32_t num_points = 0;                ///< numbered in the order of first vertices
};

/// Welds vertices at equal positions (+0 equals -0). O(n log n).
Welding WeldByPosition(const SurfaceMesh& mesh);

/// Marks the elements that have the same corners as an earlier one, in any order. O(n log n).
template <size_t N>
std::vector<bool> MarkRepeated(const std::vector<std::array<uint32_t, N>>& elements) {
  std::vector<std::pair<std::array<uint32_t, N>, size_t>> keys;
  keys.reserve(elements.size());
  for (size_t i = 0; i < elements.size(); ++i) {
    keys.emplace_back(elements[i], i);
    std::sort(keys.back().first.begin(), keys.back().first.end());
  }
  std::sort(keys.begin(), keys.end());
  std::vector<bool> repeated(elements.size());
  for (size_t i = 1; i < keys.size(); ++i) {
    repeated[keys[i].second] = keys[i].first == keys[i - 1].first;
  }
  return repeated;
}

/// A surface of different points. Its triangles have three different corners, and no two of them
/// the same corners.
struct WeldedSurface {
  std::vector<Vec3d> points;                       ///< [m] (num_points x 1)
  std::vector<uint32_t> point_of_vertex;           ///< of the SurfaceMesh (num_vertices x 1)
  std::vector<std::array<uint32_t, 3>> triangles;  ///< those with area first, then the flat ones
  std::vector<uint32_t> source_triangle;           ///< of the SurfaceMesh, ascending in both runs
  size_t num_with_area = 0;                        ///< the others have collinear corners
  std::vector<uint32_t> degenerate;  ///< source triangles without area: flat, or two corners equal
  std::vector<uint32_t> duplicates;  ///< source triangles left out, as they repeat an earlier one
};

/// Welds by position and classifies the triangles. O(n log n).
WeldedSurface MakeWeldedSurface(const SurfaceMesh& mesh);

}  // namespace plush::tools
