// SPDX-License-Identifier: MIT
// The springs without a rest length of several bodies that solve together.
//
// With J the ways of these springs, R how impulses on a body's points move them (the
// constant matrix, and the turn if it has one) and K the gains, the changes of their impulses are
//   dp = (J R J^T + K^-1)^-1 e,   e = Missing / K.
// Conjugate gradients take about as many iterations as there are springs in a row. Sweeps over the
// rows would take the square of that, times how much stiffer springs are than the bodies are heavy:
// chains of ten stiff links exploded.
#pragma once

namespace plush {

struct ContactSolve;

/// Changes the impulses of these springs of a solve (a list from `first`) to their solution where
/// its sweeps have moved the points, and moves these on. Changes nothing if one would exceed its
/// largest force. Does not allocate.
void SolveSprings(ContactSolve* first);

}  // namespace plush
