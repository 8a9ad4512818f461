// SPDX-License-Identifier: MIT
// The regions in the bytes of an opened asset, for those who keep its bytes and not the Asset.
#pragma once

#include "plush/asset.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

/// Number of regions. `bytes` are those that Asset::Open accepted, or empty: then there are none.
/// Constant time; does not allocate.
uint32_t NumRegions(std::span<const std::byte> bytes);

/// Region number `index`, which is below NumRegions(bytes). Valid as long as the bytes are.
/// Constant time; does not allocate.
RegionView RegionOf(std::span<const std::byte> bytes, uint32_t index);

}  // namespace plush
