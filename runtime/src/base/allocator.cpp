// SPDX-License-Identifier: MIT
#include "plush/allocator.h"

#include <new>

namespace plush {
namespace {

void* HeapAllocate(void* /*user*/, size_t bytes, size_t alignment) {
  return ::operator new(bytes, std::align_val_t(alignment), std::nothrow);
}

void HeapRelease(void* /*user*/, void* memory, size_t bytes, size_t alignment) {
  ::operator delete(memory, bytes, std::align_val_t(alignment));
}

}  // namespace

Allocator DefaultAllocator() { return {HeapAllocate, HeapRelease, nullptr}; }

}  // namespace plush
