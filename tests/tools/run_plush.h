// SPDX-License-Identifier: MIT
// Runs the executable `plush` as users do: arguments in; exit code, stdout and stderr out.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace plush::tests {

/// How a run of `plush` ended.
struct PlushRun {
  int exit_code = 0;  ///< minus the signal's number if a signal ended it
  std::string out;    ///< stdout
  std::string err;    ///< stderr
};

/// Runs the built executable with `arguments`, none of which a shell interprets. `prefix` is shell
/// text before the program: limits ("ulimit -f 8;") or a program that runs it ("exec setpriv ...").
PlushRun RunPlush(const std::vector<std::string>& arguments, const std::string& prefix = "exec");

/// The bytes of a file; empty without one.
std::string Content(const std::string& path);

/// How many files and folders there are in `folder`.
size_t FilesIn(const std::string& folder);

}  // namespace plush::tests
