// SPDX-License-Identifier: MIT
// Files that a source names: material libraries, textures, buffers.
#pragma once

#include "import/raw_scene.h"

#include <set>
#include <string>
#include <string_view>

namespace plush::tools {

/// Where a file that `source` names is: beside it, unless the name is absolute. Backslashes may
/// separate folders. If it is not there, but a file of that name is beside the source, that one:
/// exporters write paths of the artist's machine.
std::string SideFile(const std::string& source, std::string_view name);

/// Whether SideFile is a regular file.
bool HasSideFile(const std::string& source, std::string_view name);

/// Adds paths of files that are not there to scene->missing, and a finding IMPORT_FILE_MISSING that
/// names the first ones; nothing if there are none.
void AddMissingFiles(const std::set<std::string>& paths, RawScene* scene);

}  // namespace plush::tools
