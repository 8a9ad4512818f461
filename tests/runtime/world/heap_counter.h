// SPDX-License-Identifier: MIT
// Counts what the program takes from the C++ heap, and an allocator that counts and fails on
// demand.
#pragma once

#include "plush/allocator.h"

#include <cstddef>
#include <cstdint>

namespace plush::test {

/// Calls of any operator new of this program so far, by any thread.
uint64_t HeapAllocations();

/// Memory with a ledger: counts calls, what is out, and refuses the n-th request.
class CountingMemory {
 public:
  CountingMemory() = default;
  CountingMemory(const CountingMemory&) = delete;
  CountingMemory& operator=(const CountingMemory&) = delete;

  /// Takes from this object, which must outlive all that comes of it.
  Allocator allocator();

  /// Returns null from the n-th request from now on (1: the next), for ever or only once.
  void FailAt(uint64_t n, bool only_once);
  void FailNever() { fail_in_ = 0; }

  uint64_t requests() const { return requests_; }  ///< so far, refused ones included
  size_t bytes_out() const { return bytes_out_; }  ///< not yet released
  size_t blocks_out() const { return blocks_out_; }
  bool consistent() const { return consistent_; }  ///< sizes and alignments matched so far

 private:
  static void* Allocate(void* user, size_t bytes, size_t alignment);
  static void Release(void* user, void* memory, size_t bytes, size_t alignment);

  uint64_t requests_ = 0;
  uint64_t fail_in_ = 0;
  bool fail_once_ = false;
  size_t bytes_out_ = 0;
  size_t blocks_out_ = 0;
  bool consistent_ = true;
};

}  // namespace plush::test
