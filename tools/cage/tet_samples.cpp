// SPDX-License-Identifier: MIT
#include "cage/tet_samples.h"

#include <cmath>

namespace plush::tools {
namespace {

// Steps of the sequence u_i = frac(i * step): powers of 1/g with g^4 = g + 1, the generalised
// golden ratio, fill the cube evenly. Samples on a grid would fall in layers that line up with the
// flat faces of axis-aligned models.
constexpr std::array<double, 3> kSteps = {0.8191725133961645, 0.6710436067037893,
                                          0.5497004779019703};

double Fraction(double value) { return value - std::floor(value); }

}  // namespace

std::array<double, 4> SampleWeights(uint64_t index) {
  double s = Fraction(0.5 + static_cast<double>(index) * kSteps[0]);
  double t = Fraction(0.5 + static_cast<double>(index) * kSteps[1]);
  double u = Fraction(0.5 + static_cast<double>(index) * kSteps[2]);
  if (s + t > 1.0) {
    s = 1.0 - s;
    t = 1.0 - t;
  }
  if (t + u > 1.0) {
    const double old_u = u;
    u = 1.0 - s - t;
    t = 1.0 - old_u;
  } else if (s + t + u > 1.0) {
    const double old_u = u;
    u = s + t + u - 1.0;
    s = 1.0 - t - old_u;
  }
  return {1.0 - s - t - u, s, t, u};
}

}  // namespace plush::tools
