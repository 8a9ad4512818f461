// SPDX-License-Identifier: MIT
#include "intersection/exact_signs.h"

#include <cmath>

namespace plush {
namespace {

// A sum of doubles without rounding: a nonoverlapping expansion, grown by one number at a time
// [Shewchuk 1997, Grow-Expansion]. Its largest part, which has its sign, is the last one.
class ExactSum {
 public:
  void Add(double value) {
    int count = 0;
    for (int i = 0; i < count_; ++i) {
      const double sum = value + parts_[i];
      const double virtual_part = sum - value;
      const double error = (value - (sum - virtual_part)) + (parts_[i] - virtual_part);
      if (error != 0.0) parts_[count++] = error;
      value = sum;
    }
    if (value != 0.0) parts_[count++] = value;
    count_ = count;
  }
  int Sign() const { return count_ == 0 ? 0 : parts_[count_ - 1] > 0.0 ? 1 : -1; }

 private:
  double parts_[48];  // at most one per number that was added
  int count_ = 0;
};

// sum += sign * det(a, b, c)
void AddDeterminant(double sign, const Vec3& a, const Vec3& b, const Vec3& c, ExactSum* sum) {
  const auto add = [&](double x, double y, double z) {
    const double xy = x * y;  // exact
    const double product = xy * z;
    sum->Add(product);
    sum->Add(std::fma(xy, z, -product));
  };
  add(sign * a.x, b.y, c.z);
  add(-sign * a.x, b.z, c.y);
  add(sign * a.y, b.z, c.x);
  add(-sign * a.y, b.x, c.z);
  add(sign * a.z, b.x, c.y);
  add(-sign * a.z, b.y, c.x);
}

// Sign of (q0 - p0) (b1 - a1) - (q1 - p1) (b0 - a0).
int MinorSign(double p0, double q0, double a1, double b1, double p1, double q1, double a0,
              double b0) {
  const double left = (q0 - p0) * (b1 - a1), right = (q1 - p1) * (b0 - a0);
  constexpr double kBound = 4.0 * 0x1p-53;  // Shewchuk: (3 + 16 eps) eps
  if (std::fabs(left - right) > kBound * (std::fabs(left) + std::fabs(right)))
    return left > right ? 1 : -1;
  ExactSum sum;
  sum.Add(q0 * b1);
  sum.Add(-(q0 * a1));
  sum.Add(-(p0 * b1));
  sum.Add(p0 * a1);
  sum.Add(-(q1 * b0));
  sum.Add(q1 * a0);
  sum.Add(p1 * b0);
  sum.Add(-(p1 * a0));
  return sum.Sign();
}

}  // namespace

int OrientSign(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  const double ux = double(b.x) - a.x, uy = double(b.y) - a.y, uz = double(b.z) - a.z;
  const double vx = double(c.x) - a.x, vy = double(c.y) - a.y, vz = double(c.z) - a.z;
  const double wx = double(d.x) - a.x, wy = double(d.y) - a.y, wz = double(d.z) - a.z;
  const double value =
      (uy * vz - uz * vy) * wx + (uz * vx - ux * vz) * wy + (ux * vy - uy * vx) * wz;
  const double size = (std::fabs(uy * vz) + std::fabs(uz * vy)) * std::fabs(wx) +
                      (std::fabs(uz * vx) + std::fabs(ux * vz)) * std::fabs(wy) +
                      (std::fabs(ux * vy) + std::fabs(uy * vx)) * std::fabs(wz);
  constexpr double kBound = 8.0 * 0x1p-53;  // Shewchuk: (7 + 56 eps) eps
  if (value > kBound * size) return 1;
  if (value < -kBound * size) return -1;
  // Most ties are between copies of one body at the same place.
  const auto are_same = [](const Vec3& p, const Vec3& q) {
    return p.x == q.x && p.y == q.y && p.z == q.z;
  };
  if (are_same(a, b) || are_same(a, c) || are_same(a, d) || are_same(b, c) || are_same(b, d) ||
      are_same(c, d)) {
    return 0;
  }
  ExactSum sum;
  AddDeterminant(1.0, b, c, d, &sum);
  AddDeterminant(-1.0, a, c, d, &sum);
  AddDeterminant(1.0, a, b, d, &sum);
  AddDeterminant(-1.0, a, b, c, &sum);
  return sum.Sign();
}

int FirstCrossSign(const Vec3& p, const Vec3& q, const Vec3& a, const Vec3& b) {
  if (const int x = MinorSign(p.y, q.y, a.z, b.z, p.z, q.z, a.y, b.y)) return x;
  if (const int y = MinorSign(p.z, q.z, a.x, b.x, p.x, q.x, a.z, b.z)) return y;
  return MinorSign(p.x, q.x, a.y, b.y, p.y, q.y, a.x, b.x);
}

}  // namespace plush
