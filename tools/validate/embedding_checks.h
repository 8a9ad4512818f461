// SPDX-License-Identifier: MIT
// Whether the embedded surface is where the file says, and its normals are normals.
#pragma once

#include "plush/asset.h"

#include "base/finding.h"
#include "base/vec3.h"

#include <cstdint>
#include <optional>

namespace plush::tools {

/// Largest allowed distance between a vertex and its embedded place, in sizes of the model.
inline constexpr double kEmbeddingTolerance = 1.0e-5;

/// Place of render vertex `vertex` by its tet and weights [m]; nothing where those are unsound.
std::optional<Vec3d> EmbeddedPosition(const Asset& asset, size_t vertex);

/// Diagonal of the bounding box of the render surface's finite positions [m].
double VisualSize(const VisualView& visual);

/// Checks that weights sum to one and reproduce the rest positions within kEmbeddingTolerance of
/// the size (and the rounding of the coordinates), and that normals have unit length. Adds
/// FILE_EMBEDDING and FILE_RANGE.
void CheckEmbedding(const Asset& asset, FindingList* findings);

}  // namespace plush::tools
