// SPDX-License-Identifier: MIT
// What the solvers of an island share: a walk over its bodies, and their joint coarse correction.
#pragma once

#include "base/shared_list.h"
#include "body/substep.h"

namespace plush {

inline StepSettings OwnSettings(const StepSettings& of_world, const Body& body) {
  StepSettings own = of_world;
  own.splitting = body.splitting;
  return own;
}

inline bool Moves(const Body& body) { return !body.fixed && !body.frozen; }

/// Calls visit(body, its settings, its statistics) for the bodies of an island that move.
template <class Visit>
void ForMoving(const StepSettings& of_world, Body* first, StepStats* stats, const Visit& visit) {
  for (Body* body = first; body != nullptr; body = body->next_of_island) {
    if (body->Steps() && Moves(*body)) {
      visit(body, OwnSettings(of_world, *body), &stats[body->slot]);
    }
  }
}

/// The same on several threads, if the island has any. Visits must not depend on each other.
template <class Visit>
void ShareMoving(const StepSettings& of_world, Body* first, StepStats* stats, const Visit& visit) {
  ForShared(of_world.jobs, first, &Body::next_of_island, [&](Body* body) {
    if (!body->Steps() || !Moves(*body)) return;
    StepSettings own = OwnSettings(of_world, *body);
    own.jobs = nullptr;  // no jobs from inside a job
    visit(body, own, &stats[body->slot]);
  });
}

/// Puts elements at the end of a list.
template <class T>
struct Chain {
  T *first = nullptr, *last = nullptr;

  void Add(T* element) {
    element->next = nullptr;
    (first == nullptr ? first : last->next) = element;
    last = element;
  }
};

/// Moves the clusters of those bodies of an island that owe a coarse correction, in substep `k` of
/// `count`. Its bodies touch each other, or springs join them.
void CorrectJointly(const StepSettings& of_world, int k, int count, Body* first, StepStats* stats);

}  // namespace plush
