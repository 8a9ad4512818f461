// SPDX-License-Identifier: MIT
// Watches a bake from a second thread: shows its progress, and ends it at a time limit.
#pragma once

#include "base/stage_clock.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace plush::tools {

struct WatchSettings {
  bool shows_progress = false;    ///< one line on stderr, from the third second on
  std::optional<double> limit_s;  ///< wall-clock time
  /// Reports that the limit was reached in the stage, and returns the exit code. Runs in another
  /// thread, while the work goes on.
  std::function<int(const Stage&)> on_limit;
};

/// Watches what happens between its construction and its destruction. At the limit it kills the
/// children of this process, removes its scratch folders, reports and ends the process: no
/// algorithm needs to ask for the time. Once that has begun, the destructor does not return.
class BakeWatch {
 public:
  /// *clock must outlive the watch.
  BakeWatch(const StageClock* clock, WatchSettings settings);
  ~BakeWatch();
  BakeWatch(const BakeWatch&) = delete;
  BakeWatch& operator=(const BakeWatch&) = delete;

 private:
  void Watch();
  void ShowProgress();
  [[noreturn]] void EndProcess();

  const StageClock& clock_;
  const WatchSettings settings_;
  std::mutex mutex_;
  std::condition_variable is_over_changed_;
  bool is_over_ = false;
  bool is_line_shown_ = false;
  std::thread thread_;
};

}  // namespace plush::tools
