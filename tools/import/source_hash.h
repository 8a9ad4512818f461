// SPDX-License-Identifier: MIT
// What identifies a source file.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>

namespace plush::tools {

/// Largest source file that is read [bytes].
inline constexpr uint64_t kMaxSourceBytes = 2ull << 30;

struct SourceHash {
  uint64_t hash = 0;  ///< XXH3-64 of all bytes
  uint64_t num_bytes = 0;
};

/// Hashes a file in pieces. Errors: kIo (missing, unreadable, no regular file), kLimit with
/// IMPORT_LIMIT (over kMaxSourceBytes).
Result<SourceHash> HashSource(const std::string& path);

}  // namespace plush::tools
