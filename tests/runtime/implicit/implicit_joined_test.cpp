// SPDX-License-Identifier: MIT
// Springs between bodies of both solvers: each keeps its own (implicit_island.cpp).
#include "plush/solver.h"

#include "reference/trajectory.h"
#include "runtime/implicit/hung_bar.h"
#include "runtime/state/state_scene.h"
#include "runtime/world/heap_counter.h"
#include "runtime/world/threaded_jobs.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;
using reference::Trajectory;

namespace implicit_joined_test {

constexpr float kDt = 0.01f;

BodySolver SolverFor(bool is_implicit) {
  return is_implicit ? ImplicitSolver() : SplittingSolver();
}

// Bars that springs join at their ends, one after the other. The first one hangs by a spring.
struct Chain {
  Chain(const WorldDesc& desc, uint32_t seed)
      : shape(TetBox(5, 2, 2, 0.1, 0.08, seed), {3.0e5, 0.33, 1000.0}, double(kDt)), world(desc) {
    const std::vector<Vec3> rest = shape.rest();
    for (uint32_t i = 0; i < rest.size(); ++i) {
      if (rest[i].x < rest[first].x) first = i;
      if (rest[i].x > rest[last].x) last = i;
    }
  }
  void Add(const BodySolver& solver, float stiffness, bool hangs = true) {
    const std::vector<Vec3> rest = shape.rest();
    BodyDesc desc;
    desc.solver = &solver;
    if (!ids.empty()) end = end + rest[last] - rest[first];
    desc.pose.position = end;
    ids.push_back(AddBody(&world, shape.asset(), desc));
    AttachmentDesc spring;
    spring.stiffness = stiffness;
    spring.damping = 0.01f * stiffness;
    spring.weights = spring.other_weights = {1.0f, 0.0f, 0.0f, 0.0f};
    spring.nodes[0] = first;
    spring.body = ids.back();
    if (ids.size() > 1) {
      spring.other_body = ids[ids.size() - 2];
      spring.other_nodes[0] = last;
    } else {
      spring.target = rest[first];
    }
    AttachmentId id;
    if (ids.size() > 1 || hangs) REQUIRE(world.Attach(spring, &id).ok());
  }
  Points Nodes() const {
    const auto n = static_cast<Eigen::Index>(shape.num_nodes());
    Points all(3, n * static_cast<Eigen::Index>(ids.size()));
    for (size_t k = 0; k < ids.size(); ++k) {
      all.middleCols(n * static_cast<Eigen::Index>(k), n) =
          ToEigen(PositionsOf(world, ids[k], shape.num_nodes()));
    }
    return all;
  }
  Trajectory Run(int steps) {
    Trajectory out(Nodes());
    for (int step = 0; step < steps; ++step) {
      REQUIRE(StepWorld(&world, kDt) == kStepOk);
      out.Add(Nodes());
    }
    return out;
  }

