// SPDX-License-Identifier: MIT
// Runs `plush-import` on a file.
#pragma once

#include "base/result.h"
#include "import/import.h"
#include "import/raw_scene.h"

#include <string>

namespace plush::tools {

/// Path of the helper: settings.helper, or `plush-import` beside the running executable.
std::string HelperPath(const ImportSettings& settings);

/// Lets the helper read `path` within the limits of `settings`. Errors: kHelperDied
/// (IMPORT_CRASHED), kLimit (IMPORT_LIMIT), kUnsupported (IMPORT_UNSUPPORTED), kInvalidInput
/// (IMPORT_FAILED), and kIo without a finding (the file or the helper cannot be opened).
Result<RawScene> ImportWithHelper(const std::string& path, const ImportSettings& settings);

}  // namespace plush::tools
