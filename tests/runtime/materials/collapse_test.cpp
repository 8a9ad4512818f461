// SPDX-License-Identifier: MIT
#include "materials/collapse.h"

#include "runtime/materials/material_fixtures.h"

#include <catch2/catch.hpp>

#include <array>
#include <limits>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace collapse_test {

using Nodes = std::array<Eigen::Vector3d, 4>;

constexpr double kAlpha = 0.1;

Matrix EdgesOf(const Nodes& x) {
  return {FromEigen(Eigen::Vector3d(x[1] - x[0])), FromEigen(Eigen::Vector3d(x[2] - x[0])),
          FromEigen(Eigen::Vector3d(x[3] - x[0]))};
}
Matrix InverseOf(const Matrix& m) { return FromEigen(Eigen::Matrix3d(ToEigen(m).inverse())); }

// A tet's rest shape and what its gradients make of node positions.
struct Tet4 {
  explicit Tet4(Random* random) {
    do {
      for (auto& x : rest) x = random->Vector(1.0);
    } while (Determinant(EdgesOf(rest)) < 0.2);
    dm_inv = InverseOf(EdgesOf(rest));
  }
  Matrix GradientAt(const Nodes& x) const { return EdgesOf(x) * dm_inv; }

  Nodes rest;
  Matrix dm_inv;
};

// Whether the features of `witness` meet: some point of A's hull is within `distance` of B's, by
// trying all pairs of a fine grid of points.
double FeatureDistance(const Nodes& x, Witness witness) {
  std::vector<Eigen::Vector3d> in_a, in_b;
  for (int i = 0; i < 4; ++i) (witness >> i & 1 ? in_a : in_b).push_back(x[size_t(i)]);
  const auto points_of = [](const std::vector<Eigen::Vector3d>& corners) {
    constexpr int kSteps = 60;
    std::vector<Eigen::Vector3d> points;
    if (corners.size() == 1) return corners;
    for (int i = 0; i <= kSteps; ++i) {
      const double s = double(i) / kSteps;
      if (corners.size() == 2) {
        points.push_back(corners[0] * (1.0 - s) + corners[1] * s);
        continue;
      }
      for (int k = 0; k + i <= kSteps; ++k) {
        const double t = double(k) / kSteps;
        points.push_back(corners[0] * (1.0 - s - t) + corners[1] * s + corners[2] * t);
      }
    }
    return points;
  };
  double least = std::numeric_limits<double>::infinity();
  for (const auto& a : points_of(in_a)) {
    for (const auto& b : points_of(in_b)) least = std::min(least, (a - b).norm());
  }
  return least;
}

TEST_CASE("Seven pairs of features are witnesses") {
  int count = 0;
  for (int bits = 0; bits < 256; ++bits) count += IsWitness(static_cast<uint8_t>(bits));
  CHECK(count == 8);  // and none
  for (uint8_t nodes = 1; nodes < 15; ++nodes) {
    CHECK(IsWitness(WitnessOf(nodes)));
    CHECK(WitnessOf(nodes) != kNoWitness);
    CHECK(WitnessOf(nodes) == WitnessOf(static_cast<uint8_t>(~nodes & 15)));
  }
}

TEST_CASE("The witness of a flat tet is the pair of features that intersect") {
  Random random(1);
  std::array<int, 16> seen{};
  for (int i = 0; i < 300; ++i) {
    // Four points of a plane, hardly off it.
    Nodes x;
    const Eigen::Matrix3d turn = random.Rotation();
    for (auto& point : x) {
      point = turn * Eigen::Vector3d(random.Uniform(-1, 1), random.Uniform(-1, 1),
                                     random.Uniform(-1e-6, 1e-6));
    }
    const Witness witness = FlattenedWitness(EdgesOf(x));
    CAPTURE(i, int(witness));
    REQUIRE(IsWitness(witness));
    REQUIRE(witness != kNoWitness);
    REQUIRE(FeatureDistance(x, witness) < 0.05);  // the grid's step
    ++seen[witness];
  }
  for (const int witness : {1, 2, 4, 8, 3, 5, 9}) {
    CAPTURE(witness);
    CHECK(seen[size_t(witness)] > 10);
  }
}

TEST_CASE("The collapse is found where det F first falls to alpha along the nodes' lines") {
  Random random(2);
  int collapses = 0;
  for (int i = 0; i < 2000; ++i) {
    const Tet4 tet(&random);
    Nodes begin = tet.rest, end = tet.rest;
    for (auto& x : end) x += random.Vector(1.5);
    for (auto& x : begin) x += random.Vector(0.1);
    const Matrix F0 = tet.GradientAt(begin), F1 = tet.GradientAt(end);
    if (Determinant(F0) < kAlpha) continue;
    const auto found = FirstCollapse(F0, F1, kAlpha);
    constexpr int kSteps = 2000;
    double sampled = 2.0;
    for (int k = 0; k <= kSteps && sampled > 1.0; ++k) {
      const double t = double(k) / kSteps;
      Nodes x;
      for (size_t n = 0; n < 4; ++n) x[n] = begin[n] * (1.0 - t) + end[n] * t;
      if (Determinant(tet.GradientAt(x)) <= kAlpha) sampled = t;
    }
    CAPTURE(i, sampled, found.value_or(-1.0));
    if (sampled <= 1.0) {
      REQUIRE(found.has_value());
      REQUIRE(*found <= sampled + 1e-12);
      REQUIRE(*found > sampled - 0.05);
      ++collapses;
    }
    if (found) {
      Nodes x;
      for (size_t n = 0; n < 4; ++n) x[n] = begin[n] * (1.0 - *found) + end[n] * *found;
      CHECK(Determinant(tet.GradientAt(x)) == Approx(kAlpha).margin(1e-9));
    }
  }
  CHECK(collapses > 300);
}

