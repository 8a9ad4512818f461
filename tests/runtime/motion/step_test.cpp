// SPDX-License-Identifier: MIT
// Whole steps against the same equations in dense double precision.
#include "runtime/dense_reference.h"

#include <catch2/catch.hpp>

using namespace plush;
using namespace plush::test;

namespace step_test {

constexpr float kDt = 0.01f;

// The step of [Kug].
constexpr SplittingSettings kSweeping = {.outer_iterations = 1, .volume_sweeps = 1};
constexpr SplittingSettings kTwoLevel = {.outer_iterations = 2};

DenseStepper StepperOf(const DenseModel& model, const SplittingSettings& splitting) {
  return DenseStepper(model, double(kDt), splitting.outer_iterations, splitting.volume_sweeps);
}

double SizeOf(const Points& rest) {
  return (rest.rowwise().maxCoeff() - rest.rowwise().minCoeff()).norm();
}

TEST_CASE("Steps from set positions follow the dense equations and lose energy") {
  const double nu = GENERATE(0.3, 0.45, 0.49);
  const bool sweeps = GENERATE(false, true);
  CAPTURE(nu, sweeps);
  Random random(5);
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1, 0.09, 5), {1.0e5, nu, 1000.0}, double(kDt));
  const DenseModel model(shape.asset());
  World world({.gravity = {}});
  BodyDesc body = {.splitting = sweeps ? kSweeping : kTwoLevel};
  const BodyId id = AddBody(&world, shape.asset(), body);
  DenseStepper stepper = StepperOf(model, body.splitting);
  const Points strained = model.rest + random.Vectors(shape.num_nodes(), 0.01);
  stepper.x = ToEigen(ToVec3s(random.Rotation() * strained));
  REQUIRE(world.SetNodePositions(id, ToVec3s(stepper.x)).ok());
  const double start = DenseEnergy(model, stepper.x);
  double energy = start;
  for (int step = 0; step < 20; ++step) {
    StepWorld(&world, kDt);
    stepper.Step({0.0, 0.0, 0.0});
    const Points x = ToEigen(PositionsOf(world, id, shape.num_nodes()));
    CAPTURE(step);
    REQUIRE((x - stepper.x).cwiseAbs().maxCoeff() < 1e-4 * SizeOf(model.rest));
    const double now = MeasuresOf(world).kinetic_j + MeasuresOf(world).elastic_j;
    REQUIRE(now < energy + 1e-3 * start);  // the rest still rings a little
    energy = now;
  }
}

TEST_CASE("A turned body steps like the turned reference") {
  Random random(4);
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1, 0.09, 4), {2.0e5, 0.3, 1000.0}, double(kDt));
  const DenseModel model(shape.asset());
  const Eigen::Matrix3d R = random.Rotation();
  const Eigen::Vector3d at(0.5, -0.25, 0.75), v(1.0, 2.0, -1.0), omega(0.5, -3.0, 1.0);
  const bool sweeps = GENERATE(false, true);
  CAPTURE(sweeps);
  World world;
  BodyDesc body = {.pose = {ToVec3(at), ToQuat(R)},
                   .velocity = ToVec3(v),
                   .angular_velocity = ToVec3(omega),
                   .splitting = sweeps ? kSweeping : kTwoLevel};
  const BodyId id = AddBody(&world, shape.asset(), body);
  DenseStepper stepper = StepperOf(model, body.splitting);
  stepper.x = (R * model.rest).colwise() + at;
  for (Eigen::Index i = 0; i < stepper.x.cols(); ++i) {
    stepper.v.col(i) = v + omega.cross(R * model.rest.col(i));
  }
  for (int step = 0; step < 20; ++step) {
    StepWorld(&world, kDt);
    stepper.Step({0.0, -9.81, 0.0});
  }
  const Points x = ToEigen(PositionsOf(world, id, shape.num_nodes()));
  CHECK((x - stepper.x).cwiseAbs().maxCoeff() < 1e-4 * SizeOf(model.rest));
}

}  // namespace step_test
