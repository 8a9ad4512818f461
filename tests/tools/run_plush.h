// SPDX-License-Identifier: MIT
// The executable `plush` as its users see it: arguments in, exit code and two streams out.
#pragma once

#include <string>
#include <vector>

namespace plush::tests {

/// How a run of `plush` ended.
struct PlushRun {
  int exit_code = 0;  ///< minus the signal's number where a signal ended it
  std::string out;    ///< stdout
  std::string err;    ///< stderr
};

/// Runs the built executable with `arguments`, none of which a shell interprets.
PlushRun RunPlush(const std::vector<std::string>& arguments);

}  // namespace plush::tests
