// SPDX-License-Identifier: MIT
#include "materials/first_root.h"

#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace plush;
using namespace plush::test;

namespace first_root_test {

// What rounding may make of p: its coefficients are added up in double precision.
template <class T>
long double RoundingOf(const std::array<T, 4>& c) {
  long double sum = 0.0L;
  for (const T a : c) sum += std::fabs((long double)a);
  return 8.0L * std::numeric_limits<T>::epsilon() * sum;
}

template <class T>
long double Exact(const std::array<T, 4>& c, long double t) {
  return c[0] + t * (c[1] + t * (c[2] + t * (long double)c[3]));
}

// Fails unless `found` is the first root of p to rounding: samples of p before it are not clearly
// negative, and p at it is not clearly positive.
template <class T>
void CheckFirst(const std::array<T, 4>& c) {
  const std::optional<T> found = FirstRoot(c);
  const long double rounding = RoundingOf(c);
  CAPTURE(c[0], c[1], c[2], c[3], found.value_or(T(-1)));
  constexpr int kPoints = 2000;
  const long double end = found ? (long double)*found : 1.0L;
  REQUIRE(end >= 0.0L);
  REQUIRE(end <= 1.0L);
  if (c[0] <= T(0)) {
    REQUIRE(found == T(0));
    return;
  }
  for (int i = 0; i < kPoints; ++i) REQUIRE(Exact(c, end * i / kPoints) > -rounding);
  if (found) {
    REQUIRE(Exact(c, *found) <= rounding);
    // Just before it, p is positive to rounding.
    const long double before = std::max(0.0L, end - 4.0L * std::numeric_limits<T>::epsilon());
    REQUIRE(Exact(c, before) > -rounding);
  } else {
    REQUIRE(Exact(c, 1.0L) > -rounding);
  }
}

TEST_CASE("The first root of random cubics is the first one that sampling sees", "[long]") {
  Random random(1);
  for (int i = 0; i < 4000; ++i) {
    std::array<double, 4> c{};
    for (double& a : c) a = random.Uniform(-1.0, 1.0);
    if (i % 5 == 1) c[3] = 0.0;
    if (i % 5 == 2) c[2] = c[3] = 0.0;
    if (i % 5 == 3) c[3] *= 1e-12;
    if (i % 7 == 1) c[1] = 0.0;
    CAPTURE(i);
    CheckFirst(c);
    CheckFirst(std::array<float, 4>{float(c[0]), float(c[1]), float(c[2]), float(c[3])});
  }
}

TEST_CASE("Known roots are found: simple, double, triple, close and at the ends", "[long]") {
  Random random(2);
  for (int i = 0; i < 4000; ++i) {
    double r[3];
    for (double& root : r) root = random.Uniform(-0.3, 1.3);
    double tolerance = 1e-7;
    if (i % 4 == 1) r[1] = r[0];         // double
    if (i % 4 == 2) r[1] = r[2] = r[0];  // triple
    if (i % 4 == 3) r[1] = r[0] + 1e-6;  // close
    if (i % 4 == 2) tolerance = 1e-4;    // a triple root is known to the cube root of eps
    // (r0 - t)(r1 - t)(r2 - t): positive for very negative t.
    const std::array<double, 4> c = {r[0] * r[1] * r[2], -(r[0] * r[1] + r[1] * r[2] + r[2] * r[0]),
                                     r[0] + r[1] + r[2], -1.0};
    CheckFirst(c);
    if (i % 4 == 1 || i % 4 == 3 || c[0] <= 1e-9) continue;  // rounding decides on touching roots
    std::sort(r, r + 3);
    double first = 2.0;
    for (const double root : r) {
      if (root >= 0.0 && root <= 1.0) first = std::min(first, root);
    }
    const std::optional<double> found = FirstRoot(c);
    CAPTURE(i, r[0], r[1], r[2], found.value_or(-1.0));
    REQUIRE(found.has_value() == (first <= 1.0));
    if (found) CHECK(*found == Approx(first).margin(tolerance));
  }
  CHECK(FirstRoot<double>({0.0, 1.0, 0.0, 0.0}) == 0.0);
  CHECK(FirstRoot<double>({-1.0, 5.0, 0.0, 0.0}) == 0.0);
  CHECK(FirstRoot<double>({1.0, -1.0, 0.0, 0.0}) == 1.0);
  CHECK(FirstRoot<double>({0.0, 0.0, 0.0, 0.0}) == 0.0);
  CHECK_FALSE(FirstRoot<double>({1.0, 0.0, 0.0, 0.0}).has_value());
  CHECK_FALSE(FirstRoot<double>({1.0, -0.999, 0.0, 0.0}).has_value());
}

TEST_CASE("Cubics of any scale have the same first root, and non-finite ones none") {
  const std::array<double, 4> c = {0.3, -2.0, 3.7, -2.1};
  const std::optional<double> root = FirstRoot(c);
  REQUIRE(root.has_value());
  for (const double scale : {1e-300, 1e-200, 1e-10, 1e10, 1e200, 1e300}) {
    std::array<double, 4> scaled = c;
    for (double& a : scaled) a *= scale;
    CHECK(FirstRoot(scaled) == Approx(*root).epsilon(1e-12));
  }
  for (size_t k = 0; k < 4; ++k) {
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      std::array<double, 4> broken = c;
      broken[k] = bad;
      CHECK_FALSE(FirstRoot(broken).has_value());
    }
  }
}

}  // namespace first_root_test
