// SPDX-License-Identifier: MIT
// Ranges of numbers that users give, with one text for --help and for messages.
#pragma once

#include <string>

namespace plush::tools {

/// The numbers from `low` to `high`. An end that is flagged as open is outside.
struct NumberRange {
  double low = 0.0;
  double high = 0.0;
  bool open_low = false;
  bool open_high = false;
};

/// False for infinities and NaN.
bool Contains(const NumberRange& range, double number);

/// "[0, 1]"; a parenthesis marks an open end.
std::string RangeText(const NumberRange& range);

/// "GIVEN is outside [0, 1]".
std::string OutsideMessage(const std::string& given, const NumberRange& range);

}  // namespace plush::tools
