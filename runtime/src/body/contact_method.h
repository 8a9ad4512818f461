// SPDX-License-Identifier: MIT
// What a step calls in place of its own contact.
#pragma once

#include "body/body.h"
#include "contact/body_contacts.h"

#include <cstdint>

namespace plush {

struct ContactMethod {
  uint32_t number;  ///< in saved states; never changes, 0 is contact in the solve
  /// Places the planes for substep `k` of `count`.
  void (*place_planes)(const StepSettings& settings, int k, int count, Body* body);
  /// Changes positions or velocities before a substep of `h` seconds, or null.
  void (*push)(const StepSettings& settings, float h, Body* body);
  /// Moves nodes of `body->y` at the end of a substep, or null.
  void (*correct)(const StepSettings& settings, float h, Body* body);
  /// The same for a contact between two bodies, which has begun the substep. `push_between` comes
  /// before `push` and may add to MovedNodes::shifts, which are Body::d.
  void (*push_between)(const StepSettings& settings, float h, BodyContact* contact);
  void (*correct_between)(const StepSettings& settings, float h, BodyContact* contact);
  /// Whether corrections follow each outer iteration, too.
  bool corrects_iterates;
};

/// Whether contact is part of the solve.
inline bool SolvesContact(const StepSettings& settings) {
  return settings.contact.method == nullptr;
}

inline uint32_t NumberOf(const ContactMethod* method) {
  return method != nullptr ? method->number : 0;
}

}  // namespace plush