TEST_CASE(
    "A vertex that passes through a face, and edges that pass, are remembered until recovery") {
  Random random(3);
  for (int i = 0; i < 500; ++i) {
    const Tet4 tet(&random);
    const auto node = size_t(i % 4);
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();
    for (size_t k = 0; k < 4; ++k) {
      if (k != node) centre += tet.rest[k] / 3.0;
    }
    Nodes through = tet.rest;
    through[node] = centre - 0.3 * (tet.rest[node] - centre);
    // Edges: their middles pass each other.
    const Witness edges[3] = {3, 5, 9};
    const Witness pair = edges[i % 3];
    Eigen::Vector3d gap = Eigen::Vector3d::Zero();
    for (size_t k = 0; k < 4; ++k) gap += (pair >> k & 1 ? -0.5 : 0.5) * tet.rest[k];
    Nodes crossed = tet.rest;
    for (size_t k = 0; k < 4; ++k) {
      if (pair >> k & 1) crossed[k] += 1.3 * gap;
    }
    const Matrix rest = tet.GradientAt(tet.rest);
    CAPTURE(i, node, int(pair));
    for (const auto& [moved, expected] :
         {std::pair(through, static_cast<Witness>(1u << node)), std::pair(crossed, pair)}) {
      const Matrix F = tet.GradientAt(moved);
      REQUIRE(Determinant(F) < 0.0);
      // With a small alpha the tet is flat at the collapse, and the pair is unique.
      const Witness witness = UpdateWitness(kNoWitness, rest, F, tet.dm_inv, 1e-4);
      CHECK(witness == expected);
      // It stays, whatever the next configuration looks like, until the tet ends above alpha.
      const Matrix other = FromEigen(random.Matrix(0.05));
      CHECK(UpdateWitness(witness, F, other, tet.dm_inv, kAlpha) == witness);
      CHECK(UpdateWitness(witness, F, rest, tet.dm_inv, kAlpha) == kNoWitness);
      // Floats decide alike.
      CHECK(UpdateWitness(kNoWitness, Cast<float>(rest), Cast<float>(F), Cast<float>(tet.dm_inv),
                          1e-4) == witness);
    }
  }
}

TEST_CASE("Even collapses correct themselves, and tets that begin degenerate take their shape") {
  Random random(4);
  int turned = 0;
  for (int i = 0; i < 500; ++i) {
    const Tet4 tet(&random);
    const Matrix rest = tet.GradientAt(tet.rest);
    // Half a turn along straight lines presses the tet flat on the way: det F(t) touches or passes
    // zero and comes back.
    const Matrix half =
        FromEigen(Eigen::Matrix3d(Eigen::AngleAxisd(3.1, random.Direction()).toRotationMatrix()));
    if (FirstCollapse(rest, half, kAlpha)) ++turned;
    CHECK(UpdateWitness(kNoWitness, rest, half, tet.dm_inv, kAlpha) == kNoWitness);
    // Degenerate at the start: the pair of the start, wherever the step leads.
    const Matrix flat = WithSingularValues(&random, {1.0, 0.8, 0.05});
    const Matrix end = WithSingularValues(&random, {1.0, 0.9, -0.4}), dm = InverseOf(tet.dm_inv);
    CHECK(UpdateWitness(kNoWitness, flat, end, tet.dm_inv, kAlpha) == FlattenedWitness(flat * dm));
    CHECK(UpdateWitness(kNoWitness, end, end, tet.dm_inv, kAlpha) == FlattenedWitness(end * dm));
  }
  CHECK(turned > 400);
}

TEST_CASE("Witnesses of points, lines and numbers that are not finite") {
  Random random(5);
  const Tet4 tet(&random);
  const Matrix rest = tet.GradientAt(tet.rest);
  for (int i = 0; i < 200; ++i) {
    Matrix F{};
    if (i > 0) F = WithSingularValues(&random, {1.0, 0.0, 0.0});
    if (i > 100) F = WithSingularValues(&random, {1.0, 1.0, 0.0});
    const Witness witness = UpdateWitness(kNoWitness, rest, F, tet.dm_inv, kAlpha);
    CAPTURE(i, int(witness));
    CHECK(IsWitness(witness));
    CHECK(witness != kNoWitness);
  }
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Matrix broken = rest;
    broken.c2.y = bad;
    CHECK(UpdateWitness(kNoWitness, rest, broken, tet.dm_inv, kAlpha) == kNoWitness);
    CHECK(UpdateWitness(5, broken, rest, tet.dm_inv, kAlpha) == 5);
  }
}

}  // namespace collapse_test
