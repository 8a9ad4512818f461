// SPDX-License-Identifier: MIT
// Whether the cage carries the render surface where the file says, and encloses it.
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

/// Place of render vertex `vertex` by its tet and weights [m]; nothing where those are unsound.
std::optional<Vec3d> EmbeddedPosition(const Asset& asset, size_t vertex);

/// Points in double precision.
std::vector<Vec3d> ToDoubles(std::span<const Vec3> points);

/// Extent of the finite ones of some points.
struct Extent {
  double size = 0.0;   ///< diagonal of their bounding box [m]
  double reach = 0.0;  ///< largest coordinate, without sign [m]
};
Extent ExtentOf(std::span<const Vec3d> points);

/// Checks that weights sum to one and reproduce the rest positions within kEmbeddingTolerance of
/// the size (and the rounding of the coordinates), and that normals have unit length. Adds
/// FILE_EMBEDDING and FILE_RANGE.
void CheckEmbedding(const Asset& asset, FindingList* findings);

/// Whether the settings say that the cage is a bounding lattice cage. Tets of other meshers end at
/// the surface.
bool HasLatticeCage(const Asset& asset);

/// Proves from the file alone, exactly, that every render triangle with an area lies strictly
/// inside the cage, in the tets that carry its corners and those across the faces that it crosses
/// (FindEscapes), and that the cage's boundary is a manifold apart from branches. Adds
/// FILE_NOT_ENCLOSED with the triangles (or with the tets that are flat or inside out, for then
/// nothing can be proved) and CAGE_PINCHED with the nodes. Tets or vertices with wrong indices are
/// findings of the structure: then nothing is proved. Returns the number of triangles proved to be
/// inside.
size_t CheckEnclosure(const Asset& asset, FindingList* findings);

}  // namespace plush::tools
