// SPDX-License-Identifier: MIT
#include "simulate/motion.h"

#include <catch2/catch.hpp>

#include <cmath>

namespace plush::tools {

TEST_CASE("A motion meets its keys, and rests before the first and after the last one") {
  const Pose a = {{1, 2, 3}, {0, 0, 0, 1}}, b = {{-1, 5, 3}, {0, 0.6f, 0, 0.8f}};
  const Pose c = {{4, 4, 4}, {1, 0, 0, 0}};
  const Motion motion = {{{0.5, a}, {1.5, b}, {1.75, c}}};
  for (const double time : {0.0, 0.25, 0.5}) CHECK(Equal(motion.At(time), a));
  CHECK(Equal(motion.At(1.5), b));
  for (const double time : {1.75, 2.0, 1.0e9}) CHECK(Equal(motion.At(time), c));
  CHECK_FALSE(Equal(motion.At(0.51), a));
}

TEST_CASE("Between keys the position moves on a line and the angle grows evenly") {
  // From angle 0.3 to angle 2.3 about z, in 4 seconds.
  const auto about_z = [](double angle) {
    return Quat{0, 0, static_cast<float>(std::sin(0.5 * angle)),
                static_cast<float>(std::cos(0.5 * angle))};
  };
  const Motion motion = {{{1.0, {{0, 0, 0}, about_z(0.3)}}, {5.0, {{8, -4, 0}, about_z(2.3)}}}};
  for (int i = 0; i <= 16; ++i) {
    const double t = i / 16.0;
    const Pose pose = motion.At(1.0 + 4.0 * t);
    const Quat expected = about_z(0.3 + 2.0 * t);
    INFO("t " << t);
    CHECK(pose.position.x == Approx(8.0 * t).margin(1.0e-6));
    CHECK(pose.position.y == Approx(-4.0 * t).margin(1.0e-6));
    CHECK(pose.rotation.z == Approx(expected.z).margin(1.0e-6));
    CHECK(pose.rotation.w == Approx(expected.w).margin(1.0e-6));
  }
}

TEST_CASE("A turn takes the shorter way, whatever the signs of the quaternions") {
  const Motion motion = {{{0.0, {{}, {0, 0, 0, 1}}}, {1.0, {{}, {0, 0, -0.6f, -0.8f}}}}};
  const Quat half = motion.At(0.5).rotation;  // of 2 asin 0.6: half the angle has tangent 1/3
  CHECK(std::fabs(half.z / half.w) == Approx(1.0 / 3.0));
  CHECK(half.z / half.w > 0.0f);
}

}  // namespace plush::tools
