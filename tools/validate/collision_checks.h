// SPDX-License-Identifier: MIT
// Whether the collision surface is what its records say. All of these need a file whose collision
// sections and tets have passed Asset::Open's checks, and add FILE_COLLISION.
#pragma once

#include "plush/asset.h"

#include "base/finding.h"
#include "base/vec3.h"

#include <cstdint>
#include <vector>

namespace plush::tools {

/// Elements [begin, end).
struct Run {
  uint32_t begin = 0;
  uint32_t end = 0;
};

/// Triangles unpacked, runs of patches looked up. Needs a file whose collision sections have passed
/// Asset::Open's checks, which must outlive it.
struct UnpackedCollision {
  CollisionView view;
  std::vector<CdgTriangleFields> triangles;  ///< (num_triangles x 1)
  std::vector<uint32_t> patch_of_triangle;   ///< (num_triangles x 1)

  explicit UnpackedCollision(const CollisionView& collision);

  Run Patches(uint32_t tet) const;
  Run Triangles(uint32_t patch) const;
  Run Vertices(uint32_t patch) const;
  Run Links(uint32_t patch) const;
};

/// Place of a vertex of `patch` at rest, by its weights [m].
Vec3d RestPlace(const Asset& asset, const CdgPatch& patch, uint32_t vertex);

/// Topology: vertices of a triangle are distinct and its patch's, every vertex is used; neighbours
/// name each other across an edge whose ends have the same weights for the same nodes; every patch
/// is connected and a disc (Euler characteristic 1); links are the patches across its borders, with
/// the seams marked.
void CheckCollisionTopology(const UnpackedCollision& collision, FindingList* findings);

/// Bounds: tets have the nodes of the tets they name, each once; weights sum to one; the bounds of
/// a tet are those of its vertices, those of a triangle record the smallest quantised ones of its
/// sub-tree.
void CheckCollisionBounds(const Asset& asset, const UnpackedCollision& collision,
                          FindingList* findings);

/// Sums: centroid, area and vector area of every patch, in double precision.
void CheckPatchSums(const Asset& asset, const UnpackedCollision& collision, FindingList* findings);

/// The render surface: every triangle lies in the render triangle that it names, and the triangles
/// that name it cover it, within kShortestCutEdge; render triangles that nothing names are flat, or
/// coincide with another one. Only for cages that bound the surface (HasLatticeCage) and files with
/// the map.
void CheckCollisionSources(const Asset& asset, const UnpackedCollision& collision,
                           FindingList* findings);

}  // namespace plush::tools
