// SPDX-License-Identifier: MIT
#include "plush/allocator.h"

#include <new>

namespace plush {
namespace {

void* HeapAllocate(void* /*user*/, size_t bytes, size_t alignment) {
  return ::operator new(bytes, std::align_val_t(alignment), std::nothrow);
}

// Not the sized form of delete: clang 14 hides it without an extra flag.
void HeapRelease(void* /*user*/, void* memory, size_t /*bytes*/, size_t alignment) {
  ::operator delete(memory, std::align_val_t(alignment));
}

}  // namespace

Allocator DefaultAllocator() { return {HeapAllocate, HeapRelease, nullptr}; }

}  // namespace plush
