// SPDX-License-Identifier: MIT
// The table of all finding codes: the one place that gives each its severity, meaning and remedy.
#pragma once

#include "base/finding.h"

#include <span>
#include <string_view>

namespace plush::tools {

/// A row of the table.
struct FindingCode {
  std::string_view code;  ///< stable name, UPPER_SNAKE
  Severity severity;
  std::string_view meaning;  ///< one sentence
  std::string_view remedy;   ///< one sentence
};

/// All rows in alphabetical order.
std::span<const FindingCode> FindingCodes();

/// The row of `code`, or null.
const FindingCode* FindFindingCode(std::string_view code);

}  // namespace plush::tools
