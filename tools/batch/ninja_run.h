// SPDX-License-Identifier: MIT
// Runs Ninja on the build.ninja of a batch and follows what it says.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace plush::tools {

/// One output tree is worked on by one batch at a time. The lock passes to Ninja and to its bakes:
/// if a batch is killed, it holds until the last of them has ended.
class BatchLock {
 public:
  /// Makes the folders of the output tree and waits for its lock. Calls `on_wait` before it waits.
  /// Errors: kIo.
  static Result<std::unique_ptr<BatchLock>> Take(const std::string& output_tree,
                                                 const std::function<void()>& on_wait);
  explicit BatchLock(int fd) : fd_(fd) {}
  ~BatchLock();
  BatchLock(const BatchLock&) = delete;
  BatchLock& operator=(const BatchLock&) = delete;

 private:
  int fd_;
};

/// A bake that has ended.
struct BakeEnd {
  size_t index = 0;   ///< of the asset in build.ninja
  int exit_code = 0;  ///< of `plush bake`, or above 128 if a signal ended it
  std::string text;   ///< what a failed bake printed
};

struct NinjaSettings {
  std::string ninja;        ///< path of the program
  std::string output_tree;  ///< holds kNinjaFile
  int jobs = 1;
  bool is_dry_run = false;  ///< only says what it would bake
  std::string cache;        ///< of bakes; empty without one
  std::string cache_size;   ///< as `plush bake --cache-size` takes it
  std::string bake_time;    ///< as `plush bake --bake-time` takes it
};

/// Runs Ninja until all bakes have ended, and calls `on_end` after each in the order of their ends.
/// Ninja and its bakes end if this process dies. Errors: kIo (Ninja cannot be run, or stops for
/// another reason than failed bakes).
Result<Done> RunNinja(const NinjaSettings& settings,
                      const std::function<void(const BakeEnd&)>& on_end);

/// Removes what killed bakes and batches have left: the temporary files of WriteFilesAtomically.
/// Call it under the lock.
void RemoveTemporaries(const std::string& output_tree);

/// `ninja -t cleandead`: removes outputs of earlier runs that build.ninja no longer names. Errors:
/// kIo.
Result<Done> RemoveDeadOutputs(const NinjaSettings& settings);

}  // namespace plush::tools
