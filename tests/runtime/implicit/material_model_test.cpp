// SPDX-License-Identifier: MIT
// Implicit bodies of every material model and rotation method, and of other linear solvers.
#include "plush/solver.h"

#include "elasticity/elements.h"
#include "materials/rotation_method.h"
#include "reference/trajectory.h"
#include "runtime/dense_reference.h"
#include "runtime/implicit/hung_bar.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace plush;
using namespace plush::test;
using reference::Trajectory;

namespace material_model_test {

constexpr float kDt = 0.01f;
constexpr ImplicitSettings kConverged = {.newton_iterations = 20,
                                         .linear_iterations = 2000,
                                         .newton_tolerance = 1.0e-5f,
                                         .linear_tolerance = 1.0e-4f};
constexpr MaterialModel kModels[] = {MaterialModel::kLinear, MaterialModel::kCorotated,
                                     MaterialModel::kCorrectedCorotated,
                                     MaterialModel::kStVenantKirchhoff, MaterialModel::kNeoHookean};
constexpr RotationMethod kMethods[] = {
    RotationMethod::kPolar,       RotationMethod::kSvd,     RotationMethod::kInvertibleSvd,
    RotationMethod::kCoherentSvd, RotationMethod::kQr,      RotationMethod::kPolarQr,
    RotationMethod::kProject,     RotationMethod::kReflect, RotationMethod::kDegenerationAware};

// A random bar.
struct Bar : HungBar {
  explicit Bar(double young = 3.0e5)
      : HungBar(TetBox(5, 2, 2, 0.1, 0.09, 3), {young, 0.33, 1000.0}) {}

