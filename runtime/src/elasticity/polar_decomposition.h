// SPDX-License-Identifier: MIT
// Rotation of a deformation gradient by Newton's method on SO(3).
// Based on:
// Tassilo Kugelstadt, Dan Koschier, Jan Bender. Fast Corotated FEM using Operator Splitting. 2018
#pragma once

#include "plush/types.h"

namespace plush {

/// Analytic polar decomposition [Kug, Alg. 3]: the rotation R that minimises |R - F|^2, as a unit
/// quaternion, from `warm_start` on, a unit quaternion. Takes at most `max_iterations` Newton steps
/// (none below 1), none longer than a quarter turn, and stops early once a step is below float
/// round-off; four are enough from a warm start 20 degrees away, 64 from any. Inverted F (det F <
/// 0) gives the rotation that leaves the reflection to the smallest stretch. Where several
/// rotations minimise, the warm start decides. F with non-finite entries, or with a norm outside
/// 1e-15 .. 1e19, returns `warm_start` unchanged. Does not allocate.
///
/// Deviations from the paper, both misprints there: the Newton step is -H^-1 (2 axl(R^T F)) with
/// the sign of Eq. 24 turned, and the Cayley map uses s = |omega|^2 / 16 (Eq. 27 as printed turns
/// by about twice the angle). Steps are shorter than the paper's limit of pi, with which the
/// iteration can alternate between two rotations, and follow negative curvature out of saddles.
Quat AnalyticPolarDecomposition(const Mat3& F, const Quat& warm_start, int max_iterations);

}  // namespace plush
