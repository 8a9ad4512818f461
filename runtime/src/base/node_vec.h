// SPDX-License-Identifier: MIT
// What the solver keeps of each node: a vector in 16 bytes, so that one load takes a whole one.
#pragma once

#include "plush/types.h"

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

}  // namespace plush
