// SPDX-License-Identifier: MIT
// Rounds of sweeps: no two jobs change one body, and each pair of groups meets once.
#include "contact/sweep_rounds.h"

#include "runtime/contact/random_contacts.h"

#include <catch2/catch.hpp>

#include <map>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace sweep_rounds_test {

// Bodies of a solve, in random groups. They lead contacts in random rounds.
struct GroupedBodies {
  std::vector<ContactState> states;
  std::vector<ContactSolve> solves;
  std::vector<std::vector<BodyContactSide>> sides;
  std::vector<uint32_t> rounds;  // a bit for each in which the body has its turn

  GroupedBodies(size_t count, bool in_groups, Random* random)
      : states(count), solves(count), sides(count), rounds(count, 1) {
    for (size_t i = 0; i < count; ++i) {
      states[i].group = in_groups ? random->Below(kSweepGroups) : 0;
      solves[i].state = &states[i];
      solves[i].next = i + 1 < count ? &solves[i + 1] : nullptr;
      size_t ends[kSweepGroups];
      for (uint32_t round = 0; round < kSweepGroups; ++round) {
        for (uint32_t k = random->Below(3); in_groups && k > 0; --k) {
          sides[i].push_back({nullptr, 0, random->Below(2) > 0});
          if (sides[i].back().leads) rounds[i] |= 1u << round;
        }
        ends[round] = sides[i].size();
      }
      states[i].SetBetween(sides[i]);
      for (uint32_t round = 0; round < kSweepGroups; ++round) {
        states[i].later[round] = static_cast<uint32_t>(sides[i].size() - ends[round]);
      }
    }
  }
};

TEST_CASE("A sweep visits bodies once in each round with a turn, in the order of the solve") {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const bool in_groups = seed % 4 != 0;
    GroupedBodies bodies(1 + random.Below(60), in_groups, &random);
    bool any = false;
    for (const ContactState& state : bodies.states) any = any || state.group > 0;
    std::vector<uint32_t> rounds(bodies.solves.size(), 0);
    size_t next[kSweepGroups][kSweepGroups] = {};  // by round and group
    uint32_t last = 0;
    SweepRounds(bodies.solves.data()).ForEach(nullptr, [&](ContactSolve* of, uint32_t round) {
      const size_t i = static_cast<size_t>(of - bodies.solves.data());
      CHECK(round >= last);
      last = round;
      rounds[i] |= 1u << round;
      size_t& least = next[round][of->state->group];
      CHECK(i >= least);
      least = i + 1;
    });
    for (size_t i = 0; i < rounds.size(); ++i) CHECK(rounds[i] == (any ? bodies.rounds[i] : 1));
  }
}

TEST_CASE("No two jobs of a round sweep bodies that meet in it") {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    GroupedBodies bodies(80, true, &random);
    struct {
      uint32_t job = 0, num_runs = 0;
      std::map<uint32_t, uint32_t> job_of_group;  // in the current run
    } seen;
    const JobSystem jobs = {[](void* user, uint32_t count, JobFunction job, void* context) {
                              auto* of = static_cast<decltype(&seen)>(user);
                              ++of->num_runs;
                              of->job_of_group.clear();
                              for (of->job = 0; of->job < count; ++of->job) job(context, of->job);
                            },
                            &seen};
    uint32_t met[kSweepGroups][kSweepGroups] = {};
    SweepRounds(bodies.solves.data()).ForEach(&jobs, [&](ContactSolve* of, uint32_t round) {
      const uint32_t group = of->state->group, other = group ^ round;
      CHECK(round + 1 == seen.num_runs);
      for (const uint32_t changed : {group, other}) {
        CHECK(seen.job_of_group.emplace(changed, seen.job).first->second == seen.job);
      }
      ++met[group][other];
    });
    CHECK(seen.num_runs == kSweepGroups);
    uint32_t turns[kSweepGroups][kSweepGroups] = {};
    for (size_t i = 0; i < bodies.states.size(); ++i) {
      const uint32_t a = bodies.states[i].group;
      for (uint32_t b = 0; b < kSweepGroups; ++b) turns[a][b] += bodies.rounds[i] >> (a ^ b) & 1;
    }
    for (uint32_t a = 0; a < kSweepGroups; ++a) {
      for (uint32_t b = 0; b < kSweepGroups; ++b) CHECK(met[a][b] == turns[a][b]);
    }
  }
}

}  // namespace sweep_rounds_test
