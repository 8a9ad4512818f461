// SPDX-License-Identifier: MIT
// World::Draw as line layers for exports: cages, pins, contacts, bounds, sleep, colliders,
// attachments.
#pragma once

#include "plush/types.h"
#include "plush/world.h"

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plush::tools {

/// The lines of one layer.
struct LineLayer {
  std::string name;  ///< "cage", "pins", "contacts", "bounds", "sleep", "colliders", "attachments"
                     ///< or "intersections"
  std::vector<Vec3> ends;         ///< [m] (2 num_lines x 1)
  std::vector<uint32_t> colours;  ///< sRGB 0xRRGGBB (num_lines x 1)
};

/// Reads "cage,pins": DebugDrawFlags of layers. Errors: kUsage (an unknown layer, with the nearest
/// one as a hint).
Result<uint32_t> ParseDrawLayers(std::string_view text);

/// Names of all layers, separated by commas.
std::string DrawLayerNames();

/// The layers of `flags` that have lines, as the world is now. Points become three crossed lines.
/// The layer "sleep" draws cages in the colours of their state, in place of "cage".
std::vector<LineLayer> DrawLayers(const World& world, uint32_t flags);

/// Linear RGB of an sRGB colour 0xRRGGBB.
Vec3 LinearColour(uint32_t colour);

}  // namespace plush::tools
