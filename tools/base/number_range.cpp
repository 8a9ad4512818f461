// SPDX-License-Identifier: MIT
#include "base/number_range.h"

#include "base/text.h"

#include <cmath>

namespace plush::tools {

bool Contains(const NumberRange& range, double number) {
  if (!std::isfinite(number)) return false;
  const bool above = range.open_low ? number > range.low : number >= range.low;
  const bool below = range.open_high ? number < range.high : number <= range.high;
  return above && below;
}

std::string RangeText(const NumberRange& range) {
  return std::string(range.open_low ? "(" : "[") + NumberText(range.low) + ", " +
         NumberText(range.high) + (range.open_high ? ")" : "]");
}

std::string OutsideMessage(const std::string& given, const NumberRange& range) {
  return given + " is outside " + RangeText(range);
}

}  // namespace plush::tools
