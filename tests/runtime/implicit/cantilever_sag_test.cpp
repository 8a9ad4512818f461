// SPDX-License-Identifier: MIT
// The implicit solver's equilibrium of a slender cantilever under its own weight, by mesh size,
// against Timoshenko's beam.
#include "plush/solver.h"

#include "runtime/motion/cantilever.h"
#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdio>

using namespace plush;
using namespace plush::test;

namespace cantilever_sag_test {

constexpr double kLength = 1.0, kHeight = 0.1, kGravity = 1.0;

// Sag of the tip's middle [m], with `across` cells over the height.
double SagOf(uint32_t across, const tools::Material& material) {
  const double cell = kHeight / across;
  const ShapeAsset shape(TetBox(10 * across, across, across / 4, cell), material, 0.01, 0u);
  World world({.gravity = {0.0f, -static_cast<float>(kGravity), 0.0f}, .sleep = {.speed = 0.0f}});
  std::vector<uint32_t> pins;
  const std::vector<Vec3> rest = shape.rest();
  for (uint32_t i = 0; i < rest.size(); ++i) {
    if (rest[i].x < 1e-6f) pins.push_back(i);
  }
  const BodySolver solver = ImplicitSolver({.newton_iterations = 20,
                                            .linear_iterations = 10000,
                                            .newton_tolerance = 1e-5f,
                                            .linear_tolerance = 1e-4f,
                                            .differential = StressDifferential::kHybrid,
                                            .quasistatic = true});
  const BodyId id = AddBody(&world, shape.asset(), {.pinned_nodes = pins, .solver = &solver});
  const auto sag = [&] {
    const std::vector<Vec3> x = PositionsOf(world, id, rest.size());
    double sum = 0.0;
    int count = 0;
    for (size_t i = 0; i < rest.size(); ++i) {
      if (double(rest[i].x) < kLength - 1e-6 ||
          std::fabs(double(rest[i].y) - 0.5 * kHeight) > 1e-6) {
        continue;
      }
      sum += double(rest[i].y - x[i].y);
      ++count;
    }
    REQUIRE(count > 0);
    return sum / count;
  };
  StepWorld(&world, 0.01f);
  const double once = sag();
  StepWorld(&world, 0.01f);
  CHECK(sag() == Approx(once).epsilon(1e-3));  // at rest
  return sag();
}

TEST_CASE("Slender cantilevers converge with the mesh size to Timoshenko's beam",
          "[papers][long]") {
  const double nu = GENERATE(0.0, 0.3);
  // Sags by 0.8% of its length.
  const tools::Material material = {2.0e7, nu, 1000.0};
  const double formula = SagByFormula({10, 1, 1, 0.1}, material, kGravity);
  CHECK(formula < 0.01 * kLength);
  const double coarse = SagOf(4, material), middle = SagOf(8, material), fine = SagOf(16, material);
  const double order = std::log2((middle - coarse) / (fine - middle));
  const double limit = fine + (fine - middle) / (std::exp2(order) - 1.0);
  std::printf("cantilever, nu %.1f, of Timoshenko's sag: %.4f %.4f %.4f, order %.2f, limit %.4f\n",
              nu, coarse / formula, middle / formula, fine / formula, order, limit / formula);
  CHECK(limit == Approx(formula).epsilon(0.01));
  CHECK(fine == Approx(formula).epsilon(0.03));
  CHECK(order > 1.7);
  CHECK(order < 2.3);
}

}  // namespace cantilever_sag_test
