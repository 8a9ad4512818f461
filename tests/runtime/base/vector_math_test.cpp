// SPDX-License-Identifier: MIT
#include "base/vector_math.h"

#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <limits>

using namespace plush;
using namespace plush::test;

namespace vector_math_test {

void CheckSame(const Mat3& a, const Eigen::Matrix3d& b) {
  CHECK((ToEigen(a) - b).norm() < 1e-6 * (1.0 + b.norm()));
}

TEST_CASE("Vectors and matrices calculate like Eigen's") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  Random random(seed);
  const Mat3 a = ToMat3(random.Matrix(2.0)), b = ToMat3(random.Matrix(2.0));
  const Vec3 u = ToVec3(random.Vector(2.0)), v = ToVec3(random.Vector(2.0));
  const Eigen::Matrix3d A = ToEigen(a), B = ToEigen(b);
  CheckSame(a * b, A * B);
  CheckSame(a + b, A + B);
  CheckSame(a - b, A - B);
  CheckSame(a * 3.0f, A * 3.0);
  CheckSame(Transpose(a), A.transpose());
  CheckSame(TransposeTimes(a, b), A.transpose() * B);
  CheckSame(Cofactor(a), A.determinant() * A.inverse().transpose());
  CHECK(Determinant(a) == Approx(A.determinant()).margin(1e-5));
  CHECK(SquaredNorm(a) == Approx(A.squaredNorm()));
  CHECK((ToEigen(a * u) - A * ToEigen(u)).norm() < 1e-5);
  CHECK((ToEigen(Cross(u, v)) - ToEigen(u).cross(ToEigen(v))).norm() < 1e-5);
  CHECK(Dot(u, v) == Approx(ToEigen(u).dot(ToEigen(v))).margin(1e-5));
  CHECK(Length(u) == Approx(ToEigen(u).norm()));
  CHECK((ToEigen(-u + v * 2.0f - 0.5f * u) - (2.0 * ToEigen(v) - 1.5 * ToEigen(u))).norm() < 1e-5);
}

TEST_CASE("Quaternions multiply and turn like their matrices") {
  const uint32_t seed = GENERATE(4u, 5u, 6u);
  CAPTURE(seed);
  Random random(seed);
  const Eigen::Matrix3d R = random.Rotation(), S = random.Rotation();
  CheckSame(RotationMatrix(ToQuat(R)), R);
  CheckSame(RotationMatrix(ToQuat(R) * ToQuat(S)), R * S);
  CheckSame(RotationMatrix(Quat{}), Eigen::Matrix3d::Identity());
}

TEST_CASE("Only numbers are finite") {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(IsFinite(Vec3{1.0f, -3.0e38f, 0.0f}));
  for (const float wrong : {inf, -inf, nan}) {
    CHECK_FALSE(IsFinite(Vec3{wrong, 0.0f, 0.0f}));
    CHECK_FALSE(IsFinite(Vec3{0.0f, wrong, 0.0f}));
    CHECK_FALSE(IsFinite(Vec3{0.0f, 0.0f, wrong}));
  }
}

}  // namespace vector_math_test
