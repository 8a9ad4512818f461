// SPDX-License-Identifier: MIT
// Arithmetic on poses, against Eigen and against slerp by its formula in long double.
#include "plush/pose.h"

#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace plush;
using namespace plush::test;

namespace pose_test {

// Slerp halves the way 32 times, so it stops at most this share of the way early.
constexpr double kLastHalf = 1.0 / 4294967296.0;

// Of all rotations, or by at most `most` radians.
Rotation RandomRotation(Random* random, double most = 3.14159) {
  const Eigen::Vector3d axis = random->Direction();
  const double angle = random->Uniform(0.0, most), s = std::sin(0.5 * angle);
  return {s * axis.x(), s * axis.y(), s * axis.z(), std::cos(0.5 * angle)};
}

Pose RandomPose(Random* random, double reach) {
  return {ToVec3(random->Vector(reach)), ToQuat(RandomRotation(random))};
}

Eigen::Matrix3d MatrixOf(const Rotation& q) {
  return Eigen::Quaterniond(q.w, q.x, q.y, q.z).toRotationMatrix();
}

Rotation Minus(const Rotation& q) { return {-q.x, -q.y, -q.z, -q.w}; }

double CosineOf(const Rotation& a, const Rotation& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

// Largest difference of a number.
double Apart(const Rotation& a, const Rotation& b) {
  return std::max(
      {std::fabs(a.x - b.x), std::fabs(a.y - b.y), std::fabs(a.z - b.z), std::fabs(a.w - b.w)});
}

bool Same(const Rotation& a, const Rotation& b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

bool Same(const Vec3& a, const Vec3& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

double LengthOf(const Rotation& q) { return std::sqrt(CosineOf(q, q)); }

// Angle of the rotation from a to b [rad], exact for small angles too.
double AngleFrom(const Rotation& a, const Rotation& b) {
  const Rotation d = b * Conjugate(a);
  return 2.0 * std::atan2(std::sqrt(d.x * d.x + d.y * d.y + d.z * d.z), std::fabs(d.w));
}

// sin((1 - t) angle) / sin(angle) a + sin(t angle) / sin(angle) b, on the shortest way.
Rotation SlerpByFormula(const Rotation& a, const Rotation& b, double t) {
  using Long = long double;
  const Long p[4] = {a.x, a.y, a.z, a.w};
  Long q[4] = {b.x, b.y, b.z, b.w}, cosine = 0, r[4];
  for (int k = 0; k < 4; ++k) cosine += p[k] * q[k];
  if (cosine < 0) {
    for (Long& number : q) number = -number;
    cosine = -cosine;
  }
  const Long angle = std::acos(std::min(cosine, Long{1})), s = std::sin(angle);
  if (s < Long{1e-9}) return a;  // the caller asks for no such angles but zero
  for (int k = 0; k < 4; ++k) {
    r[k] = (std::sin((1 - Long{t}) * angle) * p[k] + std::sin(Long{t} * angle) * q[k]) / s;
  }
  return {static_cast<double>(r[0]), static_cast<double>(r[1]), static_cast<double>(r[2]),
          static_cast<double>(r[3])};
}

// Place of a point by a pose, in double.
Eigen::Vector3d Placed(const Pose& pose, const Eigen::Vector3d& p) {
  return ToEigen(pose.position) + MatrixOf(plush::RotationOf(pose.rotation)) * p;
}

TEST_CASE("Slerp is the formula's, for small angles and half turns too") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  Random random(seed);
  double worst = 0.0;
  for (int i = 0; i < 2000; ++i) {
    const Rotation a = RandomRotation(&random);
    // A third at any angle, a third at small ones, a third close to half a turn.
    Rotation way = RandomRotation(&random);
    if (i % 3 == 1) way = RandomRotation(&random, 1e-3);
    if (i % 3 == 2) {
      const Eigen::Vector3d axis = random.Direction();
      way = Normalised({axis.x(), axis.y(), axis.z(), random.Uniform(-1e-6, 1e-6)});
    }
    const Rotation b = way * a;
    if (std::fabs(CosineOf(a, b)) < 1e-12) continue;  // both ways are as short
    // Random numbers have 32 bits, for which 32 halvings would be exact.
    const double t = random.Uniform(0.0, 1.0) * 0.9999;
    const double apart = Apart(Slerp(a, b, t), SlerpByFormula(a, b, t));
    worst = std::max(worst, apart);
  }
  CHECK(worst < 1.6 * kLastHalf);  // half the angle, at most pi / 2
  CHECK(worst > 0.1 * kLastHalf);  // else the tolerance says nothing
}

TEST_CASE("Slerp begins and ends exactly at its rotations, and goes the short way") {
  Random random(4);
  for (int i = 0; i < 500; ++i) {
    const Rotation a = RandomRotation(&random), b = RandomRotation(&random);
    const Rotation near = CosineOf(a, b) < 0.0 ? Minus(b) : b;
    const double t = random.Uniform(0.0, 1.0);
    REQUIRE(Same(Slerp(a, b, 0.0), a));
    REQUIRE(Same(Slerp(a, b, -1.0), a));
    REQUIRE(Same(Slerp(a, b, 1.0), near));
    REQUIRE(Same(Slerp(a, b, 2.0), near));
    REQUIRE(Same(Slerp(a, Minus(b), t), Slerp(a, b, t)));
    REQUIRE(AngleFrom(a, Slerp(a, b, 0.5)) < 1.5708);
    REQUIRE(AngleFrom(a, Slerp(a, b, 0.5)) == Approx(AngleFrom(Slerp(a, b, 0.5), b)).margin(1e-12));
    REQUIRE(LengthOf(Slerp(a, b, t)) == Approx(1.0).epsilon(1e-15));
    // Back on the same way.
    REQUIRE(AngleFrom(Slerp(a, b, t), Slerp(b, a, 1.0 - t)) < 7.0 * kLastHalf);
    // Between equal rotations there is no way.
    REQUIRE(Apart(Slerp(a, a, t), a) < 1e-15);
  }
}

TEST_CASE("Slerp turns at constant angular speed, about one axis") {
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    const Rotation a = RandomRotation(&random);
    const Rotation b = RandomRotation(&random, i % 2 == 0 ? 3.1 : 0.01) * a;
    const double angle = AngleFrom(a, b);
    const Rotation way = b * Conjugate(a);
    const int steps = 3 + i % 30;
    CAPTURE(i, angle, steps);
    Rotation last = a;
    for (int k = 1; k <= steps; ++k) {
      const Rotation now = Slerp(a, b, static_cast<double>(k) / steps);
      REQUIRE(AngleFrom(last, now) ==
              Approx(angle / steps).epsilon(0.0).margin(2.0 * angle * kLastHalf + 1e-15));
      const Rotation step = now * Conjugate(last);
      // The axis of each step is that of the whole way.
      const Eigen::Vector3d axis(way.x, way.y, way.z), turned(step.x, step.y, step.z);
      REQUIRE(axis.normalized().cross(turned).norm() < 1e-12);
      REQUIRE(std::fabs(axis.dot(turned)) > 0.0);
      last = now;
    }
  }
}

TEST_CASE("Products, inverses and turns of rotations are those of their matrices") {
  Random random(6);
  for (int i = 0; i < 500; ++i) {
    const Rotation a = RandomRotation(&random), b = RandomRotation(&random);
    REQUIRE((MatrixOf(a * b) - MatrixOf(a) * MatrixOf(b)).norm() < 1e-14);
    REQUIRE((MatrixOf(Conjugate(a)) - MatrixOf(a).transpose()).norm() < 1e-14);
    const Eigen::Vector3d v = random.Vector(10.0);
    Eigen::Vector3d turned = v;
    Turn(a, turned.data());
    REQUIRE((turned - MatrixOf(a) * v).norm() < 1e-14 * v.norm());
  }
}

TEST_CASE("Rotations become unit quaternions, unless they are none") {
  CHECK(Same(Normalised({0.0, 3.0, 0.0, 4.0}), Rotation{0.0, 0.6, 0.0, 0.8}));
  CHECK(Same(plush::RotationOf(Quat{0.0f, 0.0f, -1e-30f, 0.0f}), Rotation{0.0, 0.0, -1.0, 0.0}));
  CHECK(Same(plush::RotationOf(Quat{3e38f, 0.0f, 0.0f, 0.0f}), Rotation{1.0, 0.0, 0.0, 0.0}));
  CHECK(Same(Normalised({0.0, 0.0, 0.0, 0.0}), Rotation{}));
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float wrong : {inf, -inf, nan}) {
    CHECK(Same(plush::RotationOf(Quat{0.0f, wrong, 0.0f, 1.0f}), Rotation{}));
  }
}

TEST_CASE("Poses compose like their placements, and their inverses undo them") {
  Random random(7);
  for (const double reach : {0.0, 1.0, 1.0e4}) {
    // Floats store positions to 2^-24 of their size, and rotations to 2^-25 of 1.
    const double rounding = 4e-7 * (reach + 1e-9);
    for (int i = 0; i < 300; ++i) {
      CAPTURE(reach, i);
      const Pose a = RandomPose(&random, reach), b = RandomPose(&random, reach);
      const Eigen::Vector3d p = random.Vector(1.0);
      REQUIRE((Placed(a * b, p) - Placed(a, Placed(b, p))).norm() < 2.0 * rounding + 4e-7);
      REQUIRE((Placed(Inverse(a), Placed(a, p)) - p).norm() < 2.0 * rounding + 4e-7);
      REQUIRE((Placed(a, Placed(Inverse(a), p)) - p).norm() < 2.0 * rounding + 4e-7);
      REQUIRE((Placed(a * Inverse(a), p) - p).norm() < 4.0 * rounding + 8e-7);
      // The identity changes no position, and rotations only by rounding.
      REQUIRE(Same((Pose{} * a).position, a.position));
      REQUIRE(Same((a * Pose{}).position, a.position));
      REQUIRE((Placed(Pose{} * a, p) - Placed(a, p)).norm() < rounding + 2e-7);
    }
  }
  // The length of a rotation does not matter.
  const Pose a = RandomPose(&random, 1.0), b = RandomPose(&random, 1.0);
  Pose longer = a;
  longer.rotation = {4.0f * a.rotation.x, 4.0f * a.rotation.y, 4.0f * a.rotation.z,
                     4.0f * a.rotation.w};
  CHECK(Same((longer * b).position, (a * b).position));
  CHECK(Same(Inverse(longer).position, Inverse(a).position));
}

TEST_CASE("A pose goes to another one on a straight line while it turns") {
  Random random(8);
  for (int i = 0; i < 300; ++i) {
    Pose a = RandomPose(&random, 1.0), b = RandomPose(&random, 1.0);
    if (i % 3 == 0) a.position.x = 1.0e9f;  // a small end is exact even if the way is long
    if (i % 3 == 1) b.position.y = -1.0e9f;
    const double t = random.Uniform(0.0, 1.0);
    const Pose middle = Interpolated(a, b, t);
    const Eigen::Vector3d from = ToEigen(a.position), to = ToEigen(b.position);
    const Eigen::Vector3d expected = from + t * (to - from);
    for (int axis = 0; axis < 3; ++axis) {
      const double size = std::max(std::fabs(from[axis]), std::fabs(to[axis]));
      REQUIRE(std::fabs(ToEigen(middle.position)[axis] - expected[axis]) < 6.1e-8 * size);
    }
    const Rotation q = Slerp(plush::RotationOf(a.rotation), plush::RotationOf(b.rotation), t);
    REQUIRE(Apart(plush::RotationOf(middle.rotation), q) < 6e-8);
    REQUIRE(Same(Interpolated(a, b, 0.0).position, a.position));
    REQUIRE(Same(Interpolated(a, b, 1.0).position, b.position));
    REQUIRE(AngleFrom(plush::RotationOf(Interpolated(a, b, 1.0).rotation),
                      plush::RotationOf(b.rotation)) < 3e-7);
    REQUIRE(Same(Interpolated(a, a, t).position, a.position));
  }
}

}  // namespace pose_test
