// SPDX-License-Identifier: MIT
// The elastic energy in lanes against the one in double precision.
#include "elasticity/element_pass.h"
#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace elastic_energy_test {

// Checks the energy of a turned body whose nodes are off their places by up to `off`, and whose
// size is `stretch` times as large along the third axis: negative, all tets are inside out.
void CheckEnergy(const ShapeAsset& shape, double off, double stretch, double most_error,
                 Random* random) {
  CAPTURE(off, stretch);
  Points rest = ToEigen(shape.rest());
  rest.row(2) *= stretch;
  const Points moved = random->Rotation() * rest + random->Vectors(shape.num_nodes(), off);
  const std::vector<NodeVec> x = ToNodeVecs(moved);
  RotationArray start(shape.num_blocks());
  RotationArray rotations(shape.num_blocks());
  const double expected =
      SummariseElements(shape.elements(), std::vector<NodeVec>(x.begin(), x.end() - 1),
                        rotations.view(), kMostBulk)
          .elastic_j;
  const double energy = ElasticEnergy(shape.elements(), x, kMostBulk, start.view());
  CHECK(std::fabs(energy - expected) < most_error * expected);
}

TEST_CASE("The elastic energy needs no rotations") {
  Random random(11);
  for (const double poisson : {0.0, 0.45, 0.499}) {  // lambda of the last is limited
    CAPTURE(poisson);
    const ShapeAsset shape(TetBox(5, 4, 3, 0.1, 0.09, 7), {1.0e5, poisson, 1000.0});
    for (const double strain : {1.0e-4, 1.0e-3, 0.05, 0.3}) {
      // Rounding of positions strains tets by 1e-6.
      CheckEnergy(shape, 0.1 * strain, 1.0, 1.0e-5 + 1.0e-7 / strain, &random);
    }
    for (const double stretch : {0.3, 1.0e-3, 0.0, -0.5, -1.5}) {
      CheckEnergy(shape, 1.0e-3, stretch, 1.0e-5, &random);
    }
  }
}

}  // namespace elastic_energy_test
