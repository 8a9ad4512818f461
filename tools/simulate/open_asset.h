// SPDX-License-Identifier: MIT
// Baked files as the tools open them: with an error that says what to do.
#pragma once

#include "plush/asset.h"

#include "base/result.h"

#include <string>

namespace plush::tools {

/// The error of `status` (not ok) for the file at `path`. Exit codes: kIo (unreadable),
/// kUnsupported (another version or layout), kLimit (out of memory), kInvalidInput (anything else).
Error AssetError(const std::string& path, const Status& status);

/// Opens a .plush file, trusting nothing. Errors: those of AssetError.
Result<Asset> OpenAsset(const std::string& path);

}  // namespace plush::tools
