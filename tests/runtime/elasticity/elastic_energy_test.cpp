// SPDX-License-Identifier: MIT
// The elastic energy in lanes against the one in double precision.
#include "elasticity/element_pass.h"
#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
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
                        rotations.view(), kSplittingLaw)
          .elastic_j;
  const double energy = ElasticEnergy(shape.elements(), x, kSplittingLaw, 64, start.view());
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

TEST_CASE("The volume term's pressure is the slope of its energy, beyond its bounds, too") {
  const VolumeLaw law = GENERATE(VolumeLaw(), kSplittingLaw, kUnboundedLaw);
  const double bulk = GENERATE(0.0, 0.5, 4.0, 100.0), mu = 1.0, h = 1e-6;  // times the volume
  const double limited = std::min(bulk, double(law.most_bulk) * mu);
  for (const double det : {2.0, 1.0, 0.3, 0.0, -0.5}) {
    CAPTURE(bulk, det);
    const auto energy = [&](double at) { return VolumeEnergy(law, 2.0 * mu, bulk, at - 1.0); };
    const double pressure = VolumePressure(law, 2.0 * mu, bulk, det - 1.0);
    CHECK((energy(det + h) - energy(det - h)) / (2.0 * h) == Approx(pressure).margin(1e-4));
    const double most = mu * double(det > 1.0 ? law.most_pull : law.most_push);
    const double wanted = limited * (det - 1.0);
    CHECK(pressure == Approx(std::copysign(std::min(std::fabs(wanted), most), wanted)));
    CHECK(energy(det) >= 0.0);
  }
  CHECK(VolumeEnergy(law, 2.0 * mu, bulk, 0.0) == 0.0);
}

}  // namespace elastic_energy_test
