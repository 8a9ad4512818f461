// SPDX-License-Identifier: MIT
// Where a deformed body is as a whole: its centre of mass and its best rigid fit.
#pragma once

#include "plush/types.h"

#include "body/body.h"

namespace plush {

/// Centres of mass in the body's coordinates.
struct Centre {
  double mass = 0.0;  ///< of the unscaled body [kg]
  double x[3] = {};   ///< mean of the positions, weighted by mass [m]
  double X[3] = {};   ///< the same of the rest positions [m]
};

Centre FindCentre(const Body& body);

/// A rigid placement in the world, with a position in double precision.
struct BestFit {
  Quat rotation;            ///< unit
  double position[3] = {};  ///< [m]
};

/// The rotation and translation that best map the scaled rest shape to the current one: least
/// squares, weighted by mass.
BestFit FindBestFit(const Body& body);

}  // namespace plush
