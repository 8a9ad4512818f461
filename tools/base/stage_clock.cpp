// SPDX-License-Identifier: MIT
#include "base/stage_clock.h"

namespace plush::tools {

void StageClock::Begin(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (name == running_) return;
  EndUnlocked();
  running_ = name;
  start_ = std::chrono::steady_clock::now();
}

void StageClock::End() {
  const std::lock_guard lock(mutex_);
  EndUnlocked();
}

std::vector<Stage> StageClock::stages() const {
  const std::lock_guard lock(mutex_);
  return stages_;
}

Stage StageClock::Running() const {
  const std::lock_guard lock(mutex_);
  return RunningUnlocked();
}

void StageClock::EndUnlocked() {
  if (!running_.empty()) stages_.push_back(RunningUnlocked());
  running_.clear();
}

Stage StageClock::RunningUnlocked() const {
  if (running_.empty()) return {};
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  return {running_, elapsed.count()};
}

}  // namespace plush::tools
