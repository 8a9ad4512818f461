// SPDX-License-Identifier: MIT
// Fixed-size arrays and single objects from the world's allocator.
#pragma once

#include "plush/allocator.h"

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace plush {

/// Owns `size` elements of a trivially destructible type. Allocated once; never grows.
template <class T>
class Array {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  Array() = default;
  ~Array() { Free(); }
  Array(Array&& other) noexcept { *this = std::move(other); }
  Array& operator=(Array&& other) noexcept {
    std::swap(allocator_, other.allocator_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  /// Replaces the contents by `size` copies of `value`. Returns false, and is then empty, if the
  /// allocator returns null or the size in bytes overflows.
  bool Allocate(const Allocator& allocator, size_t size, const T& value = T()) {
    Free();
    if (size == 0) return true;
    if (size > SIZE_MAX / sizeof(T)) return false;
    void* memory = allocator.allocate(allocator.user, size * sizeof(T), kAlignment);
    if (memory == nullptr) return false;
    allocator_ = allocator;
    data_ = static_cast<T*>(memory);
    size_ = size;
    for (size_t i = 0; i < size; ++i) ::new (static_cast<void*>(data_ + i)) T(value);
    return true;
  }

  size_t size() const { return size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::span<T> span() { return {data_, size_}; }
  std::span<const T> span() const { return {data_, size_}; }

 private:
  static constexpr size_t kAlignment = alignof(T) > 64 ? alignof(T) : 64;

  void Free() {
    if (data_ != nullptr) allocator_.release(allocator_.user, data_, size_ * sizeof(T), kAlignment);
    data_ = nullptr;
    size_ = 0;
  }

  Allocator allocator_;
  T* data_ = nullptr;
  size_t size_ = 0;
};

/// Makes a T in the allocator's memory; null if the allocator fails.
template <class T, class... Args>
T* NewObject(const Allocator& allocator, Args&&... args) {
  void* memory = allocator.allocate(allocator.user, sizeof(T), alignof(T));
  return memory == nullptr ? nullptr : ::new (memory) T(std::forward<Args>(args)...);
}

/// Destroys an object made by NewObject; ignores null.
template <class T>
void DeleteObject(const Allocator& allocator, T* object) {
  if (object == nullptr) return;
  object->~T();
  allocator.release(allocator.user, object, sizeof(T), alignof(T));
}

}  // namespace plush
