// SPDX-License-Identifier: MIT
// Contacts between two bodies stay while their gap is small, although no region is left.
#include "runtime/bodies/touching_cubes.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace opening_gap_test {

using Cubes = TouchingCubes;

constexpr float kDt = Cubes::kDt;
const double kDiagonal = double(Cubes::kSize) * std::sqrt(3.0);

// Searches look where the bodies would be if they moved on as they do. There a resting cube that
// has just been pushed up is above the other one, though its weight still presses it down at the
// end of the step.
TEST_CASE("A contact whose region has vanished holds while its gap is small") {
  constexpr double kRestDepth = 5.0e-4, kMostGap = 2.0e-3;  // [diagonals]
  const uint32_t seed = 21;
  CAPTURE(seed);
  Random random(seed);
  for (int run = 0; run < 20; ++run) {
    Cubes cubes(Cubes::Awake());
    BodyDesc fixed, slides;
    fixed.fixed = true;
    fixed.scale = 4.0f;
    fixed.material.friction = slides.material.friction = 0.0f;
    cubes.Add({0, -4.0f * Cubes::kSize, 0}, 1.0e8f, fixed);
    const BodyId top = cubes.Add({0.1f, 1.0e-3f, 0.3f}, 1.0e8f, slides);
    cubes.Step(200);
    const double rest = cubes.Lowest(top) / kDiagonal;
    REQUIRE(rest == Approx(-kRestDepth).epsilon(0.1));
    // Half of them sideways by more than the margin of stiff bodies, so that they are searched.
    const bool is_searched = run % 2 == 0;
    const double gap = random.Uniform(0.1, 0.9) * kMostGap, up = (gap + kRestDepth) * kDiagonal;
    const double aside = (is_searched ? 4.0e-3 : 0.0) * kDiagonal;
    REQUIRE(up < 9.81 * double(kDt) * double(kDt));
    CAPTURE(run, gap);
    const Vec3 velocity = {float(aside) / kDt, float(up) / kDt, 0.0f};
    REQUIRE(cubes.world.SetNodeVelocities(top, std::vector<Vec3>(cubes.shape.num_nodes(), velocity))
                .ok());
    for (int step = 0; step < 10; ++step) {
      cubes.Step(1);
      if (step == 0) CHECK(cubes.world.stats().pairs_searched == (is_searched ? 1u : 0u));
      CHECK(cubes.Contacts().size() >= 3);
      CHECK(cubes.Lowest(top) / kDiagonal > rest - 1.0e-4);
    }
  }
}

}  // namespace opening_gap_test
