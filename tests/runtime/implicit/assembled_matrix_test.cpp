// SPDX-License-Identifier: MIT
// Implicit bodies that assemble their matrix move as those that do not.
#include "plush/solver.h"

#include "reference/trajectory.h"
#include "runtime/attachments/constraint_scene.h"
#include "runtime/world/heap_counter.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace plush;
using namespace plush::test;
using reference::Trajectory;

namespace assembled_matrix_test {

constexpr float kDt = 0.01f;

enum class Scene { kPinned, kConstrained, kOnPlane, kTouching };

// Bars that hang, slide or fall on each other, until they have moved by several edges.
struct Bars {
  Bars(Scene of, const ImplicitSettings& settings, const WorldDesc& world_desc)
      : scene(of), shape(Bar()), world(world_desc) {
    const BodySolver solver = ImplicitSolver(settings);
    BodyDesc desc = {.material = {.young = 3.0e5f, .damping = 0.02f}, .solver = &solver};
    const std::vector<uint32_t> pins = {0, 1, 2};
    if (scene == Scene::kPinned) desc.pinned_nodes = pins;
    ids.push_back(AddBody(&world, shape.asset(), desc));
    if (scene == Scene::kConstrained) {
      held = MakeSet(Set::kMixed, shape, ids[0]);
      held.AddTo(&world);
    }
    if (scene == Scene::kOnPlane || scene == Scene::kTouching) AddPlane(&world, {.offset = -0.01f});
    if (scene == Scene::kTouching) {
      desc.pose.position = {0.05f, 0.3f, 0.02f};
      ids.push_back(AddBody(&world, shape.asset(), desc));
    }
  }
  Trajectory Step(int steps) {
    Trajectory out(Nodes());
    for (int k = 0; k < steps; ++k) {
      if (scene == Scene::kConstrained) held.Move(&world, k, 0.02f);
      REQUIRE(StepWorld(&world, kDt) == kStepOk);
      out.Add(Nodes());
    }
    return out;
  }
  Points Nodes() const { return ToEigen(PositionsOf(world, ids.back(), shape.num_nodes())); }

  Scene scene;
  ShapeAsset shape;
  World world;
  std::vector<BodyId> ids;
  Held held;
};

WorldDesc DescOf(Scene scene) {
  WorldDesc desc = {.sleep = {.speed = 0.0f}};
  if (scene == Scene::kTouching) desc.max_pairs = 4;
  return desc;
}

TEST_CASE("Bodies with an assembled matrix move as without it") {
  const auto scene =
      GENERATE(Scene::kPinned, Scene::kConstrained, Scene::kOnPlane, Scene::kTouching);
  const auto method = GENERATE(LinearMethod::kConjugateGradients, LinearMethod::kMinimumResiduals);
  const auto differential =
      GENERATE(StressDifferential::kExact, StressDifferential::kConstantRotation,
               StressDifferential::kWarped, StressDifferential::kHybrid);
  const auto rotation = GENERATE(RotationMethod::kAnalytic, RotationMethod::kPolar);
  static tests::SweepCells cells;
  if (!cells.TakesNext()) return;
  const auto fall = [&](bool assembled) {
    Bars bars(scene,
              {.newton_iterations = 3,
               .linear_iterations = 60,
               .differential = differential,
               .assembled = assembled,
               .linear_method = method,
               .rotation = rotation},
              DescOf(scene));
    return bars.Step(25);
  };
  const double error = reference::TrajectoryError(fall(true), fall(false));
  CAPTURE(static_cast<int>(scene), static_cast<int>(method), static_cast<int>(differential),
          static_cast<int>(rotation), error);
  CHECK(error < 2e-4);
}

TEST_CASE("A world without memory for a matrix refuses it and stays as it was") {
  CountingMemory memory;
  WorldDesc desc = DescOf(Scene::kPinned);
  desc.allocator = memory.allocator();
  Bars bars(Scene::kPinned, {}, desc);
  bars.Step(1);
  const uint64_t before = bars.world.StateHash();
  constexpr uint64_t kArrays = 6;
  for (uint64_t n = 1; n <= kArrays; ++n) {
    memory.FailAt(n, false);
    CHECK(bars.world.SetSolver(bars.ids[0], ImplicitSolver({.assembled = true})).code ==
          StatusCode::kOutOfMemory);
    CHECK(bars.world.StateHash() == before);
  }
  memory.FailNever();
  CHECK(bars.world.SetSolver(bars.ids[0], ImplicitSolver({.assembled = true})).ok());
  bars.Step(1);
}

}  // namespace assembled_matrix_test
