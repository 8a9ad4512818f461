// SPDX-License-Identifier: MIT
// Pin regions as sets of cage nodes.
#pragma once

#include "bake/asset_writer.h"
#include "bake/pin_rules.h"
#include "base/finding.h"
#include "mesh/surface_mesh.h"
#include "mesh/tet_mesh.h"

#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// A vertex is held by the nodes of its tet with at least this weight: pinning them leaves it less
/// than 3% of its neighbours' motion.
inline constexpr float kPinWeight = 0.01f;

/// The regions of `rules`, in ascending order of name, with nodes as `cage` numbers them. A vertex
/// that matches a rule brings the nodes of its tet whose weight is at least kPinWeight; boxes and
/// spheres also bring the cage nodes in them. `content` holds the embedding already. A region
/// without nodes is left out with the finding PIN_UNMATCHED.
std::vector<RegionContent> MakePinRegions(const std::vector<PinRule>& rules,
                                          const SurfaceMesh& surface, const TetMesh& cage,
                                          const AssetContent& content, FindingList* findings);

/// The nodes of any of the regions, ascending.
std::vector<uint32_t> NodesOfRegions(const std::vector<RegionContent>& regions);

/// Gives the nodes of the regions their new numbers: `node_order` maps new ones to old ones.
void RenumberRegions(std::span<const uint32_t> node_order, std::vector<RegionContent>* regions);

}  // namespace plush::tools
