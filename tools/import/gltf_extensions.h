// SPDX-License-Identifier: MIT
// Which extensions of glTF are read, or may be ignored.
#pragma once

#include "base/result.h"
#include "import/raw_scene.h"

#include <nlohmann/json.hpp>

#include <vector>

namespace plush::tools {

/// Checks what a document says it uses. Errors: kUnsupported with IMPORT_UNSUPPORTED, which names
/// each required extension that is neither read nor harmless. Adds IMPORT_EXTENSION for each
/// optional one that changes geometry and is not read, and IMPORT_LEFT_OUT for unknown ones.
Result<Done> CheckGltfExtensions(const nlohmann::json& root, std::vector<RawFinding>* findings);

}  // namespace plush::tools
