// SPDX-License-Identifier: MIT
// Contacts between two bodies, solved in the same sweeps as contacts with colliders.
//
// A row has two points, one on each body. An impulse p on the first one and -p on the second move
// the way between them by (S_aa + S_bb) p: both bodies' matrices are scalar, so one number holds
// for the three axes, as it does against a collider (plane_contacts.h).
#pragma once

#include "plush/types.h"

#include "collision/double_vector.h"
#include "contact/plane_contacts.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace plush {

/// A contact of two bodies, in the world's units.
struct BodyContact {
  struct Side {
    ContactState* of = nullptr;
    EmbeddedPoint point;
    uint32_t triangle = 0;     ///< of the collision surface
    float u = 0.0f, v = 0.0f;  ///< barycentric weights of its second and third corners
    uint32_t slot = 0;         ///< of the point in of->couplings, unless the body is static
    Vec3 place;                ///< of NotePlaces, in the body's coordinates [m]
    CoarsePoint coarse;

    /// Where the point is, in its body's coordinates [m], if solves have moved the nodes to `nodes`
    /// at the time `time` [s] of the step.
    DoubleVector At(float time, std::span<const NodeVec> nodes) const {
      DoubleVector at = {};
      for (int k = 0; k < 4; ++k) {
        at = at + InDouble(nodes[point.nodes[k]]) * double(point.weights[k]);
      }
      return of->is_carried ? at + InDouble(point.Of(of->v) * time) : at;
    }
  };
  Side sides[2];
  /// The normal points out of the second body. The impulse is that on the first one. Its slot,
  /// collider, face and plane.offset have no meaning.
  PlaneContact row;
  Vec3 force;                ///< on the first body: before the step, then in its last substep [N]
  float pressed = 0.0f;      ///< impulse along the normal in the step so far [N s]
  float restitution = 0.0f;  ///< of the two bodies there
  Rebound* owed = nullptr;   ///< what an impact of the two still asks for
  float begin = 0.0f, end = 0.0f;  ///< of the substep, from the start of the step [s]
  /// Depth at which the bodies rest on each other [m]. Were it 0, the surfaces would part at every
  /// tremble, and so the contact would be lost.
  float rest = 0.0f;
  // Which contacts have room (world/contact_room.cpp).
  uint32_t number = 0;  ///< of those that the step has found
  float gap = 0.0f;     ///< along the normal where the search looked; negative: overlap [m]

  /// From the point of the second body to that of the first [m], at the start of the substep and
  /// of the current iterate. In double: in float, a small body far from the origin of a large one
  /// would tremble.
  DoubleVector WayAtStart() const { return Way(begin, &ContactState::x); }
  DoubleVector WayNow() const { return Way(end, &ContactState::y); }
  DoubleVector Way(float time, std::span<const NodeVec> ContactState::*nodes) const {
    const auto at = [&](const Side& side) {
      return side.At(time, side.of->*nodes) * double(side.of->scale);
    };
    const double *a = sides[0].of->origin, *b = sides[1].of->origin;
    return DoubleVector{a[0] - b[0], a[1] - b[1], a[2] - b[2]} + (at(sides[0]) - at(sides[1]));
  }
  /// How fast the points approach along the normal, with the velocities of the bodies' states
  /// [m/s].
  float ApproachSpeed() const {
    const auto speed = [&](const Side& side) { return side.point.Of(side.of->v) * side.of->scale; };
    return -Dot(row.plane.normal, speed(sides[0]) - speed(sides[1]));
  }
  /// The side whose body cares for the contact outside solves: the first one that can move.
  uint32_t Owner() const { return sides[0].of->is_static ? 1 : 0; }
  /// An impulse of the row on one side, in that body's units [kg m].
  Vec3 Own(uint32_t side, const Vec3& impulse) const {
    const float s = sides[side].of->scale;
    return impulse * ((side == 0 ? 1.0f : -1.0f) / (s * s * s * s));
  }
  /// The side whose body's turn it is to change the row: the first one that takes part in the
  /// solve.
  uint32_t Lead() const { return sides[0].of->in_solve ? 0 : 1; }
  /// Whether both bodies take part in the solve or cannot move.
  bool Acts() const {
    const auto may = [](const Side& side) { return side.of->in_solve || side.of->is_static; };
    return may(sides[0]) && may(sides[1]) && sides[Lead()].of->in_solve;
  }
};

/// The least thickness of two bodies [m]; 0 if both are unknown.
inline float ThinnerOf(const ContactState& a, const ContactState& b) {
  const bool takes_a = a.thickness > 0.0f && (a.thickness < b.thickness || b.thickness == 0.0f);
  return takes_a ? a.thickness : b.thickness;
}

inline bool ContactState::IsMoved() const {
  return std::ranges::any_of(between, [](const BodyContactSide& at) {
    const ContactState& other = *at.contact->sides[1 - at.side].of;
    return other.in_solve && other.moves;
  });
}

/// Begins the substep from `begin` to `end` [s] for a contact: its bodies' x and origins are known.
void BeginSubstep(float begin, float end, BodyContact* contact);

/// Sets the row's `offset`, for sweeps from its bodies' y.
void FindOffset(BodyContact* contact);

}  // namespace plush
