// SPDX-License-Identifier: MIT
// Angles, heights and samples of random tets against direct formulas.
#include "fit/tet_quality.h"

#include "solid/solid_volume.h"
#include "solid/triangle_tet_overlap.h"
#include "tools/cage/cage_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace plush::tools;
using namespace plush::tests;

namespace tet_quality_test {

using Tet = std::array<Vec3d, 4>;

constexpr uint32_t kSeed = 74;

// A positively oriented tet, from nearly flat to round.
Tet RandomTet(RandomNumbers* random) {
  Tet tet;
  do {
    const double flatness = random->In(0.05, 1.0);
    for (Vec3d& corner : tet) corner = random->Point({-1, -1, -flatness}, {1, 1, flatness});
    if (SixVolume(tet[0], tet[1], tet[2], tet[3]) < 0.0) std::swap(tet[0], tet[1]);
  } while (SixVolume(tet[0], tet[1], tet[2], tet[3]) < 1e-4);
  return tet;
}

TEST_CASE("Degrees of a cosine are those of the arc cosine") {
  double largest = 0.0;
  constexpr double kDegrees = 57.295779513082320877;
  for (int i = -100000; i <= 100000; ++i) {
    const double cosine = i / 100000.0;
    largest = std::max(largest, std::abs(DegreesOfCosine(cosine) - std::acos(cosine) * kDegrees));
  }
  CHECK(largest < 2e-6);
  CHECK(DegreesOfCosine(1.0) == 0.0);
  CHECK(DegreesOfCosine(1.0 + 1e-12) == 0.0);
  CHECK(DegreesOfCosine(-1.5) == 180.0);
  CHECK(std::abs(DegreesOfCosine(0.0) - 90.0) < 2e-6);
}

TEST_CASE("Dihedral angles of random tets are those between their faces") {
  INFO("seed " << kSeed);
  RandomNumbers random(kSeed);
  for (int i = 0; i < 2000; ++i) {
    const Tet tet = RandomTet(&random);
    const auto angles = AnglesOf(tet);
    CHECK(std::abs(SmallestDihedral(tet) - *std::min_element(angles.begin(), angles.end())) < 1e-5);
    size_t at = 0;
    for (size_t a = 0; a < 4; ++a) {
      for (size_t b = a + 1; b < 4; ++b) {
        CHECK(std::abs(DihedralAt(tet, a, b) - angles[at]) < 1e-5);
        CHECK(std::abs(DihedralAt(tet, b, a) - angles[at]) < 1e-5);
        ++at;
      }
    }
  }
}

TEST_CASE("Flat and inverted tets have no smallest angle") {
  CHECK(SmallestDihedral({Vec3d{0, 0, 0}, Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{1, 1, 0}}) == 0.0);
  CHECK(SmallestDihedral({Vec3d{0, 0, 0}, Vec3d{0, 1, 0}, Vec3d{1, 0, 0}, Vec3d{0, 0, 1}}) == 0.0);
  CHECK(SmallestDihedral({Vec3d{}, Vec3d{}, Vec3d{}, Vec3d{}}) == 0.0);
  CHECK(SmallestDihedral({Vec3d{0, 0, 0}, Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}}) ==
        Approx(54.735610).epsilon(1e-6));
}

TEST_CASE("Heights over a tet's planes distinguish inside from outside") {
  INFO("seed " << kSeed);
  RandomNumbers random(kSeed);
  for (int i = 0; i < 200; ++i) {
    const Tet tet = RandomTet(&random);
    const TetPlanes planes(tet);
    for (size_t face = 0; face < 4; ++face) {
      // Six times the volume is twice the base's area times the height.
      const auto& [a, b, c] = FaceOf({0, 1, 2, 3}, face);
      const double base = Length(Cross(tet[b] - tet[a], tet[c] - tet[a]));
      CHECK(planes.Height(face, tet[face]) * base ==
            Approx(SixVolume(tet[0], tet[1], tet[2], tet[3])).epsilon(1e-9));
      CHECK(std::abs(planes.Height(face, tet[a])) < 1e-12);
      const Vec3d centre = (tet[a] + tet[b] + tet[c]) / 3.0;
      CHECK(planes.Depth(centre + (centre - tet[face]) * 0.01) < 0.0);
      CHECK(planes.Depth(centre - (centre - tet[face]) * 0.01) > 0.0);
    }
  }
}

TEST_CASE("Samples lie in the tet and fill it evenly") {
  // Over a tet, the mean of a corner's weight is 1/4 and the mean of its square is 1/10.
  constexpr uint64_t kCount = 4096;
  std::array<double, 4> sums = {};
  std::array<double, 4> squares = {};
  for (uint64_t i = 0; i < kCount; ++i) {
    const auto weights = SampleWeights(i);
    double sum = 0.0;
    for (size_t k = 0; k < 4; ++k) {
      CHECK(weights[k] >= 0.0);
      sum += weights[k];
      sums[k] += weights[k] / kCount;
      squares[k] += weights[k] * weights[k] / kCount;
    }
    CHECK(sum == Approx(1.0).epsilon(1e-12));
  }
  for (size_t k = 0; k < 4; ++k) {
    CHECK(std::abs(sums[k] - 0.25) < 0.006);
    CHECK(std::abs(squares[k] - 0.1) < 0.006);
  }
}

}  // namespace tet_quality_test
