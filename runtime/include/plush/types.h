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

/// Names an object of one World; the default names none. A World never gives out an id twice,
/// except after World::LoadState.
/// - Bits 0..23 are the object's slot, bits 24..47 count the uses of that slot from 1 on, and bits
///   48..63 are WorldDesc::tag.
/// - Copies freely, on any thread. May be stored, and passed to a world after the object is gone:
///   the call then fails with kStaleId.
template <class Tag>
struct Id {
  uint64_t value = 0;

  /// Whether it names an object, which may have been removed since.
  bool valid() const { return value != 0; }
  bool operator==(const Id&) const = default;
};

using BodyId = Id<struct BodyTag>;              ///< a body
using ColliderId = Id<struct ColliderTag>;      ///< a collider
using AttachmentId = Id<struct AttachmentTag>;  ///< an attachment
using ConstraintId = Id<struct ConstraintTag>;  ///< a constraint

/// In place of a triangle of the collision surface: no hit, or no neighbour at an open border.
inline constexpr uint32_t kNoTriangle = UINT32_MAX;

}  // namespace plush
