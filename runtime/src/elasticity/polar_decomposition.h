// SPDX-License-Identifier: MIT
// Rotation of a deformation gradient by Newton's method on SO(3).
// Based on:
// Tassilo Kugelstadt, Dan Koschier, Jan Bender. Fast Corotated FEM using Operator Splitting. 2018
#pragma once

#include "plush/types.h"

namespace plush {

/// Analytic polar decomposition [Kug, Alg. 3]: the rotation R that minimises |R - F|^2, as a unit
/// quaternion, found from the unit quaternion `warm_start`. Does not allocate.
/// - Takes at most `max_iterations` Newton steps (none if it is below 1), each at most a quarter
///   turn, and stops once a step is below float round-off. Four suffice from a warm start 20
///   degrees away, 64 from any.
/// - Inverted F (det F < 0) gives the rotation that leaves the reflection to the smallest stretch.
///   If several rotations minimise, the warm start decides.
/// - F with non-finite entries, or with a norm outside 1e-15 .. 1e19, returns `warm_start`
///   unchanged.
///
/// Deviations from the paper:
/// - The Newton step is -H^-1 (2 axl(R^T F)); the sign of Eq. 24 is a misprint.
/// - The Cayley map uses s = |omega|^2 / 16. Eq. 27, a misprint, turns by about twice the angle.
/// - Steps are shorter than the paper's limit of pi, with which the iteration can alternate between
///   two rotations.
/// - Steps follow negative curvature out of saddles.
Quat AnalyticPolarDecomposition(const Mat3& F, const Quat& warm_start, int max_iterations);

}  // namespace plush
