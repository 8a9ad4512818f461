// SPDX-License-Identifier: MIT
// Rounds of sweeps: no two jobs change one body, and each pair of groups meets once.
#include "contact/sweep_rounds.h"

#include "runtime/contact/random_contacts.h"

#include <catch2/catch.hpp>

#include <map>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace {

// Bodies of a solve, in random groups.
struct GroupedBodies {
  std::vector<ContactState> states;
  std::vector<ContactSolve> solves;

  GroupedBodies(size_t count, bool in_groups, Random* random) : states(count), solves(count) {
    for (size_t i = 0; i < count; ++i) {
      states[i].group = in_groups ? random->Below(kSweepGroups) : 0;
      solves[i].state = &states[i];
      solves[i].next = i + 1 < count ? &solves[i + 1] : nullptr;
    }
  }
};

}  // namespace

TEST_CASE("A sweep visits each body once in each round, in the order of the solve") {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const bool in_groups = seed % 4 != 0;
    GroupedBodies bodies(1 + random.Below(60), in_groups, &random);
    bool any = false;
    for (const ContactState& state : bodies.states) any = any || state.group > 0;
    std::vector<uint32_t> rounds(bodies.solves.size(), 0);
    std::vector<size_t> last(kSweepGroups, 0);
    SweepRounds(bodies.solves.data()).ForEach(nullptr, [&](ContactSolve* of, uint32_t round) {
      const size_t i = static_cast<size_t>(of - bodies.solves.data());
      CHECK(round == rounds[i]++);
      size_t& before = last[of->state->group];
      CHECK((i >= before || round > 0));
      before = i;
    });
    for (const uint32_t count : rounds) CHECK(count == (any ? kSweepGroups : 1));
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
      for (const uint32_t changed : {group, other}) {
        CHECK(seen.job_of_group.emplace(changed, seen.job).first->second == seen.job);
      }
      ++met[group][other];
    });
    CHECK(seen.num_runs == kSweepGroups);
    for (uint32_t a = 0; a < kSweepGroups; ++a) {
      uint32_t count = 0;
      for (const ContactState& state : bodies.states) count += state.group == a ? 1 : 0;
      for (uint32_t b = 0; b < kSweepGroups; ++b) CHECK(met[a][b] == count);
    }
  }
}
