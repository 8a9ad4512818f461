// SPDX-License-Identifier: MIT
// What a run is doing, and how long each of its stages took.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

namespace plush::tools {

struct Stage {
  std::string name;
  double seconds = 0.0;
};

/// Times consecutive stages. Another thread may ask for the one that runs.
class StageClock {
 public:
  /// Ends the stage that runs, if any, and begins one. Does nothing if that one runs already.
  void Begin(const std::string& name);
  /// Ends the stage that runs, if any.
  void End();

  /// The stages that have ended, in order.
  std::vector<Stage> stages() const;
  /// The stage that runs, and for how long it has; without a name if none does.
  Stage Running() const;

 private:
  void EndUnlocked();
  Stage RunningUnlocked() const;

  mutable std::mutex mutex_;
  std::string running_;  // empty between stages
  std::chrono::steady_clock::time_point start_;
  std::vector<Stage> stages_;
};

}  // namespace plush::tools
