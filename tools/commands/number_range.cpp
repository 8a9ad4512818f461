// SPDX-License-Identifier: MIT
#include "commands/number_range.h"

#include <cmath>
#include <cstdio>
#include <string>

namespace plush::tools {
namespace {

std::string NumberText(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", number);
  return text;
}

}  // namespace

CLI::Validator NumberIn(double low, double high, OpenEnds open) {
  const std::string range = (open == OpenEnds::kLow ? "(" : "[") + NumberText(low) + ", " +
                            NumberText(high) + (open == OpenEnds::kHigh ? ")" : "]");
  const auto check = [=](std::string& text) -> std::string {
    double number = 0.0;
    if (!CLI::detail::lexical_cast(text, number) || !std::isfinite(number)) {
      return "'" + text + "' is not a finite number; expected one in " + range;
    }
    const bool above = open == OpenEnds::kLow ? number > low : number >= low;
    const bool below = open == OpenEnds::kHigh ? number < high : number <= high;
    if (above && below) return {};
    return "'" + text + "' is out of range; expected " + range;
  };
  return CLI::Validator(check, "in " + range);
}

}  // namespace plush::tools
