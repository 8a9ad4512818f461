// SPDX-License-Identifier: MIT
// Sums over a body's nodes in double precision.
#pragma once

#include "world/body.h"

namespace plush {

/// Mass, momenta, volume and energies of a body.
BodyMoments MeasureMoments(const Body& body);

/// Least-squares rigid motion from the rest shape to the current one, mass weighted.
Pose FitPose(const Body& body);

}  // namespace plush
