// SPDX-License-Identifier: MIT
// Which contacts threads may sweep at once.
//
// A change of an impulse moves all points of both bodies. So threads sweep contacts at once only if
// these have no body in common. The bodies of a large pile are in eight groups, by place. In round
// r, group g meets group g XOR r, and in round 0 itself. So all groups meet in eight rounds, and
// none meets two others at once. The order of a sweep follows from the groups, not from threads.
#pragma once

#include "plush/jobs.h"

#include "contact/plane_contacts.h"

#include <cstdint>

namespace plush {

/// The bodies of a solve by round and group, once BeginSolve has noted who leads. T: ContactSolve
/// or CoarseContacts.
template <class T>
class SweepRounds {
 public:
  explicit SweepRounds(T* first) {
    T* last[kSweepGroups][kSweepGroups] = {};
    for (T* of = first; of != nullptr; of = of->next) {
      const uint32_t group = of->state != nullptr ? of->state->group : 0;
      if (group > 0) num_groups_ = kSweepGroups;
      for (uint32_t round = 0; round < kSweepGroups; ++round) {
        if (round > 0 && (of->state == nullptr || !of->state->LeadsIn(round))) continue;
        T*& before = last[round][group];
        (before == nullptr ? first_[round][group] : before->next_of_round[round]) = of;
        of->next_of_round[round] = nullptr;
        before = of;
      }
    }
  }

  /// Calls visit(element, round) in round 0 once for each body, then in those in which the body
  /// leads a contact, on the threads of `jobs`, or on the caller's if it is null. A visit may
  /// change its body, and those that it touches in that round.
  template <class Visit>
  void ForEach(const JobSystem* jobs, const Visit& visit) const {
    struct Context {
      const SweepRounds& rounds;
      const Visit& visit;
      uint32_t round;
    } context = {*this, visit, 0};
    const JobFunction meet = [](void* user, uint32_t group) {
      const Context& c = *static_cast<const Context*>(user);
      const uint32_t other = group ^ c.round;
      if (other < group) return;
      c.rounds.ForGroup(group, c.round, c.visit);
      if (other != group) c.rounds.ForGroup(other, c.round, c.visit);
    };
    for (; context.round < num_groups_; ++context.round) {
      if (jobs != nullptr && num_groups_ > 1) {
        jobs->run(jobs->user, kSweepGroups, meet, &context);
      } else {
        for (uint32_t group = 0; group < num_groups_; ++group) meet(&context, group);
      }
    }
  }

 private:
  template <class Visit>
  void ForGroup(uint32_t group, uint32_t round, const Visit& visit) const {
    for (T* of = first_[round][group]; of != nullptr; of = of->next_of_round[round]) {
      visit(of, round);
    }
  }

  T* first_[kSweepGroups][kSweepGroups] = {};  // by round and group
  uint32_t num_groups_ = 1;                    // or kSweepGroups
};

}  // namespace plush
