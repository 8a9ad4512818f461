// SPDX-License-Identifier: MIT
// How `info` and `validate` read a .plush file.
#pragma once

#include "plush/status.h"

#include "base/result.h"

#include <cstddef>
#include <string>
#include <vector>

namespace plush::tools {

/// Reads a file that may be a .plush file. Errors: kIo, kLimit (2 GiB or more).
Result<std::vector<std::byte>> ReadAssetFile(const std::string& path);

/// The error of a refused Asset::Open: kUnsupported for another version or layout, else
/// kInvalidInput; the message names file, section, index and reason.
Error OpenError(const std::string& path, const Status& status);

}  // namespace plush::tools
