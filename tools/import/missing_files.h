// SPDX-License-Identifier: MIT
// The files that a source names and that are not there.
#pragma once

#include "import/raw_scene.h"

#include <set>
#include <string>

namespace plush::tools {

/// Adds the paths to scene->missing, and a finding IMPORT_FILE_MISSING that names the first ones;
/// nothing if there are none.
void AddMissingFiles(const std::set<std::string>& paths, RawScene* scene);

}  // namespace plush::tools
