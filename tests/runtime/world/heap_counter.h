// SPDX-License-Identifier: MIT
// Counts allocations from the C++ heap, and provides an allocator that counts and fails on demand.
#pragma once

#include "plush/allocator.h"

#include <cstddef>
#include <cstdint>

namespace plush::test {

/// Number of operator new calls of this program so far, by all threads.
uint64_t HeapAllocations();

/// Memory that counts calls and blocks in use, and can refuse the n-th request.
class CountingMemory {
 public:
  CountingMemory() = default;
  CountingMemory(const CountingMemory&) = delete;
  CountingMemory& operator=(const CountingMemory&) = delete;

  /// An allocator on this object, which must outlive everything allocated from it.
  Allocator allocator();

  /// Returns null from the n-th request from now on (1: the next), for ever or only once.
  void FailAt(uint64_t n, bool only_once);
  void FailNever() { fail_in_ = 0; }

  uint64_t requests() const { return requests_; }  ///< so far, including refused ones
  size_t bytes_out() const { return bytes_out_; }  ///< not yet released
  size_t blocks_out() const { return blocks_out_; }
  bool consistent() const {
    return consistent_;
  }  ///< whether sizes and alignments have matched so
     ///< far

 private:
  static void* Allocate(void* user, size_t bytes, size_t alignment);
  static void Release(void* user, void* memory, size_t bytes, size_t alignment);

  uint64_t requests_ = 0, fail_in_ = 0;
  bool fail_once_ = false;
  size_t bytes_out_ = 0, blocks_out_ = 0;
  bool consistent_ = true;
};

}  // namespace plush::test
