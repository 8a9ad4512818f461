// SPDX-License-Identifier: MIT
// Checks of the numbers of a saved state. Loops have no branches, so that compilers can use
// vectors.
#pragma once

#include "plush/body.h"
#include "plush/status.h"

#include "state/state_format.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace plush {

/// The error for a wrong number in a section of the state, at an element of it.
inline Status Corrupt(const char* section, const char* reason, uint64_t index = 0) {
  return {StatusCode::kCorrupt, section, reason, index};
}

inline SplittingSettings SplittingOf(const StateBody& body) {
  return {body.outer_iterations, body.volume_sweeps, body.polar_iterations};
}

inline StatePoint PointAt(const std::byte* points, size_t index) {
  StatePoint point;
  std::memcpy(&point, points + sizeof(point) * index, sizeof(point));
  return point;
}

inline uint32_t WordAt(const std::byte* words, size_t index) {
  uint32_t word;
  std::memcpy(&word, words + 4 * index, 4);
  return word;
}

template <size_t kCount>
bool AreFinite(const float (&values)[kCount]) {
  for (const float value : values) {
    if (!std::isfinite(value)) return false;
  }
  return true;
}

/// Whether all of `count` floats are finite.
inline bool AreFinite(const std::byte* floats, size_t count) {
  // The exponent of infinities and NaNs has only ones: adding one carries into the sign.
  uint32_t carries = 0;
  for (size_t i = 0; i < count; ++i) {
    carries |= (WordAt(floats, i) & 0x7fffffffu) + 0x00800000u;
  }
  return carries >> 31 == 0;
}

/// Marks the lanes in which one of `count` groups of 16 rotations (count x 4 x 16) is not about a
/// unit quaternion. The search for rotations need not end if it starts from others.
inline void MarkWrongRotations(const std::byte* groups, size_t count, uint32_t (&wrong)[16]) {
  for (size_t i = 0; i < count; ++i, groups += sizeof(float) * 4 * 16) {
    for (size_t lane = 0; lane < 16; ++lane) {
      float length2 = 0.0f;
      for (size_t k = 0; k < 4; ++k) {
        const float q = std::bit_cast<float>(WordAt(groups, 16 * k + lane));
        length2 += q * q;
      }
      wrong[lane] |= length2 > 0.5f && length2 < 2.0f ? 0u : 1u;
    }
  }
}

/// The most by which a coordinate of a body may differ from zero, so that world positions are
/// finite as float, for the three axes; as the bits of a float.
struct CoordinateLimit {
  uint32_t bits[3];
};

inline CoordinateLimit LimitOf(const double (&origin)[3], float scale) {
  constexpr double kMost = std::numeric_limits<float>::max();
  CoordinateLimit limit = {};
  for (int k = 0; k < 3; ++k) {
    const double most = (kMost - std::fabs(origin[k])) / double(scale);
    limit.bits[k] = std::bit_cast<uint32_t>(static_cast<float>(most < kMost ? most : kMost));
  }
  return limit;
}

/// Whether the first three of each four floats are within the limit.
inline bool AreWithin(const std::byte* vectors, size_t count, const CoordinateLimit& limit) {
  uint32_t beyond[3] = {};
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      beyond[k] |= limit.bits[k] - (WordAt(vectors, 4 * i + k) & 0x7fffffffu);
    }
  }
  return (beyond[0] | beyond[1] | beyond[2]) >> 31 == 0;
}

/// Whether a coefficient of contacts is in [0, most], or -1: not given.
inline bool IsCoefficient(float value, float most) {
  return value == -1.0f || (value >= 0.0f && value <= most);
}
inline constexpr float kMostCoefficient = std::numeric_limits<float>::max();

/// Whether a body can be placed so.
inline bool IsPose(const StatePose& pose) {
  const Vec3 p = {pose.position[0], pose.position[1], pose.position[2]};
  double length2 = 0.0;
  for (const float q : pose.rotation) length2 += double(q) * double(q);
  return IsPosition(p) && length2 > 0.0 && std::isfinite(length2);
}

inline Pose ToPose(const StatePose& pose) {
  return {{pose.position[0], pose.position[1], pose.position[2]},
          {pose.rotation[0], pose.rotation[1], pose.rotation[2], pose.rotation[3]}};
}

}  // namespace plush
