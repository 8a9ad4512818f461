// SPDX-License-Identifier: MIT
// What `plush explain` says about a finding, besides its row in the table of findings.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace plush::tools {

struct Explanation {
  std::string_view code;     ///< of a finding
  std::string_view why;      ///< why it matters
  std::string_view blender;  ///< how to mend it in Blender; empty if the model is not at fault
  std::string_view maya;     ///< in Maya; empty if `blender` is
  std::string_view example;  ///< a small case in which it appears
};

/// One for each of FindingCodes(), in the same order.
std::span<const Explanation> Explanations();

/// The page of `plush explain CODE`; empty if there is no such code.
std::string ExplanationText(std::string_view code);

}  // namespace plush::tools
