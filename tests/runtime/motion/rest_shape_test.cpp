// SPDX-License-Identifier: MIT
// The rest shape of a held body depends on its material and weight, not on the time step or the
// number of iterations.
#include "runtime/dense_reference.h"

#include <catch2/catch.hpp>

#include <cstdio>

using namespace plush;
using namespace plush::test;

namespace rest_shape_test {

struct Rest {
  double drop = 0.0;      // of the free end [m]
  double residual = 0.0;  // remaining forces on the body, relative to its weight
};

// A cantilever of 0.96 m x 0.12 m x 0.12 m. Without lateral contraction: the stretch solve alone.
Rest Hang(float dt, int outer_iterations, int steps) {
  constexpr tools::Material kMaterial = {1.0e6, 0.0, 200.0};
  tools::TetMesh mesh = TetBox(24, 3, 3, 0.04);
  const ShapeAsset shape(mesh, kMaterial, double(dt));
  const DenseModel model(shape.asset(), kMaterial);
  std::vector<uint32_t> clamped;
  for (uint32_t i = 0; i < shape.num_nodes(); ++i) {
    if (model.rest(0, i) < 1e-6) clamped.push_back(i);
  }
  World world;
  BodyDesc body = {.pinned_nodes = clamped, .splitting = {.outer_iterations = outer_iterations}};
  const BodyId id = AddBody(&world, shape.asset(), body);
  StepToRest(&world, id, shape.num_nodes(), dt, steps);
  const Points x = ToEigen(PositionsOf(world, id, shape.num_nodes()));
  Points forces = DenseForces(model, x);
  forces.row(1) -= 9.81 * model.masses.transpose();
  for (const uint32_t node : clamped) forces.col(node).setZero();
  Rest out;
  for (Eigen::Index i = 0; i < x.cols(); ++i) {
    if (model.rest(0, i) > 0.96 - 1e-6) out.drop += (model.rest(1, i) - x(1, i)) / 16.0;
  }
  out.residual = forces.rowwise().sum().norm() / (9.81 * model.masses.sum());
  std::printf(
      "cantilever at rest, dt %.3f, %d outer iterations: %.4f m down, %.1e of its weight "
      "unbalanced\n",
      double(dt), outer_iterations, out.drop, out.residual);
  return out;
}

TEST_CASE("A held body's rest shape converges with the time step") {
  const Rest coarse = Hang(0.01f, 1, 400), fine = Hang(0.0025f, 1, 1600);
  CHECK(fine.drop > 0.05);
  CHECK(coarse.drop == Approx(fine.drop).epsilon(0.002));
  CHECK(fine.residual < 0.2 * coarse.residual + 1e-3);
}

TEST_CASE("A held body's rest shape does not depend on the number of iterations") {
  // If the first iterate includes gravity, the first solve takes g dt^2 back from the elements at
  // the pins with the constant matrix instead of their own.
  const Rest one = Hang(0.01f, 1, 400), five = Hang(0.01f, 5, 200);
  CHECK(one.drop == Approx(five.drop).epsilon(0.005));
  CHECK(one.residual < 1e-3);
  CHECK(five.residual < 1e-3);
}

}  // namespace rest_shape_test
