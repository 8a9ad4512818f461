// SPDX-License-Identifier: MIT
#include "import/affine_transform.h"

#include <catch2/catch.hpp>

#include <random>

using plush::tools::AffineTransform;
using plush::tools::Vec3d;

namespace {

AffineTransform RandomTransform(std::mt19937* random) {
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  std::array<double, 16> m = {};
  for (double& x : m) x = unit(*random);
  return AffineTransform::FromRowMajor(m);
}

}  // namespace

TEST_CASE("Transforms compose, and normals stay perpendicular to surfaces") {
  std::mt19937 random(12);
  for (int i = 0; i < 200; ++i) {
    const AffineTransform a = RandomTransform(&random);
    const AffineTransform b = RandomTransform(&random);
    const Vec3d x = {0.3, -0.7, 0.2};
    const Vec3d y = {-0.1, 0.4, 0.9};
    CHECK(Length(a.After(b).Point(x) - a.Point(b.Point(x))) < 1e-12);
    CHECK(a.After(b).Determinant() == Approx(a.Determinant() * b.Determinant()).margin(1e-12));
    const Vec3d n = Cross(x, y);
    const Vec3d moved = a.ForNormals().Direction(n);
    CHECK(Dot(moved, a.Direction(x)) == Approx(0.0).margin(1e-12));
    CHECK(Dot(moved, a.Direction(y)) == Approx(0.0).margin(1e-12));
    // Whoever stood outside before stands outside after, mirrored or not.
    CHECK(Dot(moved, a.Direction(n)) > 0.0);
  }
}

TEST_CASE("Only positive multiples of the identity keep directions") {
  const auto diagonal = [](double x, double y, double z) {
    return AffineTransform::FromRowMajor({x, 0, 0, 5, 0, y, 0, 6, 0, 0, z, 7, 0, 0, 0, 1});
  };
  CHECK(diagonal(1, 1, 1).KeepsDirections());
  CHECK(diagonal(0.01, 0.01, 0.01).KeepsDirections());
  CHECK_FALSE(diagonal(-1, -1, -1).KeepsDirections());
  CHECK_FALSE(diagonal(1, 2, 1).KeepsDirections());
  CHECK_FALSE(diagonal(0, 0, 0).KeepsDirections());
}
