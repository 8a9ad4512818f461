// SPDX-License-Identifier: MIT
#include "validate/tally.h"

#include <cmath>
#include <cstdio>

namespace plush::tools {

void Tally::Add(uint64_t index, double deviation) {
  AddAt(index, {}, deviation);
  if (count_ <= kMaxPlaces) places_.back().has_position = false;
}

void Tally::AddAt(uint64_t index, const Vec3d& position, double deviation) {
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

void Tally::Report(FindingList* findings) const {
  if (count_ == 0) return;
  std::string text = section_ + ": " + std::to_string(count_) +
                     (count_ == 1 ? " element: " : " elements: ") + message_;
  if (worst_ != 0.0) {
    char number[40];
    std::snprintf(number, sizeof(number), " (worst %.3g)", worst_);
    text += number;
  }
  findings->Add(code_, count_, text, places_);
}

}  // namespace plush::tools
