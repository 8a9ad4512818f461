// SPDX-License-Identifier: MIT
// A whole file, mapped read-only. One source per operating system: file_mapping_posix.cpp and
// file_mapping_win32.cpp.
#pragma once

#include "plush/status.h"

#include <cstddef>

namespace plush {

/// A mapped file; the start is a multiple of the page size.
struct FileMapping {
  void* start = nullptr;  ///< null if nothing is mapped
  size_t num_bytes = 0;
};

/// Maps the regular file at `path` (UTF-8). Does not use the heap. Errors: kCannotRead (missing,
/// unreadable, not a regular file), kTruncated (empty, so nothing can be mapped).
Status MapFile(const char* path, FileMapping* out_mapping);

/// Unmaps a file; does nothing for an empty mapping.
void UnmapFile(const FileMapping& mapping);

}  // namespace plush
