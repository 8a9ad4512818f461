// SPDX-License-Identifier: MIT
// A copy of a file's bytes at an address that plush::Asset can open in place.
#pragma once

#include "plush/asset.h"

#include <cstddef>
#include <span>
#include <vector>

namespace plush::tools {

/// Owns a copy of bytes whose start is a multiple of kAssetAlignment.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::span<const std::byte> bytes)
      : storage_(bytes.size() + kAssetAlignment - 1), bytes_(CopyAligned(bytes, storage_)) {}
  AlignedBytes(const AlignedBytes&) = delete;
  AlignedBytes& operator=(const AlignedBytes&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> storage_;
  std::span<const std::byte> bytes_;
};

}  // namespace plush::tools
