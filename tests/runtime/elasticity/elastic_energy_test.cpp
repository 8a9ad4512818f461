// SPDX-License-Identifier: MIT
// The elastic energy in vectors against the sum over single tets.
#include "elasticity/elastic_energy.h"

#include "runtime/simd_targets.h"
#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

using namespace plush;
using namespace plush::test;

TEST_CASE("The elastic energy in vectors is that of the single tets") {
  Random random(11);
  for (const double poisson : {0.0, 0.45, 0.499}) {  // lambda of the last is limited
    const ShapeAsset shape(TetBox(5, 4, 3, 0.1, 0.09, 7), {1.0e5, poisson, 1000.0});
    for (const double strain : {1.0e-3, 0.05, 0.3}) {
      CAPTURE(poisson, strain);
      const Points turned = random.Rotation() * ToEigen(shape.rest());
      const std::vector<NodeVec> x =
          ToNodeVecs(turned + random.Vectors(shape.num_nodes(), 0.1 * strain));
      RotationArray rotations(shape.num_blocks());
      const double single =
          SummariseElements(shape.elements(), std::vector<NodeVec>(x.begin(), x.end() - 1),
                            rotations.view(), kMostBulk)
              .elastic_j;
      for (const int64_t target : SimdTargets()) {
        const SimdTargetScope scope(target);
        RotationArray own(shape.num_blocks());
        const double energy = ElasticEnergy(shape.elements(), x, 64, own.view());
        CHECK(std::fabs(energy - single) < 1.0e-5 * single);
        // From rotations that have converged, no iteration changes much.
        CHECK(std::fabs(ElasticEnergy(shape.elements(), x, 1, own.view()) - energy) <
              1.0e-4 * single);
      }
    }
  }
}
