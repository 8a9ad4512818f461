// SPDX-License-Identifier: MIT
// Exact signs against integers of 128 bits.
#include "intersection/exact_signs.h"

#include <catch2/catch.hpp>

#include <array>
#include <cstdint>
#include <random>

using namespace plush;

namespace exact_signs_test {

__extension__ using Wide = __int128;
using Point = std::array<int64_t, 3>;

int SignOf(Wide value) { return value > 0 ? 1 : value < 0 ? -1 : 0; }
Vec3 ToVec(const Point& p) { return {float(p[0]), float(p[1]), float(p[2])}; }

Wide Minor(const Point& u, const Point& v, int i) {
  const int j = (i + 1) % 3, k = (i + 2) % 3;
  return Wide(u[j]) * v[k] - Wide(u[k]) * v[j];
}
Point Minus(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

int WideOrient(const Point& a, const Point& b, const Point& c, const Point& d) {
  const Point u = Minus(b, a), v = Minus(c, a), w = Minus(d, a);
  return SignOf(Minor(u, v, 0) * w[0] + Minor(u, v, 1) * w[1] + Minor(u, v, 2) * w[2]);
}

int WideCross(const Point& p, const Point& q, const Point& a, const Point& b) {
  for (int i = 0; i < 3; ++i)
    if (const int sign = SignOf(Minor(Minus(q, p), Minus(b, a), i))) return sign;
  return 0;
}

// Integers that a float holds: up to 24 bits, times a power of two up to 2^12.
struct Points {
  std::mt19937 random;
  int64_t Coordinate(int bits) {
    const int64_t value = int64_t(random() >> (32 - bits)) - (int64_t(1) << (bits - 1));
    return value << (random() % 13);
  }
  Point Any(int bits) { return {Coordinate(bits), Coordinate(bits), Coordinate(bits)}; }
};

TEST_CASE("Exact signs equal those of wide integers") {
  const uint32_t seed = 17;
  CAPTURE(seed);
  Points points{std::mt19937(seed)};
  int zeros = 0, near_planes = 0;
  for (int i = 0; i < 200000; ++i) {
    const int bits = 2 + i % 23;
    Point a = points.Any(bits), b = points.Any(bits), c = points.Any(bits), d = points.Any(bits);
    if (i % 3 == 1) {  // coplanar, or off the plane by one unit
      const int64_t s = i % 5 - 2, t = i % 7 - 3;
      for (int k = 0; k < 3; ++k) {
        const int64_t off = i % 4 == 3 && k == 1 ? 1 : 0;
        b[k] = a[k] % 1024 + b[k] % 1024, c[k] = c[k] % 1024 << 4, a[k] %= 1024;
        d[k] = a[k] + s * (b[k] - a[k]) + t * (c[k] - a[k]) + off;
      }
    }
    if (i % 11 == 0) d = i % 2 ? a : c;
    CAPTURE(i);
    const int expected = WideOrient(a, b, c, d), cross = WideCross(a, b, c, d);
    zeros += expected == 0;
    near_planes += i % 12 == 7 && expected != 0;
    REQUIRE(OrientSign(ToVec(a), ToVec(b), ToVec(c), ToVec(d)) == expected);
    REQUIRE(OrientSign(ToVec(b), ToVec(a), ToVec(c), ToVec(d)) == -expected);
    REQUIRE(FirstCrossSign(ToVec(a), ToVec(b), ToVec(c), ToVec(d)) == cross);
  }
  CHECK(zeros > 10000);
  CHECK(near_planes > 1000);
}

TEST_CASE("Exact signs hold for floats of any size") {
  // The smallest and the largest floats: d is off the plane of a, b, c by the least step there is.
  const float least = 0x1p-149f, most = 0x1p127f;
  const Vec3 a{0, 0, 0}, b{most, 0, least}, c{0, most, 0};
  CHECK(OrientSign(a, b, c, {most, 0, least}) == 0);
  CHECK(OrientSign(a, b, c, {most, 0, 0}) == -1);
  CHECK(OrientSign(a, b, c, {most, 0, 2 * least}) == 1);
  CHECK(OrientSign(a, {least, 0, 0}, {0, least, 0}, {0, 0, least}) == 1);
  CHECK(FirstCrossSign(a, {least, least, 0}, a, {least, least, 0}) == 0);
  CHECK(FirstCrossSign(a, {least, 0, 0}, a, {0, least, 0}) == 1);
  CHECK(FirstCrossSign(a, {most, least, 0}, a, {most, 0, 0}) == -1);
}

}  // namespace exact_signs_test
