// SPDX-License-Identifier: MIT
// The runtime's own checks as findings.
#pragma once

#include "base/finding.h"

#include <cstddef>
#include <set>
#include <span>
#include <string>

namespace plush::tools {

/// Makes every check of Asset::Open and adds one finding per section and fault. Returns the names
/// of the sections at fault. `bytes` must be aligned to kAssetAlignment.
std::set<std::string> CheckStructure(std::span<const std::byte> bytes, FindingList* findings);

}  // namespace plush::tools
