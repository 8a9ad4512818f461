// SPDX-License-Identifier: MIT
#include "batch/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace plush::tools {

void Progress::Add(const std::string& name, double cost, bool failed) {
  ++num_done_;
  num_failed_ += failed ? 1 : 0;
  done_cost_ += cost;
  if (!is_shown_) return;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  const double remaining = RemainingSeconds(elapsed.count(), done_cost_, total_cost_);
  std::string line = "[" + std::to_string(num_done_) + "/" + std::to_string(num_bakes_) + "]";
  if (num_failed_ > 0) line += " " + std::to_string(num_failed_) + " failed,";
  if (remaining >= 0.0) line += " " + DurationText(remaining) + " left";
  constexpr size_t kLongestName = 50;
  line +=
      ": " + (name.size() > kLongestName ? "..." + name.substr(name.size() - kLongestName) : name);
  std::fprintf(stderr, "\r%s\x1b[K", line.c_str());
}

void Progress::Clear() const {
  if (is_shown_ && num_done_ > 0) std::fputs("\r\x1b[K", stderr);
}

double Progress::RemainingSeconds(double elapsed_s, double done_cost, double total_cost) {
  if (done_cost <= 0.0) return -1.0;
  return elapsed_s * std::max(total_cost - done_cost, 0.0) / done_cost;
}

std::string DurationText(double seconds) {
  const auto minutes = static_cast<long long>(std::ceil(seconds / 60.0));
  if (seconds <= 90.0) return std::to_string(static_cast<long long>(std::ceil(seconds))) + " s";
  if (minutes < 60) return std::to_string(minutes) + " min";
  return std::to_string(minutes / 60) + " h " + std::to_string(minutes % 60) + " min";
}

}  // namespace plush::tools
