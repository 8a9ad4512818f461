// SPDX-License-Identifier: MIT
// How thick a body is behind its surface, by rays inwards.
#pragma once

#include "plush/format/cdg_records.h"

#include "base/vec3.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// Edges and tips taper to nothing: a body's thickness leaves out this share of its area.
inline constexpr double kThinShare = 0.01;

/// How thick a body is behind each of its patches, and as a whole.
struct SurfaceThickness {
  std::vector<float> of_patches;  ///< least of their triangles [m], 0: of none (num_patches x 1)
  float of_body = 0.0f;  ///< least of all triangles but for the thinnest kThinShare of the area
                         ///< [m], 0 if all others have none
};

/// Takes triangles in the order of `patches`, which have been laid out. Deterministic for any
/// number of threads.
SurfaceThickness MeasureThickness(std::span<const Vec3d> points,
                                  std::span<const std::array<uint32_t, 3>> triangles,
                                  std::span<const CdgPatch> patches);

/// The thickness behind each triangle [m] (num_triangles x 1): how far a ray runs from the
/// triangle's centroid against its normal until it meets another triangle from behind. 0 if it
/// meets none, or if the triangle has no area. O(n log n), deterministic for any thread count.
std::vector<double> TriangleThickness(std::span<const Vec3d> points,
                                      std::span<const std::array<uint32_t, 3>> triangles);

}  // namespace plush::tools
