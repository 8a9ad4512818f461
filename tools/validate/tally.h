// SPDX-License-Identifier: MIT
// Collects elements with the same fault into one finding.
#pragma once

#include "base/finding.h"
#include "base/text.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace plush::tools {

/// Unit roundoff of float: the file's numbers are doubles rounded once.
inline constexpr double kRoundoff = 0x1p-24;

/// Counts the elements of one section that break one invariant; keeps the first places and the
/// largest deviation.
class Tally {
 public:
  /// `code` is a finding code; `message` completes "COUNT of SECTION: ...".
  Tally(std::string code, std::string section, std::string message)
      : code_(std::move(code)), section_(std::move(section)), message_(std::move(message)) {}

  /// Counts element `index`, without a position.
  void Add(uint64_t index, double deviation = 0.0) {
    AddAt(index, {}, deviation);
    if (count_ <= kMaxPlaces) places_.back().has_position = false;
  }

  /// Counts element `index` at `position` [m], wrong by `deviation`.
  void AddAt(uint64_t index, const Vec3d& position, double deviation = 0.0) {
    ++count_;
    // A deviation that is not a number is the worst of all.
    if (!(deviation <= worst_)) worst_ = deviation;
    if (count_ > kMaxPlaces) return;
    places_.push_back({position, -1, static_cast<int64_t>(index), section_, IsFinite(position)});
  }

  uint64_t count() const { return count_; }

  /// Adds the finding if anything was counted.
  void Report(FindingList* findings) const {
    if (count_ == 0) return;
    std::string text = section_ + ": " + std::to_string(count_) +
                       (count_ == 1 ? " element: " : " elements: ") + message_;
    if (worst_ != 0.0) text += " (worst " + NumberText(worst_, 3) + ")";
    findings->Add(code_, count_, text, places_);
  }

 private:
  std::string code_;
  std::string section_;
  std::string message_;
  uint64_t count_ = 0;
  double worst_ = 0.0;
  std::vector<Place> places_;
};

}  // namespace plush::tools
