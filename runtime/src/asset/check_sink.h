// SPDX-License-Identifier: MIT
// Where the checks of a file put what they find.
#pragma once

#include "plush/format/asset_check.h"
#include "plush/status.h"

#include <cstdint>

namespace plush {

/// Passes failures on to a callback until that has had enough.
class CheckSink {
 public:
  CheckSink(void* user, CheckCallback callback) : user_(user), callback_(callback) {}

  /// Reports element `index` of `section`. Returns false where checking must stop.
  bool Fail(CheckKind kind, const char* section, const char* reason, uint64_t index = 0,
            StatusCode code = StatusCode::kCorrupt) {
    ++num_failures_;
    stopped_ = stopped_ || !callback_(user_, kind, Status{code, section, reason, index});
    return !stopped_;
  }

  bool stopped() const { return stopped_; }
  uint64_t num_failures() const { return num_failures_; }

 private:
  void* user_;
  CheckCallback callback_;
  uint64_t num_failures_ = 0;
  bool stopped_ = false;
};

}  // namespace plush
