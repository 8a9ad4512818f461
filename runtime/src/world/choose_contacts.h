// SPDX-License-Identifier: MIT
// Which of the contacts that a search found between two bodies act.
#pragma once

#include "body/body.h"
#include "contact/body_contacts.h"
#include "intersection/pair_contacts.h"
#include "world/touching_bodies.h"

#include <cstdint>
#include <span>

namespace plush {

/// Greatest gap at which a contact stays though its region has vanished [sizes of the smaller
/// body].
inline constexpr float kMostGap = 2.0e-3f;

/// The size of the smaller body [m].
inline float SizeOf(const Body& a, const Body& b) {
  return a.size * a.scale < b.size * b.scale ? a.size * a.scale : b.size * b.scale;
}

// What a search finds changes by as much as the bodies move relative to each other.
/// How far that may be, besides their travel since the pair was searched [m].
inline double WayOf(const Body& a, const Body& b) {
  return a.searched.WayNow() + b.searched.WayNow();
}
/// A component of their travel [m].
inline double TravelOf(const Body& a, const Body& b, int k) {
  return a.searched.TravelNow(k) - b.searched.TravelNow(k);
}

/// A contact between bodies predicted to Body::y.
struct Meeting {
  const Body &a, &b;

  /// From the second body's point to the first's [m].
  Vec3 Way(const EmbeddedPoint& of_a, const EmbeddedPoint& of_b) const {
    const Vec3 base = {static_cast<float>(a.origin[0] - b.origin[0]),
                       static_cast<float>(a.origin[1] - b.origin[1]),
                       static_cast<float>(a.origin[2] - b.origin[2])};
    return of_a.Of(a.y.span()) - of_b.Of(b.y.span()) + base;
  }
};

/// Two contacts are one if they are nearer than these lengths [m].
struct ContactLengths {
  float spacing;  ///< of two contacts: the same few nodes would carry a nearer one
  float slip;     ///< of a contact's two points along the surface
  float deeper;   ///< than a contact: then one near it counts, too
};

/// Of contacts nearer to each other than the spacing keeps one. A contact that carried load goes on
/// at its own points while a found one is near it: if it jumped to that one's, the body would rock
/// for ever. Then come the deepest of the others. Sorts `found`. `past`: of the step before.
/// `places`: memory for as many as are found.
void ChooseContacts(const ContactLengths& lengths, const Meeting& meeting,
                    std::span<PairContact> found, std::span<const PastContact> past,
                    std::span<Vec3> places, ChosenContacts* chosen);

/// The contact of the step before that is nearest to a new one, at most `reach` away on both bodies
/// [m], and is not in `taken`; it then is. Null if there is none.
const PastContact* NearestPast(std::span<const PastContact> past, const Meeting& meeting,
                               const BodyContact& contact, float reach, uint64_t* taken);

}  // namespace plush
