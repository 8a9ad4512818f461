// SPDX-License-Identifier: MIT
// Single objects from the world's allocator.
#pragma once

#include "plush/allocator.h"

#include <new>
#include <utility>

namespace plush {

/// Makes a T with the allocator's memory; null where that fails.
template <class T, class... Args>
T* NewObject(const Allocator& allocator, Args&&... args) {
  void* memory = allocator.allocate(allocator.user, sizeof(T), alignof(T));
  return memory == nullptr ? nullptr : ::new (memory) T(std::forward<Args>(args)...);
}

/// Destroys an object of NewObject; null is ignored.
template <class T>
void DeleteObject(const Allocator& allocator, T* object) {
  if (object == nullptr) return;
  object->~T();
  allocator.release(allocator.user, object, sizeof(T), alignof(T));
}

}  // namespace plush
