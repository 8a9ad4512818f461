// SPDX-License-Identifier: MIT
// Finds the cage nodes that each pin rule holds.
#pragma once

#include "bake/asset_writer.h"
#include "bake/pins.h"
#include "base/finding.h"
#include "cage/mass_points.h"
#include "mesh/surface_mesh.h"
#include "mesh/tet_mesh.h"

#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// A vertex that a joint moves pins those nodes of its tet that have at least this weight. The
/// others together have less than 3%.
inline constexpr float kPinWeight = 0.01f;
/// A box or sphere pins the nodes that have more than this share of their mass in it: in one
/// dimension, the share of a node half an edge outside. With half of the mass, clamps would end
/// within the region and sag 1.3 to 4.6 times too far.
inline constexpr double kPinnedMass = 0.125;
/// Any other region pins the nodes that have more than this share of their surface in it.
inline constexpr double kPinnedSurface = 0.3;
/// A region pins at least so many nodes, if it touches as many: fewer hold a body like a hinge.
inline constexpr size_t kFewestPinned = 6;

/// The regions of `rules`, in ascending order of name, with the node numbers of `cage`.
/// - A box or sphere that is at least a median edge of the cage thick (of a box what overlaps the
///   surface's box counts) goes by mass: that of `mass`, or of the whole tets if `mass` has no
///   points. Thinner ones, attributes, colours, materials and nodes of the scene go by surface:
///   values are interpolated over triangles.
/// - A node's share is the integral of its shape function in the region over that everywhere. The
///   nodes above kPinnedMass, up to half a median edge away, or above kPinnedSurface are pinned. If
///   they are fewer than kFewestPinned or all on a line, those with the next shares are, too.
/// - A joint's region has the nodes that carry its vertices (kPinWeight), those at which its weight
///   reaches the threshold. If the rule has a radius, it has the nodes within that distance of the
///   bone (Bone) whose nearest vertex (NearestVertices) is one of them.
///
/// `content` must hold the embedding. A region without nodes is left out with the finding
/// PIN_UNMATCHED, which names the smallest size with which it would hold something.
std::vector<RegionContent> MakePinRegions(const std::vector<PinRule>& rules,
                                          const SurfaceMesh& surface, const TetMesh& cage,
                                          const MassPoints& mass, const AssetContent& content,
                                          FindingList* findings);

/// The nodes of all regions that go last in the elimination order, ascending.
std::vector<uint32_t> LastNodes(const std::vector<RegionContent>& regions);

/// Gives the regions' nodes their new numbers. node_order[new] = old (num_nodes x 1).
void RenumberRegions(std::span<const uint32_t> node_order, std::vector<RegionContent>* regions);

}  // namespace plush::tools
