// SPDX-License-Identifier: MIT
// Value types of the public interface. They have the memory layout of the baked file.
//
// Units in all of Plush: metres, kilograms, seconds, pascals; right-handed coordinates.
#pragma once

#include <cstdint>

namespace plush {

/// Two floats: texture coordinates.
struct Vec2 {
  float x = 0.0f;
  float y = 0.0f;
};

/// Three floats: a position [m], a velocity [m/s], a unit normal.
struct Vec3 {
  float x = 0.0f;
  float y = 0.0f;
  float z = 0.0f;
};

/// Four floats: barycentric weights of a point in a tet, for its nodes a, b, c, d.
struct Vec4 {
  float x = 0.0f;
  float y = 0.0f;
  float z = 0.0f;
  float w = 0.0f;
};

/// Unit quaternion x i + y j + z k + w; the default is the identity rotation.
struct Quat {
  float x = 0.0f;
  float y = 0.0f;
  float z = 0.0f;
  float w = 1.0f;
};

/// Column-major 3x3 matrix: c0, c1, c2 are its columns.
struct Mat3 {
  Vec3 c0;
  Vec3 c1;
  Vec3 c2;
};

/// Node indices of a tetrahedron, det(x_b - x_a, x_c - x_a, x_d - x_a) > 0 at rest.
struct Tet {
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  uint32_t d = 0;
};

/// A rigid placement: rotation about the rest coordinates' origin, then translation.
struct Pose {
  Vec3 position = {};  ///< [m]
  Quat rotation = {};  ///< unit; normalised on use
};

/// A body of one World. A World never gives out an id twice.
struct BodyId {
  uint32_t value = UINT32_MAX;
  bool valid() const { return value != UINT32_MAX; }
};

/// In place of a triangle of the collision surface: no hit, or no neighbour at an open border.
inline constexpr uint32_t kNoTriangle = UINT32_MAX;

}  // namespace plush
