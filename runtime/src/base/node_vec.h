// SPDX-License-Identifier: MIT
// The solver's vector per node, in 16 bytes, so that one load reads all of it.
#pragma once

#include "plush/types.h"

#include <cstddef>
#include <span>
#include <type_traits>

namespace plush {

/// A vector and one more number, aligned for vector loads. Arrays over nodes have one spare element
/// after the last node. Places without a tet or row read and write it.
struct alignas(16) NodeVec : Vec3 {
  float w = 0.0f;

  NodeVec() : Vec3{} {}
  NodeVec(const Vec3& v, float fourth) : Vec3(v), w(fourth) {}
  /// Keeps w.
  NodeVec& operator=(const Vec3& v) {
    x = v.x;
    y = v.y;
    z = v.z;
    return *this;
  }
};
static_assert(sizeof(NodeVec) == 16);

/// Read-only positions or other vectors of nodes, of 12 or 16 bytes each.
class NodeVectors {
 public:
  NodeVectors() = default;
  /// From a span, vector or array.
  template <class Range>
  requires std::is_convertible_v<const Range&, std::span<const Vec3>> NodeVectors(
      const Range& range)
      : NodeVectors(std::span<const Vec3>(range), sizeof(Vec3)) {}
  template <class Range>
  requires std::is_convertible_v<const Range&, std::span<const NodeVec>> NodeVectors(
      const Range& range)
      : NodeVectors(std::span<const NodeVec>(range), sizeof(NodeVec)) {}

  const Vec3& operator[](size_t i) const {
    return *reinterpret_cast<const Vec3*>(reinterpret_cast<const std::byte*>(first_) + bytes_ * i);
  }
  size_t size() const { return size_; }  ///< including the spare element, if there is one

 private:
  template <class T>
  NodeVectors(std::span<const T> v, size_t bytes)
      : first_(v.data()), size_(v.size()), bytes_(bytes) {}

  const void* first_ = nullptr;
  size_t size_ = 0;
  size_t bytes_ = sizeof(Vec3);
};

}  // namespace plush
