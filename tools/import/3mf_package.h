// SPDX-License-Identifier: MIT
// The parts of a 3MF file, which is a ZIP archive.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace plush::tools {

/// Unpacks parts by name. The sum of their sizes is limited, whatever the archive announces.
class ThreeMfPackage {
 public:
  /// Largest sum of the sizes of unpacked parts [bytes].
  static constexpr uint64_t kMaxBytes = 1ull << 30;

  /// Errors: kInvalidInput (no ZIP archive).
  static Result<ThreeMfPackage> Open(const std::string& path);

  /// The bytes of a part. `name`: with or without the slash at its beginning; case does not matter.
  /// Errors: kInvalidInput (missing, broken), kLimit.
  Result<std::vector<char>> Read(std::string name);

 private:
  struct Close {
    void operator()(void* zip) const;
  };
  std::unique_ptr<void, Close> zip_;
  uint64_t bytes_left_ = kMaxBytes;
};

}  // namespace plush::tools