  ShapeAsset shape;
  World world;
  std::vector<BodyId> ids;
  Vec3 end;
  uint32_t first = 0, last = 0;
};

// The momentum that implicit islands restore must not undo an impact.
TEST_CASE("What a collider gives two implicit bodies on a spring is what they gain") {
  Chain chain(Awake(), 4);
  for (int k = 0; k < 2; ++k) chain.Add(ImplicitSolver(), 1.0e6f, false);
  const ColliderId floor = AddPlane(&chain.world, {{0.0f, 1.0f, 0.0f}, -0.1f});
  const auto momentum = [&] {
    double sum = 0.0;
    for (const BodyId id : chain.ids) sum += MomentsOf(chain.world, id).linear_momentum[1];
    return sum;
  };
  double mass = 0.0;
  for (const BodyId id : chain.ids) mass += MomentsOf(chain.world, id).mass;
  double before = momentum(), most = 0.0;
  int impacts = 0;
  for (int step = 0; step < 60; ++step) {
    CAPTURE(step);
    StepWorld(&chain.world, kDt);
    Reaction reaction;
    REQUIRE(chain.world.ColliderReaction(floor, &reaction).ok());
    const double after = momentum(), given = -double(reaction.force.y) * double(kDt);
    CHECK(after - before == Approx(given - mass * 9.81 * double(kDt)).margin(1e-3 * mass));
    impacts += given > mass * 0.1;
    most = std::max(most, given);
    before = after;
  }
  CAPTURE(most, mass);
  CHECK(impacts > 3);
}

TEST_CASE("Bodies of both solvers on springs move as with either", "[long]") {
  const uint32_t seed = GENERATE(range(1u, 4u));
  const float stiffness = GENERATE(10.0f, 1.0e3f, 1.0e6f);
  const bool begins_implicit = GENERATE(false, true);
  const auto run = [&](const BodySolver& a, const BodySolver& b) {
    Chain chain(Awake(), seed);
    chain.Add(a, stiffness);
    chain.Add(b, stiffness);
    return chain.Run(40);
  };
  const BodySolver many = SplittingSolver({.outer_iterations = 64}), implicit = ImplicitSolver();
  const Trajectory mixed = run(SolverFor(begins_implicit), SolverFor(!begins_implicit));
  const double of_implicit = reference::TrajectoryError(mixed, run(implicit, implicit));
  const double of_splitting = reference::TrajectoryError(mixed, run(many, many));
  CAPTURE(seed, stiffness, begins_implicit, of_implicit, of_splitting);
  CHECK(of_implicit < 4e-3);
  CHECK(of_splitting < 4e-3);
}

TEST_CASE("An implicit body that a spring joins to one of splitting keeps its solver") {
  const auto hang = [](const BodySolver& upper, const BodySolver& lower) {
    Chain chain(Awake(), 5);
    chain.Add(upper, 1.0e4f);
    chain.Add(lower, 1.0e4f);
    uint32_t iterations = 0;
    for (int step = 0; step < 20; ++step) {
      StepWorld(&chain.world, kDt);
      iterations += chain.world.stats().linear_iterations;
    }
    return iterations;
  };
  CHECK(hang(SplittingSolver(), ImplicitSolver()) > 0);
  CHECK(hang(ImplicitSolver(), SplittingSolver()) > 0);
  CHECK(hang(SplittingSolver(), SplittingSolver()) == 0);
}

TEST_CASE("Free bodies of both solvers on springs keep their momenta") {
  const uint32_t seed = GENERATE(range(1u, 4u));
  const float stiffness = GENERATE(10.0f, 1.0e4f, 1.0e8f);
  WorldDesc desc = Awake();
  desc.gravity = {};
  Chain chain(desc, seed);
  for (int k = 0; k < 3; ++k) chain.Add(SolverFor(k == 1), stiffness, false);
  std::vector<Vec3> thrown = chain.shape.rest();
  for (Vec3& v : thrown) v = Vec3{0.0f, 1.0f, 0.3f} + Vec3{-v.y, v.x, 0.0f};  // and turns
  REQUIRE(chain.world.SetNodeVelocities(chain.ids[0], thrown).ok());
  const auto momentum = [&] {
    Eigen::Vector3d sum = Eigen::Vector3d::Zero();
    for (const BodyId id : chain.ids) {
      sum += Eigen::Map<const Eigen::Vector3d>(MomentsOf(chain.world, id).linear_momentum);
    }
    return sum;
  };
  const Eigen::Vector3d before = momentum();
  chain.Run(60);
  CAPTURE(seed, stiffness);
  CHECK((momentum() - before).norm() < 1e-6 * before.norm());
}

TEST_CASE("Chains of both solvers give the same bits for every number of threads", "[long]") {
  const auto hash_of = [](uint32_t num_threads) {
    ThreadedJobs jobs = {num_threads};
    WorldDesc desc = Awake();
    desc.jobs = jobs.system();
    Chain chain(desc, 7);
    AddPlane(&chain.world, {.offset = -0.4f});
    for (int k = 0; k < 5; ++k) chain.Add(SolverFor(k % 2 == 1), 1.0e4f);
    chain.Run(60);
    return chain.world.StateHash();
  };
  const uint64_t expected = hash_of(1);
  for (uint32_t threads = 2; threads <= 4; ++threads) CHECK(hash_of(threads) == expected);
}

TEST_CASE("Steps of joined bodies of both solvers take no memory, however they came to be joined") {
  const int way = GENERATE(0, 1, 2);  // springs before solvers, after them, or from a state
  CountingMemory memory;
  WorldDesc desc = Awake();
  desc.allocator = memory.allocator();
  Chain chain(desc, 9);
  for (int k = 0; k < 3; ++k) chain.Add(SolverFor(way != 0 && k == 1), 1.0e4f);
  if (way == 0) REQUIRE(chain.world.SetSolver(chain.ids[1], ImplicitSolver()).ok());
  StepWorld(&chain.world, kDt);
  World other(desc);
  if (way == 2) {
    const std::vector<std::byte> state = SavedState(chain.world);
    const Asset* const assets[] = {&chain.shape.asset()};
    const SolverMethod* const solvers[] = {&kImplicitMethod};
    REQUIRE(other.LoadState(state, assets, solvers).ok());
  }
  World* const world = way == 2 ? &other : &chain.world;
  if (way == 2) StepWorld(&chain.world, kDt);
  StepWorld(world, kDt);
  CHECK(world->StateHash() == chain.world.StateHash());
  const uint64_t requests = memory.requests(), heap = HeapAllocations();
  for (int step = 0; step < 30; ++step) StepWorld(world, kDt);
  CHECK(world->stats().linear_iterations > 0);
  CHECK(memory.requests() == requests);
  CHECK(HeapAllocations() == heap);
}

}  // namespace implicit_joined_test
