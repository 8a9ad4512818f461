// SPDX-License-Identifier: MIT
#include "runtime/world/heap_counter.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

std::atomic<uint64_t> num_allocations{0};

void* TakeOrNull(size_t bytes, size_t alignment) noexcept {
  num_allocations.fetch_add(1, std::memory_order_relaxed);
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  return std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
}

void* TakeOrThrow(size_t bytes, size_t alignment) {
  void* memory = TakeOrNull(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

constexpr size_t kDefault = alignof(std::max_align_t);

}  // namespace

// Replace the program's heap; every form calls the two functions above.
void* operator new(size_t bytes) { return TakeOrThrow(bytes, kDefault); }
void* operator new[](size_t bytes) { return TakeOrThrow(bytes, kDefault); }
void* operator new(size_t bytes, std::align_val_t a) { return TakeOrThrow(bytes, size_t(a)); }
void* operator new[](size_t bytes, std::align_val_t a) { return TakeOrThrow(bytes, size_t(a)); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return TakeOrNull(bytes, kDefault);
}
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
  return TakeOrNull(bytes, kDefault);
}
void* operator new(size_t bytes, std::align_val_t a, const std::nothrow_t&) noexcept {
  return TakeOrNull(bytes, size_t(a));
}
void* operator new[](size_t bytes, std::align_val_t a, const std::nothrow_t&) noexcept {
  return TakeOrNull(bytes, size_t(a));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace plush::test {
namespace {

// Precedes every block and records its size and alignment. As long as the widest alignment.
struct Label {
  size_t bytes;
  size_t alignment;
};
constexpr size_t kRoom = 64;

}  // namespace

uint64_t HeapAllocations() { return num_allocations.load(std::memory_order_relaxed); }

Allocator CountingMemory::allocator() { return {Allocate, Release, this}; }

void CountingMemory::FailAt(uint64_t n, bool only_once) {
  fail_in_ = n;
  fail_once_ = only_once;
}

void* CountingMemory::Allocate(void* user, size_t bytes, size_t alignment) {
  CountingMemory& self = *static_cast<CountingMemory*>(user);
  ++self.requests_;
  if (self.fail_in_ == 1) {
    if (self.fail_once_) self.fail_in_ = 0;
    return nullptr;
  }
  if (self.fail_in_ > 1) --self.fail_in_;
  self.consistent_ = self.consistent_ && alignment <= kRoom && bytes > 0;
  char* memory = static_cast<char*>(TakeOrNull(bytes + kRoom, kRoom));
  const Label label = {bytes, alignment};
  std::memcpy(memory, &label, sizeof(label));
  std::memset(memory + kRoom, 0xcd, bytes);  // callers must not rely on zeros
  self.bytes_out_ += bytes;
  ++self.blocks_out_;
  return memory + kRoom;
}

void CountingMemory::Release(void* user, void* memory, size_t bytes, size_t alignment) {
  CountingMemory& self = *static_cast<CountingMemory*>(user);
  char* start = static_cast<char*>(memory) - kRoom;
  Label label = {};
  std::memcpy(&label, start, sizeof(label));
  self.consistent_ = self.consistent_ && label.bytes == bytes && label.alignment == alignment;
  self.bytes_out_ -= label.bytes;
  --self.blocks_out_;
  std::free(start);
}

}  // namespace plush::test
