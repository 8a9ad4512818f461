// SPDX-License-Identifier: MIT
// Bodies that touch each other in flight keep their momenta.
//
// A substep's few iterations give bodies that touch too little of the moment of their contacts'
// impulses, the less the stiffer they are, and implicit Euler itself lets impulses act where the
// points end. Impacts off the middle changed the angular momentum by up to 5% of sum |m v| and the
// longer body's length (collision_momenta_test.cpp). While nothing else holds an island, both
// momenta are known. So after a substep, the island gets the rigid motion that it lacks, by
// velocities alone: distances do not change with it, so it presses no contact and strains no tet.
#pragma once

#include "body/body.h"
#include "collision/double_vector.h"

namespace plush {

/// The momenta of an island that nothing holds, in the world's units.
struct IslandMomenta {
  bool known = false;
  DoubleVector about = {};    ///< the place that `angular` is about [m]
  DoubleVector linear = {};   ///< [kg m/s]
  DoubleVector angular = {};  ///< [kg m^2/s]
};

/// What the momenta of an island, whose bodies touch each other, are after a substep of `h` seconds
/// that has not begun. Not known if a collider is near one of its bodies, a pin, a constraint or a
/// spring to anything but a body holds one, one touches a body that no solve moves, or one has a
/// solver of its own.
IslandMomenta FindMomenta(const StepSettings& of_world, float h, const Body* first);

/// Gives the island these momenta after the substep, if a contact between its bodies pressed or a
/// spring joins them, and none of them froze. Does not allocate.
void GiveMomenta(const IslandMomenta& momenta, Body* first);

}  // namespace plush
