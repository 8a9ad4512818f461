// SPDX-License-Identifier: MIT
// Exact signs of polynomials in float coordinates.
//
// A filter in double decides almost all signs [Shewchuk 1997, orient3d's first bound]. The rest are
// sums of exact products: a product of two floats is exact in double, a product of three is a sum
// of two doubles. No product underflows: floats are multiples of 2^-149.
#pragma once

#include "plush/types.h"

namespace plush {

/// Sign of (b - a) x (c - a) . (d - a), -1, 0 or 1. Positive if d is on the side of the triangle
/// abc from which it is seen counterclockwise. The coordinates must be finite.
int OrientSign(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);

/// Sign of the first component of (q - p) x (b - a) that is not zero; 0 if all are. The coordinates
/// must be finite.
int FirstCrossSign(const Vec3& p, const Vec3& q, const Vec3& a, const Vec3& b);

}  // namespace plush
