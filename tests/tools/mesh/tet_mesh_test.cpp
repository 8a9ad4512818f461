// SPDX-License-Identifier: MIT
// Shape and position formulas against known tets, random points and brute-force sampling.
#include "mesh/tet_mesh.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <random>

using namespace plush::tools;

TEST_CASE("A regular tet has quality 1, a flat one and a point 0, a turned one -1") {
  const TetCorners regular = {{{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}}};
  CHECK(std::abs(TetQuality(regular)) == Approx(1.0));
  const TetCorners turned = {regular[1], regular[0], regular[2], regular[3]};
  CHECK(TetQuality(turned) == Approx(-TetQuality(regular)));
  CHECK(TetQuality({{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}}) == 0.0);
  CHECK(TetQuality({}) == 0.0);
}

TEST_CASE("Dihedral angles of a regular tet are acos(1/3), of a corner tet up to 90 degrees") {
  const double degrees = 180.0 / std::acos(-1.0);
  const DihedralRange regular = TetDihedrals({{{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}}});
  CHECK(regular.min_deg == Approx(std::acos(1.0 / 3.0) * degrees));
  CHECK(regular.max_deg == Approx(regular.min_deg));
  const DihedralRange corner = TetDihedrals({{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}});
  CHECK(corner.min_deg == Approx(std::acos(1.0 / std::sqrt(3.0)) * degrees));
  CHECK(corner.max_deg == Approx(90.0));
  CHECK(TetDihedrals({}).min_deg == 0.0);
}

using namespace plush::tools;

namespace {

class RandomNumbers {
 public:
  explicit RandomNumbers(uint32_t seed) : random_(seed) {}
  double Uniform(double lower, double upper) {
    return std::uniform_real_distribution<double>(lower, upper)(random_);
  }
  Vec3d Point(double size) {
    const double x = Uniform(-size, size), y = Uniform(-size, size);
    return {x, y, Uniform(-size, size)};
  }

 private:
  std::mt19937 random_;
};

}  // namespace

TEST_CASE("Barycentric weights reproduce the point and distinguish inside from outside") {
  RandomNumbers random(11);
  for (int round = 0; round < 200; ++round) {
    TetCorners tet = {random.Point(1), random.Point(1), random.Point(1), random.Point(1)};
    if (SixVolume(tet[0], tet[1], tet[2], tet[3]) < 0.0) std::swap(tet[2], tet[3]);
    if (SixVolume(tet[0], tet[1], tet[2], tet[3]) < 1e-3) continue;
    const Vec3d point = random.Point(1);
    const auto w = BarycentricWeights(point, tet);
    CHECK(w[0] + w[1] + w[2] + w[3] == Approx(1.0));
    CHECK(Length(tet[0] * w[0] + tet[1] * w[1] + tet[2] * w[2] + tet[3] * w[3] - point) < 1e-9);
    CHECK((SquaredDistance(point, tet) == 0.0) == (*std::min_element(w.begin(), w.end()) >= 0.0));
  }
}

TEST_CASE("No sample of a triangle is nearer than its closest point") {
  RandomNumbers random(12);
  for (int round = 0; round < 200; ++round) {
    const Vec3d a = random.Point(1), b = random.Point(1);
    const Vec3d c = round % 10 == 0 ? a + (b - a) * 0.5 : random.Point(1);  // some without area
    const Vec3d point = random.Point(2), closest = ClosestPointOnTriangle(point, a, b, c);
    double nearest_sample = 1e9;
    constexpr int kSteps = 60;
    for (int i = 0; i <= kSteps; ++i) {
      for (int j = 0; i + j <= kSteps; ++j) {
        const Vec3d sample = (a * (kSteps - i - j) + b * i + c * j) / static_cast<double>(kSteps);
        nearest_sample = std::min(nearest_sample, Length(sample - point));
      }
    }
    CHECK(Length(closest - point) <= nearest_sample + 1e-12);
    CHECK(Length(closest - point) > nearest_sample - 0.1);
  }
}

TEST_CASE("The distance to a tet is that to its nearest face") {
  RandomNumbers random(13);
  const TetCorners tet = {Vec3d{0, 0, 0}, Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}};
  CHECK(SquaredDistance({0.1, 0.2, 0.3}, tet) == 0.0);
  CHECK(SquaredDistance({-2, 0.2, 0.2}, tet) == Approx(4.0));
  CHECK(SquaredDistance({-1, -1, -1}, tet) == Approx(3.0));
  CHECK(SquaredDistance({1, 1, 1}, tet) == Approx(4.0 / 3.0));
  for (int round = 0; round < 200; ++round) {
    const Vec3d point = random.Point(3);
    const auto w = BarycentricWeights(point, tet);
    if (*std::min_element(w.begin(), w.end()) >= 0.0) continue;
    double expected = 1e9;
    for (size_t skip = 0; skip < 4; ++skip) {
      std::array<Vec3d, 3> face;
      for (size_t i = 0, k = 0; i < 4; ++i) {
        if (i != skip) face[k++] = tet[i];
      }
      expected =
          std::min(expected,
                   LengthSquared(ClosestPointOnTriangle(point, face[0], face[1], face[2]) - point));
    }
    CHECK(SquaredDistance(point, tet) == Approx(expected));
  }
}
