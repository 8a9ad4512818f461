// SPDX-License-Identifier: MIT
// Springs and constraints while clusters of nodes move rigidly (coarse_contacts.h).
//
// Springs that are linear and pull at targets are solved together: with D = J C^-1 J^T, S a share
// of the fine level's couplings and K the gains, the changes of their impulses are
//   dp = (D + S + K^-1)^-1 e,   e = Missing / K.
// Conjugate gradients take few iterations, because clusters have few motions; sweeps over the rows
// would take thousands where several stiff springs hold one cluster, and bodies shook. Sweeps find
// the impulses of all other rows.
#pragma once

#include "contact/attached_points.h"
#include "contact/touched_clusters.h"
#include "solver/coarse_level.h"

#include <cstdint>
#include <span>

namespace plush {

struct CoarseContacts;

/// Prepares sweeps of the rows of a body that takes part in a coarse solve.
void PlaceAttached(CoarseContacts* solve);

/// Changes the impulses on a body's attached points once: those of the springs that are solved
/// together to their solution. Returns whether another one moves a point by more than the accuracy.
bool SweepAttached(CoarseContacts* solve);

}  // namespace plush
