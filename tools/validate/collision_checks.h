// SPDX-License-Identifier: MIT
// Checks the meaning of the collision surface [Civ 5.4]. Every check needs a file whose collision
// sections and tets have passed Asset::Open's checks, and adds FILE_COLLISION.
#pragma once

#include "plush/asset.h"
#include "plush/format/cdg_records.h"
#include "plush/format/tet_block.h"

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

/// The collision surface with its triangles unpacked. The asset's bytes must outlive it.
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

/// Rest position of a vertex of `patch`, from its weights [m].
Vec3d RestPlace(const Asset& asset, const CdgPatch& patch, uint32_t vertex);

/// Checks the topology:
/// - the vertices of a triangle are distinct and belong to its patch; every vertex is used;
/// - neighbours name each other across an edge whose ends have the same weights for the same nodes;
/// - every patch is connected and a disc (Euler characteristic 1);
/// - the links of a patch are the patches across its borders, seams marked.
void CheckCollisionTopology(const UnpackedCollision& collision, FindingList* findings);

/// Checks the bounds:
/// - every tet record names a different tet and has its nodes;
/// - weights sum to one;
/// - a tet's bounds are exactly those of its vertices, a triangle's the smallest quantised ones of
///   its sub-tree.
void CheckCollisionBounds(const Asset& asset, const UnpackedCollision& collision,
                          FindingList* findings);

/// Checks centroid, area and vector area of every patch, in double precision.
void CheckPatchSums(const Asset& asset, const UnpackedCollision& collision, FindingList* findings);

/// Checks the thickness of every patch and of the body: the rays of MeasureThickness give it.
void CheckThickness(const Asset& asset, const UnpackedCollision& collision, FindingList* findings);

/// Compares with the render surface: every triangle lies in the render triangle that it names, and
/// the triangles that name one cover it. Points may be off by kReachOfMerging kShortestCutEdge
/// times the model's size. A render triangle that nothing names must be flat or coincide with
/// another one.
///
/// If the settings say that the surface was simplified, checks instead that the vertices of either
/// surface are within the distance in the settings of the other one, and that each triangle names
/// the render triangle nearest to its middle.
///
/// Skips files without source triangles, and cages that do not bound the surface (HasLatticeCage).
void CheckCollisionSources(const Asset& asset, const UnpackedCollision& collision,
                           FindingList* findings);

}  // namespace plush::tools
