// SPDX-License-Identifier: MIT
// How a source mesh is read again to compare it with what was baked from it.
#pragma once

#include "import/import.h"

#include <cstddef>
#include <span>

namespace plush::tools {

/// The import settings of the bake, which a .plush file records. Those of a file that does not open
/// are the defaults.
ImportSettings SettingsOfBake(std::span<const std::byte> bytes);

}  // namespace plush::tools
