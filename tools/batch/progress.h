// SPDX-License-Identifier: MIT
// The progress of a batch: one line on a terminal, with the time that remains.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace plush::tools {

class Progress {
 public:
  /// The costs add up in any unit. Prints nothing unless `is_shown`.
  Progress(bool is_shown, size_t num_bakes, double total_cost)
      : is_shown_(is_shown), num_bakes_(num_bakes), total_cost_(total_cost) {}

  /// A bake of this cost has ended.
  void Add(const std::string& name, double cost, bool failed);

  /// Clears the line.
  void Clear() const;

  /// Seconds that remain if the rest of the cost takes as long as that which is done: `elapsed_s`
  /// (total - done) / done. Negative while nothing is done.
  static double RemainingSeconds(double elapsed_s, double done_cost, double total_cost);

 private:
  bool is_shown_;
  size_t num_bakes_;
  double total_cost_;
  size_t num_done_ = 0;
  size_t num_failed_ = 0;
  double done_cost_ = 0.0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// "41 s", "12 min" or "3 h 20 min".
std::string DurationText(double seconds);

}  // namespace plush::tools
