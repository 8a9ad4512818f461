// SPDX-License-Identifier: MIT
// Many elements with the same fault make one finding.
#pragma once

#include "base/finding.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace plush::tools {

/// Counts elements of one section that break one invariant, and keeps the first places and the
/// worst deviation.
class Tally {
 public:
  /// `code` is a finding code; `message` completes "COUNT of SECTION: ...".
  Tally(std::string code, std::string section, std::string message)
      : code_(std::move(code)), section_(std::move(section)), message_(std::move(message)) {}

  /// Element `index` is wrong; it has no position.
  void Add(uint64_t index, double deviation = 0.0);

  /// Element `index` at `position` [m] is wrong by `deviation`.
  void AddAt(uint64_t index, const Vec3d& position, double deviation = 0.0);

  uint64_t count() const { return count_; }

  /// Adds the finding, unless nothing was wrong.
  void Report(FindingList* findings) const;

 private:
  std::string code_;
  std::string section_;
  std::string message_;
  uint64_t count_ = 0;
  double worst_ = 0.0;
  std::vector<Place> places_;
};

}  // namespace plush::tools
