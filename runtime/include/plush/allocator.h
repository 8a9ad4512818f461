// SPDX-License-Identifier: MIT
// The caller provides the runtime's memory.
#pragma once

#include <cstddef>

namespace plush {

/// The source of a World's memory. Both functions are called on the thread that calls the World, so
/// they must be thread-safe if World::PrepareSystem runs beside other calls. None is called inside
/// a step after warm-up.
struct Allocator {
  /// Returns at least `bytes` bytes aligned to `alignment` (a power of two up to 64), or null.
  void* (*allocate)(void* user, size_t bytes, size_t alignment) = nullptr;
  /// Frees what `allocate` returned for the same `bytes` and `alignment`.
  void (*release)(void* user, void* memory, size_t bytes, size_t alignment) = nullptr;
  void* user = nullptr;  ///< passed through
};

/// The C++ heap (aligned operator new, nothrow). Used if a description leaves `allocate` null.
Allocator DefaultAllocator();

}  // namespace plush
