// SPDX-License-Identifier: MIT
// How far the armadillo swings by one hand [Kug, Fig. 2], against converged implicit Euler.
#include "runtime/tet_fixtures.h"
#include "runtime/world/arm_model.h"
#include "skip.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>

using namespace plush;
using namespace plush::test;

namespace {

constexpr float kDt = 0.01f;
constexpr size_t kHand = 811;        // node of arm_4k
constexpr double kPinRadius = 0.02;  // [m]
// Lowest point of any node in 220 steps [m]: implicit Euler with the same dt, fully converged.
constexpr double kConverged = -0.1998;

}  // namespace

TEST_CASE("The armadillo's arm swings as deep as implicit Euler's") {
  const std::string path = plush::tests::TestModelOrSkip("tets/arm_4k.node");
  if (path.empty()) return;
  const tools::TetMesh mesh = StandingArm(ReadTetGen(path));
  const ShapeAsset shape = ShapeAsset::Baked(mesh, {1.0e6, 0.33, 1000.0}, double(kDt));
  const std::vector<uint32_t> pins = NodesWithin(shape, mesh.nodes[kHand], kPinRadius);
  REQUIRE(pins.size() == 20);
  struct Case {
    int outer_iterations;
    int volume_sweeps;
    double tolerance;
  };
  // Without sweeps: the two-level step. With sweeps: that of [Kug].
  for (const Case& c : {Case{1, 0, 0.01}, Case{2, 0, 0.01}, Case{1, 1, 0.03}, Case{1, 2, 0.03},
                        Case{2, 2, 0.015}}) {
    WorldDesc desc;
    desc.solver.outer_iterations = c.outer_iterations;
    desc.solver.volume_sweeps = c.volume_sweeps;
    World world(desc);
    BodyDesc body;
    body.pinned_nodes = pins;
    const BodyId id = AddBody(&world, shape.asset(), body);
    double lowest = 0.0;
    for (int step = 0; step < 220; ++step) {
      REQUIRE(StepWorld(&world, kDt) == kStepOk);
      const Points x = ToEigen(PositionsOf(world, id, shape.num_nodes()));
      lowest = std::min(lowest, x.row(1).minCoeff());
    }
    std::printf("swing: %d outer iterations, %d sweeps: lowest %.4f m (%+.2f%%)\n",
                c.outer_iterations, c.volume_sweeps, lowest, 100.0 * (lowest / kConverged - 1.0));
    CAPTURE(c.outer_iterations, c.volume_sweeps, lowest);
    CHECK(lowest == Approx(kConverged).epsilon(c.tolerance));
  }
}
