// SPDX-License-Identifier: MIT
// Rotation of a deformation gradient by Newton's method on SO(3).
// Based on:
// Tassilo Kugelstadt, Dan Koschier, Jan Bender. Fast Corotated FEM using Operator Splitting. 2018
#pragma once

#include "plush/types.h"

namespace plush {

/// Analytic polar decomposition [Kug, Alg. 3]: the rotation R near `warm_start` that minimises
/// |R - F|^2, as a unit quaternion. Takes at most `max_iterations` Newton steps (each clamped to
/// the length at which the Cayley map still turns the right way) and stops early once a step is
/// below float round-off. Inverted F (det F < 0) gives the rotation of the symmetric-indefinite
/// decomposition on the warm start's branch; F with non-finite entries, and F = 0, return
/// `warm_start` unchanged. Does not allocate.
///
/// Deviations from the paper, both misprints there: the Newton step is -H^-1 (2 axl(R^T F)) with
/// the sign of Eq. 24 turned, and the Cayley map uses s = |omega|^2 / 16 (Eq. 27 as printed turns
/// by about twice the angle).
Quat AnalyticPolarDecomposition(const Mat3& F, const Quat& warm_start, int max_iterations);

}  // namespace plush
