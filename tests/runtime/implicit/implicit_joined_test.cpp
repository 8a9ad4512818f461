// SPDX-License-Identifier: MIT
// Springs between bodies of both solvers: each keeps its own (implicit_island.cpp).
#include "plush/solver.h"

#include "reference/trajectory.h"
#include "runtime/implicit/hung_bar.h"

#include <catch2/catch.hpp>

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
    BodyDesc desc = {.solver = &solver};
    if (!ids.empty()) end = end + rest[last] - rest[first];
    desc.pose.position = end;
    ids.push_back(AddBody(&world, shape.asset(), desc));
    AttachmentDesc spring = {.stiffness = stiffness, .damping = 0.01f * stiffness};
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

}  // namespace implicit_joined_test
