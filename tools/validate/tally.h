// SPDX-License-Identifier: MIT
// Collects elements with the same fault into one finding.
#pragma once

#include "base/finding.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace plush::tools {

/// `number` with this many significant digits.
inline std::string NumberText(double number, int digits) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.*g", digits, number);
  return text;
}

/// Counts the elements of one section that break one invariant; keeps the first places and the
/// largest deviation.
class Tally {
 public:
  /// `code` is a finding code; `message` completes "COUNT of SECTION: ...".
  Tally(std::string code, std::string section, std::string message)
      : code_(std::move(code)), section_(std::move(section)), message_(std::move(message)) {}

  /// Counts element `index`, which has no position.
  void Add(uint64_t index, double deviation = 0.0);

  /// Counts element `index` at `position` [m], wrong by `deviation`.
  void AddAt(uint64_t index, const Vec3d& position, double deviation = 0.0);

  uint64_t count() const { return count_; }

  /// Adds the finding if anything was counted.
  void Report(FindingList* findings) const;

 private:
  std::string code_;
  std::string section_;
  std::string message_;
  uint64_t count_ = 0;
  double worst_ = 0.0;
  std::vector<Place> places_;
};

inline void Tally::Add(uint64_t index, double deviation) {
  AddAt(index, {}, deviation);
  if (count_ <= kMaxPlaces) places_.back().has_position = false;
}

inline void Tally::AddAt(uint64_t index, const Vec3d& position, double deviation) {
  ++count_;
  // A deviation that is not a number is the worst of all.
  if (!(deviation <= worst_)) worst_ = deviation;
  if (count_ > kMaxPlaces) return;
  Place place;
  place.position = position;
  place.element = static_cast<int64_t>(index);
  place.object = section_;
  place.has_position = IsFinite(position);
  places_.push_back(place);
}

inline void Tally::Report(FindingList* findings) const {
  if (count_ == 0) return;
  std::string text = section_ + ": " + std::to_string(count_) +
                     (count_ == 1 ? " element: " : " elements: ") + message_;
  if (worst_ != 0.0) {
    text += " (worst " + NumberText(worst_, 3) + ")";
  }
  findings->Add(code_, count_, text, places_);
}

}  // namespace plush::tools
