// SPDX-License-Identifier: MIT
// What the solver keeps of each node: a vector in 16 bytes, so that one load takes a whole one.
#pragma once

#include "plush/types.h"

#include <cstddef>
#include <span>

namespace plush {

/// A vector and one more number, aligned for vector loads. Arrays over nodes have one spare element
/// behind the last node, which places without a tet or a row read and write.
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

/// Positions or other vectors of nodes to read, of 12 or 16 bytes each.
class NodeVectors {
 public:
  NodeVectors() = default;
  NodeVectors(std::span<const Vec3> v) : first_(v.data()), size_(v.size()), bytes_(sizeof(Vec3)) {}
  NodeVectors(std::span<const NodeVec> v)
      : first_(v.data()), size_(v.size()), bytes_(sizeof(NodeVec)) {}
  NodeVectors(std::span<NodeVec> v) : NodeVectors(std::span<const NodeVec>(v)) {}
  NodeVectors(std::span<Vec3> v) : NodeVectors(std::span<const Vec3>(v)) {}

  const Vec3& operator[](size_t i) const {
    return *reinterpret_cast<const Vec3*>(reinterpret_cast<const std::byte*>(first_) + bytes_ * i);
  }
  size_t size() const { return size_; }  ///< the spare element included where there is one

 private:
  const void* first_ = nullptr;
  size_t size_ = 0;
  size_t bytes_ = sizeof(Vec3);
};

}  // namespace plush
