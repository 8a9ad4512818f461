// SPDX-License-Identifier: MIT
// Extents along x, y, z and the four diagonals of a cube: the volumes of the tree over the tets.
#pragma once

#include "plush/types.h"

#include "base/float4.h"

#include <cmath>

namespace plush {

/// Extents along x, y, z, (1,1,1), (1,1,-1), (1,-1,1), (-1,1,1), and along x once more [m].
struct Dop14 {
  float low[8];
  float high[8];
};

/// A value for each direction of a Dop14.
struct DopLanes {
  Float4 first;   ///< x, y, z, (1,1,1)
  Float4 second;  ///< (1,1,-1), (1,-1,1), (-1,1,1), x
};

/// dot(direction, p), each with at most two roundings.
inline DopLanes Project(const Vec3& p) {
  return {Float4{p.x, p.y, p.z, p.x + p.y + p.z},
          Float4{p.x + p.y - p.z, p.x - p.y + p.z, p.y - p.x + p.z, p.x}};
}

/// |x| + |y| + |z|: no less than the length of p's projection on any of the directions.
inline float SumNorm(const Vec3& p) { return std::fabs(p.x) + std::fabs(p.y) + std::fabs(p.z); }

inline DopLanes LoadLanes(const float* from) { return {Load4(from), Load4(from + 4)}; }

inline void StoreLanes(const DopLanes& lanes, float* to) {
  Store4(lanes.first, to);
  Store4(lanes.second, to + 4);
}

}  // namespace plush