  Trajectory Steps(const ImplicitSettings& settings, int steps = 30) const {
    return HungBar::Steps(ImplicitSolver(settings), steps);
  }
};

TEST_CASE("Rotation methods that agree on regular tets give the default's motion", "[long]") {
  const Bar bar;
  const Trajectory right = bar.Steps(kConverged);
  for (const RotationMethod method : kMethods) {
    if (method == RotationMethod::kQr) continue;
    ImplicitSettings settings = kConverged;
    settings.rotation = method;
    CAPTURE(static_cast<int>(method));
    CHECK(reference::TrajectoryError(bar.Steps(settings), right) < 1e-4);
  }
}

TEST_CASE("Materials agree at small strain, and each differential leads to the same step",
          "[long]") {
  const Bar bar(3.0e8);  // bends by about 1e-4 of its length
  const Trajectory right = bar.Steps(kConverged, 10);
  for (const MaterialModel model : kModels) {
    Trajectory first(ToEigen(bar.shape.rest()));
    for (const auto differential :
         {StressDifferential::kExact, StressDifferential::kConstantRotation,
          StressDifferential::kWarped, StressDifferential::kHybrid}) {
      ImplicitSettings settings = kConverged;
      settings.model = model;
      settings.rotation = RotationMethod::kSvd;
      settings.differential = differential;
      double most = 0.01;
      if (differential == StressDifferential::kConstantRotation) {
        settings.newton_iterations = 64;
        most = 0.05;  // so stiff, it converges slowly: 0.167 after 20 iterations, 0.037 after 64
      }
      const Trajectory measured = bar.Steps(settings, 10);
      CAPTURE(static_cast<int>(model), static_cast<int>(differential));
      CHECK(reference::TrajectoryError(measured, right) < most);
    }
  }
  const Bar soft;
  for (const MaterialModel model : kModels) {
    ImplicitSettings settings = kConverged;
    settings.model = model;
    const Trajectory warped = soft.Steps(settings);
    settings.differential = StressDifferential::kExact;
    CAPTURE(static_cast<int>(model));
    CHECK(reference::TrajectoryError(soft.Steps(settings), warped) < 1e-3);
  }
}

TEST_CASE("MINRES, Jacobi's blocks and no preconditioner give the default's motion", "[long]") {
  const Bar bar;
  const Trajectory right = bar.Steps(kConverged);
  for (const auto method : {LinearMethod::kConjugateGradients, LinearMethod::kMinimumResiduals}) {
    for (const auto preconditioner :
         {Preconditioner::kFactor, Preconditioner::kJacobi, Preconditioner::kNone}) {
      for (const auto rotation : {RotationMethod::kAnalytic, RotationMethod::kPolar}) {
        ImplicitSettings settings = kConverged;
        settings.linear_method = method;
        settings.preconditioner = preconditioner;
        settings.rotation = rotation;
        CAPTURE(static_cast<int>(method), static_cast<int>(preconditioner),
                static_cast<int>(rotation));
        CHECK(reference::TrajectoryError(bar.Steps(settings), right) < 1e-3);
      }
    }
  }
}

TEST_CASE("Where steps by the exact differential do not descend, the hybrid one replaces it") {
  const ShapeAsset shape(TetBox(2, 2, 1, 0.1, 0.09, 19), {1.0e6, 0.45, 1000.0}, double(kDt));
  const auto fallbacks_of = [&](LinearMethod method) {
    World world;
    const BodySolver solver = ImplicitSolver({.linear_iterations = 100,
                                              .differential = StressDifferential::kExact,
                                              .linear_method = method});
    const BodyId id = AddBody(&world, shape.asset(), {.solver = &solver});
    std::vector<Vec3> x = PositionsOf(world, id, shape.num_nodes());
    for (Vec3& node : x) node = node * 0.4f;
    REQUIRE(world.SetNodePositions(id, x).ok());
    uint32_t sum = 0;
    double before = MomentsOf(world, id).elastic_j;
    for (int step = 0; step < 5; ++step) {
      StepWorld(&world, 0.1f);
      sum += world.stats().newton_fallbacks;
      const BodyMoments now = MomentsOf(world, id);
      REQUIRE(now.elastic_j + now.kinetic_j < 1.001 * before + 1e3);
    }
    return sum;
  };
  const uint32_t by_gradients = fallbacks_of(LinearMethod::kConjugateGradients);
  const uint32_t by_residuals = fallbacks_of(LinearMethod::kMinimumResiduals);
  CAPTURE(by_gradients, by_residuals);
  CHECK(by_gradients > 0);
  CHECK(by_residuals > 0);
}

TEST_CASE("A quasistatic body goes to where forces balance, and leaves no velocity", "[long]") {
  const Bar bar(1.0e6);
  ImplicitSettings settings = kConverged;
  settings.quasistatic = true;
  World world(Awake()), damped(Awake());
  const BodyId id = bar.AddTo(&world, ImplicitSolver(settings));
  for (int step = 0; step < 3; ++step) REQUIRE(StepWorld(&world, kDt) == kStepOk);
  CHECK(MomentsOf(world, id).kinetic_j == 0.0);
  ImplicitSettings slow = kConverged;
  slow.mass_damping = 20.0f;
  const BodyId other = bar.AddTo(&damped, ImplicitSolver(slow));
  for (int step = 0; step < 600; ++step) REQUIRE(StepWorld(&damped, kDt) == kStepOk);
  const Points sagged = ToEigen(PositionsOf(world, id, bar.shape.num_nodes()));
  const Points right = ToEigen(PositionsOf(damped, other, bar.shape.num_nodes()));
  const double sag = (right - ToEigen(bar.shape.rest())).cwiseAbs().maxCoeff();
  CAPTURE(sag);
  CHECK(sag > 0.005);
  CHECK((sagged - right).cwiseAbs().maxCoeff() < 1e-3 * sag);
}

TEST_CASE("A quasistatic body that still moves does not fall asleep") {
  const Bar bar(2.0e4);
  const auto lowest_of = [&](float sleep_speed) {
    World world;
    world.SetSleep({.speed = sleep_speed});
    const BodyId id = bar.AddTo(
        &world,
        ImplicitSolver({.newton_iterations = 1, .linear_iterations = 2, .quasistatic = true}));
    for (int step = 0; step < 2000; ++step) StepWorld(&world, kDt);
    CHECK(world.IsAsleep(id) == (sleep_speed > 0.0f));
    return ToEigen(PositionsOf(world, id, bar.shape.num_nodes())).row(1).minCoeff();
  };
  CHECK(lowest_of(2.0e-3f) == Approx(lowest_of(0.0f)).epsilon(0.01));
}

TEST_CASE("A quasistatic body needs pins that stop every rigid motion") {
  const Bar bar;
  World world;
  const BodySolver solver = ImplicitSolver({.quasistatic = true});
  const auto code_of = [&](const std::vector<uint32_t>& pins) {
    BodyDesc desc = {.pinned_nodes = pins, .solver = &solver};
    BodyId id;
    return world.AddBody(bar.shape.asset(), desc, &id).code;
  };
  const std::vector<Vec3> rest = bar.shape.rest();
  CHECK(code_of(bar.pins) == StatusCode::kOk);
  CHECK(code_of({}) == StatusCode::kInvalidArgument);
  CHECK(code_of({bar.pins[0]}) == StatusCode::kInvalidArgument);
  CHECK(code_of({bar.pins[0], bar.pins[1]}) == StatusCode::kInvalidArgument);
  CHECK(code_of({bar.pins[0], bar.pins[1], bar.pins[1]}) == StatusCode::kInvalidArgument);
  BodyDesc desc = {.pinned_nodes = bar.pins, .solver = &solver};
  const BodyId id = AddBody(&world, bar.shape.asset(), desc);
  CHECK(world.SetPinnedNodes(id, {}).code == StatusCode::kInvalidArgument);
  REQUIRE(world.SetSolver(id, SplittingSolver()).ok());
  REQUIRE(world.SetPinnedNodes(id, {}).ok());
  CHECK(world.SetSolver(id, solver).code == StatusCode::kInvalidArgument);
}

TEST_CASE("A quasistatic body may be held by a long line of nodes and one beside it") {
  const ShapeAsset shape(TetBox(1000, 1, 1, 0.1), {1.0e6, 0.3, 1000.0}, double(kDt));
  std::vector<uint32_t> pins;
  uint32_t beside = 0;
  for (uint32_t i = 0; i < shape.num_nodes(); ++i) {
    const Vec3 at = shape.rest()[i];
    if (at.y == 0.0f && at.z == 0.0f) pins.push_back(i);
    if (at.x == 0.0f && at.y != 0.0f && at.z == 0.0f) beside = i;
  }
  REQUIRE(pins.size() == 1001);
  const BodySolver solver = ImplicitSolver({.quasistatic = true});
  World world;
  BodyId id;
  BodyDesc desc = {.pinned_nodes = pins, .solver = &solver};
  CHECK(world.AddBody(shape.asset(), desc, &id).code == StatusCode::kInvalidArgument);
  pins.push_back(beside);
  desc.pinned_nodes = pins;
  CHECK(world.AddBody(shape.asset(), desc, &id).code == StatusCode::kOk);
}

TEST_CASE("Bodies with degenerate tets stay finite by every method and material, and recover",
          "[long]") {
  const auto method = GENERATE(from_range(std::begin(kMethods), std::end(kMethods)));
  const auto model = GENERATE(MaterialModel::kCorotated, MaterialModel::kCorrectedCorotated);
  const bool exact = GENERATE(false, true);
  if (exact && !NeedsWitness(method)) return;
  Random random(23);
  const ShapeAsset shape(TetBox(3, 3, 3, 0.1), {1.0e4, 0.3, 1000.0}, double(kDt));
  World world(Awake({}));
  const BodySolver solver = ImplicitSolver({.newton_iterations = 4,
                                            .linear_iterations = 30,
                                            .model = model,
                                            .rotation = method,
                                            .exact_degenerate_stress = exact});
  BodyDesc desc = {.material = {.damping = 0.02f}, .solver = &solver};
  const BodyId id = AddBody(&world, shape.asset(), desc);
  std::vector<Vec3> x = PositionsOf(world, id, shape.num_nodes());
  for (Vec3& node : x) node = node + ToVec3(random.Vector(0.12));
  REQUIRE(world.SetNodePositions(id, x).ok());
  const uint32_t start = MeasuresOf(world).inverted_tets;
  for (int step = 0; step < 200; ++step) REQUIRE((StepWorld(&world, kDt) & kStepBodyFrozen) == 0);
  const uint32_t end = MeasuresOf(world).inverted_tets;
  CAPTURE(static_cast<int>(method), static_cast<int>(model), exact, start, end);
  CHECK(start > 20);
  if (method == RotationMethod::kDegenerationAware) CHECK(end == 0);
}

TEST_CASE("Settings of materials and linear solvers out of range are refused") {
  const Bar bar;
  World world;
  const auto code_of = [&](const ImplicitSettings& settings) {
    const BodySolver solver = ImplicitSolver(settings);
    BodyDesc desc = {.pinned_nodes = bar.pins, .solver = &solver};
    BodyId id;
    return world.AddBody(bar.shape.asset(), desc, &id).code;
  };
  CHECK(code_of({.linear_method = static_cast<LinearMethod>(2)}) == StatusCode::kInvalidArgument);
  CHECK(code_of({.model = static_cast<MaterialModel>(5)}) == StatusCode::kInvalidArgument);
  CHECK(code_of({.rotation = static_cast<RotationMethod>(10)}) == StatusCode::kInvalidArgument);
  CHECK(code_of({.alpha = 0.0f}) == StatusCode::kInvalidArgument);
  CHECK(code_of({.alpha = 1.0f}) == StatusCode::kInvalidArgument);
  CHECK(code_of({.beta = 0.5f}) == StatusCode::kInvalidArgument);
}

}  // namespace material_model_test
