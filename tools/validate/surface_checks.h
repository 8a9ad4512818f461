// SPDX-License-Identifier: MIT
// Checks that the cage carries the render surface to its place, and that it encloses the surface.
#pragma once

#include "plush/asset.h"

#include "base/finding.h"
#include "base/vec3.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace plush::tools {

/// Largest allowed distance between a vertex and its embedded place, in sizes of the model.
inline constexpr double kEmbeddingTolerance = 1.0e-5;

/// Position of render vertex `vertex` from its tet and weights [m]; nullopt if the tet is unsound.
std::optional<Vec3d> EmbeddedPosition(const Asset& asset, size_t vertex);

std::vector<Vec3d> ToDoubles(std::span<const Vec3> points);

/// Extent of a set of points; points that are not finite are left out.
struct Extent {
  double size = 0.0;   ///< diagonal of the bounding box [m]
  double reach = 0.0;  ///< largest coordinate, without sign [m]
};
Extent ExtentOf(std::span<const Vec3d> points);

/// Checks that weights sum to one, that they reproduce the rest positions within
/// kEmbeddingTolerance of the model's size plus the rounding of the coordinates, and that normals
/// have unit length. Adds FILE_EMBEDDING and FILE_RANGE.
void CheckEmbedding(const Asset& asset, FindingList* findings);

/// Whether the settings say that a lattice cage bounds the surface. Tets of other meshers end at
/// the surface.
bool HasLatticeCage(const Asset& asset);

/// Proves from the file alone, with exact predicates:
/// - every render triangle with an area lies strictly inside the cage, in the tets that carry its
///   corners and those across the faces that it crosses (FindEscapes), else FILE_NOT_ENCLOSED;
/// - the cage's boundary is a manifold apart from branches, else CAGE_PINCHED.
/// If tets are flat or inside out, nothing can be proved: FILE_NOT_ENCLOSED names the tets. If an
/// index is wrong, the structure's checks have reported it and nothing is added. Returns the number
/// of triangles proved to be inside.
size_t CheckEnclosure(const Asset& asset, FindingList* findings);

}  // namespace plush::tools
