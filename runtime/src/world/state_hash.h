// SPDX-License-Identifier: MIT
// FNV-1a 64 over the bits of floats.
#pragma once

#include "plush/types.h"

#include <bit>
#include <cstdint>

namespace plush {

/// Accumulates a hash, byte by byte in little-endian order.
class StateHasher {
 public:
  void Add(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) {
      hash_ = (hash_ ^ ((bits >> shift) & 0xffu)) * 0x100000001b3ull;
    }
  }
  void Add(const Vec3& value) {
    Add(value.x);
    Add(value.y);
    Add(value.z);
  }
  uint64_t hash() const { return hash_; }

 private:
  uint64_t hash_ = 0xcbf29ce484222325ull;
};

}  // namespace plush
