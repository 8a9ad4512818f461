// SPDX-License-Identifier: MIT
// The thread sleeps until the next line of progress, the limit or the end of the work. It keeps the
// lock while it ends the process, so that the work cannot end at the same time.
#include "commands/bake_watch.h"

#include "base/child_process.h"
#include "base/files.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace plush::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kFirstLine{2};
constexpr std::chrono::seconds kNextLine{1};

}  // namespace

BakeWatch::BakeWatch(const StageClock* clock, WatchSettings settings)
    : clock_(*clock), settings_(std::move(settings)) {
  if (settings_.shows_progress || settings_.limit_s) thread_ = std::thread([this] { Watch(); });
}

BakeWatch::~BakeWatch() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  is_over_changed_.notify_one();
  thread_.join();
}

void BakeWatch::Watch() {
  constexpr auto kNever = Clock::time_point::max();
  const auto start = Clock::now();
  auto limit = kNever;
  if (settings_.limit_s) {
    limit = start + std::chrono::duration_cast<Clock::duration>(
                        std::chrono::duration<double>(*settings_.limit_s));
  }
  auto line = settings_.shows_progress ? start + kFirstLine : kNever;
  std::unique_lock lock(mutex_);
  while (!is_over_changed_.wait_until(lock, std::min(limit, line), [this] { return is_over_; })) {
    if (Clock::now() >= limit) EndProcess();
    ShowProgress();
    line += kNextLine;
  }
  if (is_line_shown_) std::fputs("\r\x1b[K", stderr);
}

void BakeWatch::ShowProgress() {
  const Stage stage = clock_.Running();
  if (stage.name.empty()) return;
  std::fprintf(stderr, "\rplush bake: %s, %.0f s\x1b[K", stage.name.c_str(), stage.seconds);
  is_line_shown_ = true;
}

void BakeWatch::EndProcess() {
  const Stage stage = clock_.Running();
  if (is_line_shown_) std::fputs("\r\x1b[K", stderr);
  EndChildren();
  EndScratchFolders();
  const int code = settings_.on_limit(stage);
  std::fflush(stdout);
  std::_Exit(code);
}

}  // namespace plush::tools
