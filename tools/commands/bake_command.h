// SPDX-License-Identifier: MIT
// What `plush batch` uses of `plush bake`.
#pragma once

#include "base/finding.h"
#include "commands/bake_cache.h"
#include "commands/bake_options.h"

#include <optional>
#include <string>
#include <vector>

namespace plush::tools {

/// Does what `plush bake` does if its cache has the bake: writes the output and the report. Returns
/// the absolute paths of the files that the output depends on, or nothing if the bake is not there
/// or cannot be written. Adds CACHE_DAMAGED.
std::optional<std::vector<std::string>> TakeFromCache(const BakeOptions& options,
                                                      FileKeys* programs, FindingList* findings);

}  // namespace plush::tools
