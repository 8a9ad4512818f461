// SPDX-License-Identifier: MIT
// The exit codes that every verb of `plush` promises.
#pragma once

namespace plush::tools {

enum class ExitCode : int {
  kOk = 0,            ///< done; warnings are allowed
  kUsage = 1,         ///< command line or configuration
  kIo = 2,            ///< cannot read or write
  kInvalidInput = 3,  ///< the input has an error finding
  kGateFailed = 4,    ///< -W with warnings, or a quality gate
  kUnsupported = 5,   ///< version, feature or file type
  kLimit = 6,         ///< time, memory or size limit reached
  kHelperDied = 7,    ///< a helper process crashed
  kInternal = 70,     ///< a bug of ours
};

}  // namespace plush::tools
