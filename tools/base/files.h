// SPDX-License-Identifier: MIT
// Whole files, in and out, and folders for temporary ones.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace plush::tools {

/// Reads a whole regular file. Errors: kIo (missing, unreadable, no regular file), kLimit (more
/// than `max_bytes`).
Result<std::vector<std::byte>> ReadFile(const std::string& path, uint64_t max_bytes = UINT64_MAX);

/// Reads a regular file piece by piece: calls `use` with each. Errors: as ReadFile.
Result<Done> ReadPieces(const std::string& path, uint64_t max_bytes,
                        const std::function<void(std::span<const std::byte>)>& use);

struct FileContent {
  std::string path;
  std::span<const std::byte> bytes;
};

/// Writes several files. The kind of each path decides how:
/// - No file, or a regular one: writes and flushes a temporary file in the same folder, and renames
///   it to the path. The new file has the permissions of the old one.
/// - Symbolic link: as above for the file it leads to, which need not exist. The link stays.
/// - Device or FIFO: writes into it. Opening a FIFO waits for a reader.
/// - Anything else is an error. So is a file that this user may not write, or that nobody may write
///   (even for root).
///
/// Renames happen last. If anything before them fails, every old file is untouched and no temporary
/// file is left. Several processes may write the same path: the last one wins, nothing is torn.
/// Errors: kIo.
Result<Done> WriteFilesAtomically(std::span<const FileContent> files);

/// Begins the names of its temporary files; the process's number, '-' and a number follow.
inline constexpr char kTemporaryStem[] = ".plush.tmp";

Result<Done> WriteFileAtomically(const std::string& path, std::span<const std::byte> bytes);

/// Whether one of the files has changed at `start` or later, or is gone. The times of files lag
/// behind CLOCK_REALTIME by a few milliseconds, not behind CLOCK_REALTIME_COARSE.
bool AnyChangedSince(const struct timespec& start, std::span<const std::string> paths);

/// Checks before any work that WriteFilesAtomically can write `path`. Errors: kIo.
Result<Done> CheckWritable(const std::string& path);

/// Checks before any work that every output can be written, that none is one of the sources and
/// that no two are the same file. Ignores empty paths; devices and FIFOs may take several outputs.
/// Errors: kIo, kUsage.
Result<Done> CheckOutputs(std::initializer_list<std::string> outputs,
                          std::initializer_list<std::string> sources);

/// A new folder that only this user may enter. The destructor removes it with its content.
class ScratchFolder {
 public:
  /// Makes one in the system's folder for temporary files (TMPDIR, else /tmp). Errors: kIo.
  static Result<std::unique_ptr<ScratchFolder>> Create();

  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// Removes the scratch folders that are left; later ones wait for ever. For a process that is about
/// to end.
void EndScratchFolders();

}  // namespace plush::tools
