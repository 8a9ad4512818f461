// SPDX-License-Identifier: MIT
// How the armadillo swings by one hand [Kug, Fig. 2], against converged implicit Euler.
#include "reference/implicit_euler.h"
#include "reference/trajectory.h"
#include "runtime/motion/arm_model.h"
#include "runtime/tet_fixtures.h"
#include "skip.h"

#include <catch2/catch.hpp>

#include <cstdio>

using namespace plush;
using namespace plush::test;
using reference::Trajectory;

namespace swing_test {

constexpr float kDt = 0.01f;
constexpr int kSteps = 220;
constexpr size_t kHand = 811;        // node of arm_4k
constexpr double kPinRadius = 0.02;  // [m]
// Lowest point of any node in 220 steps [m]: another program's implicit Euler with the same dt.
constexpr double kConverged = -0.1998;

struct HungArm {
  ShapeAsset shape;
  std::vector<uint32_t> pins;
};

HungArm MakeArm(const std::string& path) {
  const tools::TetMesh mesh = StandingArm(ReadTetGen(path));
  HungArm arm = {ShapeAsset::Baked(mesh, {1.0e6, 0.33, 1000.0}, double(kDt)), {}};
  arm.pins = NodesWithin(arm.shape, mesh.nodes[kHand], kPinRadius);
  REQUIRE(arm.pins.size() == 20);
  return arm;
}

Trajectory ReferenceOf(const HungArm& arm) {
  reference::EulerSettings settings = {.dt_s = double(kDt),
                                       .gravity = {0.0, double(WorldDesc().gravity.y), 0.0},
                                       .pinned = arm.pins};
  settings.tolerance = 1e-4;  // moves the result by less than 1e-5 of the motion
  reference::ImplicitEuler euler(reference::ElasticBody(arm.shape.asset()), settings);
  Trajectory out(euler.x());
  for (int step = 0; step < kSteps; ++step) {
    REQUIRE(euler.Step());
    out.Add(euler.x());
  }
  return out;
}

Trajectory RuntimeOf(const HungArm& arm, int outer_iterations, int volume_sweeps) {
  World world;
  BodyDesc body = {
      .splitting = {.outer_iterations = outer_iterations, .volume_sweeps = volume_sweeps}};
  body.pinned_nodes = arm.pins;
  const BodyId id = AddBody(&world, arm.shape.asset(), body);
  Trajectory out(ToEigen(arm.shape.rest()));
  for (int step = 0; step < kSteps; ++step) {
    REQUIRE(StepWorld(&world, kDt) == kStepOk);
    out.Add(ToEigen(PositionsOf(world, id, arm.shape.num_nodes())));
  }
  return out;
}

TEST_CASE("The armadillo swings by one hand as implicit Euler's does", "[long]") {
  const std::string path = plush::tests::TestModelOrSkip("tets/arm_4k.node");
  if (path.empty()) return;
  const HungArm arm = MakeArm(path);
  const Trajectory right = ReferenceOf(arm);
  CHECK(reference::LowestY(right) == Approx(kConverged).epsilon(0.01));
  Eigen::Vector3d away = Eigen::Vector3d::Zero();  // from the hand to the body, level
  for (const uint32_t pin : arm.pins) away -= right.rest.col(pin).cast<double>() / 20.0;
  away += right.rest.cast<double>().rowwise().mean();
  away.y() = 0.0;
  const auto right_swing = static_cast<double>(reference::HalfSwingStep(right, away));

  struct Case {
    int outer_iterations, volume_sweeps;
    double lowest;      // tolerance
    double trajectory;  // most; 0 for steps of [Kug], which swing too slowly
  };
  for (const Case& c : {Case{1, 1, 0.03, 0.0}, Case{1, 2, 0.03, 0.0}, Case{2, 2, 0.015, 0.0},
                        Case{2, 0, 0.01, 0.05}, Case{4, 0, 0.01, 0.02}}) {
    const Trajectory measured = RuntimeOf(arm, c.outer_iterations, c.volume_sweeps);
    const double lowest = reference::LowestY(measured);
    const double error = reference::TrajectoryError(measured, right);
    const auto swing = static_cast<double>(reference::HalfSwingStep(measured, away));
    std::printf(
        "swing: %d outer iterations, %d sweeps: lowest %.4f m (%+.2f%%), half swing at "
        "step %.0f (%.0f), trajectory error %.4f\n",
        c.outer_iterations, c.volume_sweeps, lowest, 100.0 * (lowest / kConverged - 1.0), swing,
        right_swing, error);
    CAPTURE(c.outer_iterations, c.volume_sweeps, lowest);
    CHECK(lowest == Approx(reference::LowestY(right)).epsilon(c.lowest));
    if (c.trajectory > 0.0) {
      CHECK(error < c.trajectory);
      CHECK(lowest == Approx(reference::LowestY(right)).epsilon(0.005));
      CHECK(swing == Approx(right_swing).margin(1.0));
    } else {
      CHECK(error > 0.5);
      CHECK(swing > 1.5 * right_swing);
    }
  }
}

}  // namespace swing_test
