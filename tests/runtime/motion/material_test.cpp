// SPDX-License-Identifier: MIT
// The simulated material behaves like the one that was asked for.
#include "plush/format/tet_block.h"

#include "runtime/dense_reference.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace plush;
using namespace plush::test;

namespace motion_material_test {

// Mean width along x and z of the nodes whose rest height is in [low, high].
double WidthBetween(const Points& rest, const Points& x, double low, double high) {
  double inner = 0.0, outer = 0.0;
  const Eigen::Vector3d centre = rest.rowwise().mean();
  for (Eigen::Index i = 0; i < rest.cols(); ++i) {
    if (rest(1, i) < low || rest(1, i) > high) continue;
    for (const int axis : {0, 2}) {
      const double r = rest(axis, i) - centre[axis];
      inner += r * r;
      outer += r * (x(axis, i) - centre[axis]);
    }
  }
  return outer / inner;  // least-squares stretch
}

TEST_CASE("A hung bar contracts by Poisson's ratio") {
  const double nu = GENERATE(0.3, 0.45);
  CAPTURE(nu);
  const double young = 1.0e6;
  const ShapeAsset shape(TetBox(4, 20, 4, 0.1), {young, nu, 1000.0}, 0.01);
  std::vector<uint32_t> pins;
  for (uint32_t i = 0; i < shape.num_nodes(); ++i) {
    if (shape.simulation().nodes[i].y > 1.99f) pins.push_back(i);
  }
  World world;
  const BodyId id = AddBody(&world, shape.asset(), {.pinned_nodes = pins});
  for (int step = 0; step < 600; ++step) REQUIRE(StepWorld(&world, 0.01f) == kStepOk);
  const Points rest = ToEigen(shape.rest()), x = ToEigen(PositionsOf(world, id, shape.num_nodes()));
  // Measure in the middle, away from the clamped and the free end.
  double length[2] = {};
  int count[2] = {};
  for (Eigen::Index i = 0; i < rest.cols(); ++i) {
    for (int end = 0; end < 2; ++end) {
      if (std::fabs(rest(1, i) - (end == 0 ? 0.7 : 1.3)) > 0.01) continue;
      length[end] += x(1, i);
      ++count[end];
    }
  }
  const double axial = (length[1] / count[1] - length[0] / count[0]) / 0.6 - 1.0;
  const double lateral = WidthBetween(rest, x, 0.65, 1.35) - 1.0;
  CAPTURE(axial, lateral, -lateral / axial);
  CHECK(-lateral / axial == Approx(nu).epsilon(0.01));
  // The weight below the middle over the section: strain rho g 1 m / E.
  CHECK(axial == Approx(1000.0 * 9.81 * 1.0 / young).epsilon(0.04));
  CHECK(world.stats().max_speed < 5e-2f);
}

}  // namespace motion_material_test
