// SPDX-License-Identifier: MIT
// Whole files, in and out.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace plush::tools {

/// Reads the whole of a regular file. Errors: kIo (missing, a directory, unreadable), kLimit (more
/// than `max_bytes`).
Result<std::vector<std::byte>> ReadFile(const std::string& path, uint64_t max_bytes = UINT64_MAX);

/// Writes `bytes` whole or not at all: to a temporary file in the same directory, flushed to disk,
/// then renamed over `path`. On failure an old file at `path` is untouched and the temporary file
/// is gone. Errors: kIo.
Result<Done> WriteFileAtomically(const std::string& path, std::span<const std::byte> bytes);

/// A file to be.
struct FileContent {
  std::string path;
  std::span<const std::byte> bytes;
};

/// Writes several files, all or none: all temporary files first, then one rename after the other.
/// Errors: kIo; only where a rename itself fails can a part of the files be new.
Result<Done> WriteFilesAtomically(std::span<const FileContent> files);

/// Tells before any work whether WriteFileAtomically(path) can create its temporary file. Errors:
/// kIo, with the reason.
Result<Done> CheckWritable(const std::string& path);

}  // namespace plush::tools
