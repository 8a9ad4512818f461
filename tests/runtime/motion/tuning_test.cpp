// SPDX-License-Identifier: MIT
// Bodies of a tuned asset step by what was tuned for their solver, unless their settings say
// otherwise.
#include "plush/solver.h"

#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <optional>

using namespace plush;
using namespace plush::test;

namespace tuning_test {

ShapeAsset BarWith(std::optional<tools::Tuning> tuning) {
  tools::AssetContent content = ContentOf(TetBox(6, 2, 2, 0.1, 0.01), {2.0e5, 0.35, 1000.0});
  AddClusters(3, &content);
  content.tuning = tuning;
  return ShapeAsset(tools::WriteAsset(content).value());
}

// The state of a bar that has swung from its end for 20 steps.
uint64_t HashOf(const ShapeAsset& shape, const BodySolver& solver, bool sets_later = false) {
  World world({.gravity = {0.0f, -9.81f, 0.0f}});
  std::vector<uint32_t> pins;
  const std::vector<Vec3> rest = shape.rest();
  for (uint32_t i = 0; i < rest.size(); ++i) {
    if (rest[i].x < 0.02f) pins.push_back(i);
  }
  BodyDesc desc = {.pinned_nodes = pins};
  if (!sets_later) desc.solver = &solver;
  const BodyId id = AddBody(&world, shape.asset(), desc);
  if (sets_later) REQUIRE(world.SetSolver(id, solver).ok());
  for (int step = 0; step < 20; ++step) StepWorld(&world, 0.01f);
  return world.StateHash();
}

TEST_CASE("A body takes the iterations that were tuned for its solver") {
  const ShapeAsset plain = BarWith({});
  const ShapeAsset splitting = BarWith(tools::Tuning{TunedSolver::kSplitting, 5, 0});
  const ShapeAsset implicit = BarWith(tools::Tuning{TunedSolver::kImplicit, 3, 5});
  const BodySolver five = SplittingSolver({.outer_iterations = 5});
  const BodySolver three = ImplicitSolver({.newton_iterations = 3, .linear_iterations = 5});
  const bool sets_later = GENERATE(false, true);
  CHECK(HashOf(splitting, SplittingSolver(), sets_later) == HashOf(plain, five));
  CHECK(HashOf(implicit, ImplicitSolver(), sets_later) == HashOf(plain, three));
  // They make a difference.
  CHECK(HashOf(plain, SplittingSolver()) != HashOf(plain, five));
  CHECK(HashOf(plain, ImplicitSolver()) != HashOf(plain, three));
  // Those of another solver do not count.
  CHECK(HashOf(implicit, SplittingSolver(), sets_later) == HashOf(plain, SplittingSolver()));
  CHECK(HashOf(splitting, ImplicitSolver(), sets_later) == HashOf(plain, ImplicitSolver()));
  // The body's own settings come first, each by itself.
  CHECK(HashOf(splitting, SplittingSolver({.outer_iterations = 2}), sets_later) ==
        HashOf(plain, SplittingSolver({.outer_iterations = 2})));
  CHECK(HashOf(implicit, ImplicitSolver({.newton_iterations = 2}), sets_later) ==
        HashOf(plain, ImplicitSolver({.newton_iterations = 2, .linear_iterations = 5})));
}

TEST_CASE("What is not tuned is one Newton iteration with eight of the linear solver") {
  const ShapeAsset plain = BarWith({});
  CHECK(HashOf(plain, ImplicitSolver()) ==
        HashOf(plain, ImplicitSolver({.newton_iterations = 1, .linear_iterations = 8})));
}

TEST_CASE("A crowd steps by what was tuned, as its bodies do alone") {
  const ShapeAsset shape = BarWith(tools::Tuning{TunedSolver::kSplitting, 5, 0});
  World world({.gravity = {0.0f, -9.81f, 0.0f}});
  for (int i = 0; i < 8; ++i) AddBody(&world, shape.asset());
  StepWorld(&world, 0.01f);
  CHECK(world.stats().outer_iterations == 5);
}

TEST_CASE("Constraints take a body's iterations from the tuning to the step's own plan") {
  const ShapeAsset shape = BarWith(tools::Tuning{TunedSolver::kSplitting, 1, 0});
  World world({.gravity = {0.0f, -9.81f, 0.0f}});
  const BodyId id = AddBody(&world, shape.asset());
  StepWorld(&world, 0.01f);
  CHECK(world.stats().outer_iterations == 1);
  ConstraintId constraint;
  REQUIRE(world.AddConstraint({.body = id, .target = shape.rest()[0]}, &constraint).ok());
  StepWorld(&world, 0.01f);
  CHECK(world.stats().outer_iterations == 2);
}

}  // namespace tuning_test
