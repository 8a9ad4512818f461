// SPDX-License-Identifier: MIT
// Vectors of nodes and clusters in lanes.
#pragma once

#include "base/float4.h"
#include "base/node_vec.h"

namespace plush {

inline Float4 Load(const NodeVec& v) { return Load4(&v.x); }
inline Float4 Lanes(const Vec3& v) { return Float4{v.x, v.y, v.z, 0.0f}; }
inline Float4 Turned(Float4 v) { return Shuffle<1, 2, 0, 3>(v, v); }

}  // namespace plush
