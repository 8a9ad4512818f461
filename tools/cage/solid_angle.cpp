// SPDX-License-Identifier: MIT
#include "cage/solid_angle.h"

#include <cmath>

namespace plush::tools {
namespace {

constexpr double kPi = 3.14159265358979323846;

// atan(t) for 0 <= t <= 1.
double AtanOfUnit(double t) {
  // atan(t) = pi/4 + atan((t - 1)/(t + 1)) leaves |t| <= tan(pi/8) = 0.414 to the series, whose
  // first term left out is 0.414^25 / 25 = 1e-11.
  double base = 0.0;
  if (t > 0.41421356237309503) {
    base = kPi / 4.0;
    t = (t - 1.0) / (t + 1.0);
  }
  const double s = t * t;
  double series = 0.0;
  for (int k = 23; k >= 1; k -= 2) {
    series = ((k / 2) % 2 == 0 ? 1.0 : -1.0) / k + s * series;
  }
  return base + t * series;
}

}  // namespace

double PortableAtan2(double y, double x) {
  const double ax = std::abs(x);
  const double ay = std::abs(y);
  if (ax == 0.0 && ay == 0.0) return 0.0;
  double angle = ay <= ax ? AtanOfUnit(ay / ax) : kPi / 2.0 - AtanOfUnit(ax / ay);
  if (x < 0.0) angle = kPi - angle;
  return y < 0.0 ? -angle : angle;
}

double WindingOfTriangle(const Vec3d& point, const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const Vec3d pa = a - point;
  const Vec3d pb = b - point;
  const Vec3d pc = c - point;
  const double la = Length(pa);
  const double lb = Length(pb);
  const double lc = Length(pc);
  const double numerator = Dot(pa, Cross(pb, pc));
  const double denominator = la * lb * lc + Dot(pa, pb) * lc + Dot(pb, pc) * la + Dot(pc, pa) * lb;
  if (numerator == 0.0) return 0.0;
  return PortableAtan2(numerator, denominator) / (2.0 * kPi);
}

}  // namespace plush::tools
